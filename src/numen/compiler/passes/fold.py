"""Constant folding by the Python target: the number that a kernel would compute.

Takes a pointwise value whose arguments are constants. Called by `simplify.py`.
"""

from __future__ import annotations

import numpy as np

from numen.compiler.body import Body
from numen.compiler.codegen.python import execute
from numen.compiler.lower import lower
from numen.compiler.nest import Buffer, Nest, Store
from numen.compiler.passes.support import lowering_params
from numen.graph.graph import Value
from numen.graph.types import plain_name


def evaluate(value: Value) -> complex:
    """Return the number."""
    body = Body()
    args = [body.const(arg.param("value"), plain_name(arg.dtype)) for arg in value.args]
    result = lower(body, value.op, args, plain_name(value.dtype), lowering_params(value))
    buffers = (Buffer(plain_name(value.dtype), ()),)
    nest = Nest(0, False, buffers, (), body.instrs, (Store(0, result.position),))
    out = np.empty((), value.dtype)
    execute(nest, (), [out])
    number: complex = out.item()
    return number
