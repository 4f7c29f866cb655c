"""Backends beside NumPy: array classes that eager ops can run on.

`strict.py` is NumPy's memory behind CuPy's narrower interface. Each file has its BACKEND, which
`dispatch/backends.py` registers when its device is first named.
"""
