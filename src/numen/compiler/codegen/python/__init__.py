"""The Python target: what nests and matmul mean, in plain NumPy, slow and clear.

Tests hold the other targets to its bits. `execute.py` runs a nest, `scalars.py` has the meaning of
each scalar op, `fma.py` the exact fused multiply-add, `reduce.py` the reduction scheme, `matmul.py`
the product. Read `execute.py` next.
"""

from numen.compiler.codegen.python.execute import execute, view
from numen.compiler.codegen.python.matmul import matmul

__all__ = ["execute", "matmul", "view"]
