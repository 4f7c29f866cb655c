"""Backends beside NumPy: array classes that eager ops can run on.

`strict.py` is NumPy's memory behind CuPy's narrower interface. Each registers itself with
`dispatch/backends.py`, which finds the backend of an op's operands.
"""
