"""Arrays' machinery without a single op: slots, gradient nodes, primitives, modes, views and the
backward pass.

`ops` fills it with rows, `namespace` with the class `Array`; `tracing` hooks in through `modes`.
Read `core.py` first, then `primitive.py`, `views.py` and `backward.py`.
"""
