"""The rows: one a primitive, by family: NumPy's meaning, derivatives, batch rule, test samples.

`table` maps a primitive's name to its row. `namespace` calls rows; the backward pass and the
transforms use their rules; `tracing` records their names into graphs. Read `elementwise.py` first,
then `registry.py`.
"""

from numen.ops import host, kernels
from numen.ops.registry import table

__all__ = ["host", "kernels", "table"]
