"""The functional SSA graph: what a program computes, with no arrays in it.

Built by the recorder and by `compiler/program.py`; read by `compiler`. It knows dtypes, shapes and
op names only. Next: `graph.py`.
"""

from numen.graph.graph import Graph, Value
from numen.graph.parser import parse
from numen.graph.types import Dim, TensorType
from numen.graph.verify import verify

__all__ = ["Dim", "Graph", "TensorType", "Value", "parse", "verify"]
