"""Random programs: `generate.py` writes them, `check.py` runs them every way and compares,
`__main__.py` runs many.
"""
