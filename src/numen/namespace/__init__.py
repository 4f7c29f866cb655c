"""NumPy's functions and the class `Array`, over the rows in `ops`.

`array.py` is the class; the functions come by family: creation, elementwise, reductions, shaping, products. `numen`
re-exports them. A function checks its arguments as NumPy does and calls one primitive.
"""
