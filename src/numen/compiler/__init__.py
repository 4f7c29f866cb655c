"""The compiler: graphs in, kernels and launches out.

The road: `passes/` rewrite and schedule a graph into nests (`nest.py`), `lower.py` and `math.py`
fill their bodies with scalar instructions (`scalar.py`), `codegen/` turns nests into machine code
or runs them in NumPy. It knows ndarrays, dtypes and Python scalars, no Array. Read `nest.py` next.
"""
