"""The targets a nest can go to: `python` (its meaning, in NumPy), `llvm` (CPU) and `cuda`.

Every target spells the rows of `scalar.OPS` once and gives equal bits. Read `python/` first.
"""
