"""Another dtype or device for a module's arrays; the parameters stay the same objects.

Called by `Module.to` and its short forms. Next: `module.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, hooks, modes
from numen.dispatch.core import ArrayCore, Leaf, is_differentiable
from numen.errors import DTypeError
from numen.namespace.devices import moved


def target_of(args: tuple[Any, ...], device: Any, dtype: Any) -> tuple[Any, Any]:
    """The device and dtype that the arguments of `to` name: a device (a string), a dtype, both, or
    an Array that has them.

    Raises
    ------
    DTypeError
        If the dtype is not floating.
    """
    for value in args:
        if isinstance(value, ArrayCore):
            device, dtype = value.device, value.dtype  # type: ignore[attr-defined]
        elif isinstance(value, str):
            device = value
        elif value is not None:
            dtype = value
    if dtype is not None:
        dtype = np.dtype(dtype)
        if not is_differentiable(dtype) or dtype.kind == "c":
            raise DTypeError(f"to: parameters have floating dtypes, got {dtype}")
    return device, dtype


def converted(x: Any, device: Any, dtype: Any) -> Any:
    """x's values on the device, and in the dtype where x is floating."""
    x = x.detach()
    if (
        dtype is not None
        and x.dtype != dtype
        and is_differentiable(x.dtype)
        and x.dtype.kind != "c"
    ):
        x = x.astype(dtype)
    return x if device is None else moved(x, device)


def convert_parameter(p: Any, device: Any, dtype: Any) -> bool:
    """Give a parameter, and its gradient, other memory where need be; returns whether it was.

    Views of the old memory keep that.
    """
    if modes.ACTIVE and modes.state.recorder is not None:
        modes.state.recorder.refuse("Module.to inside the traced function")
    value = converted(p, device, dtype)
    if value._d is p._d:
        return False
    grad = None if p.grad is None else converted(p.grad, device, dtype)
    core.exchange(p, value._d)
    p._v = None
    if p._n is not None:
        leaf = Leaf(p._d.shape, p._d.dtype)
        leaf.grad = grad
        hooks.move(p._n, leaf)
        p._n = leaf
    return True
