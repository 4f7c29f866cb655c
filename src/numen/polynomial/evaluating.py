"""Series at points: the functions and classes that evaluate, which differentiate in the points.

NumPy's evaluation is arithmetic on the points, so on Arrays it records itself. The modules of this
package are made by `series`. Next: `namespace/borrowed.py` for their other functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.dispatch.frames import Frame
from numen.namespace.borrowed import borrow
from numen.namespace.calling import arrays_in, recorded, run_host


def series(
    module: str, scope: dict[str, Any], class_name: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of one of NumPy's modules of polynomials.

    Parameters
    ----------
    module : str
        NumPy's module.
    scope : dict
        The `globals()` of numen's.
    class_name : str
        The class of its series.
    """
    get, names = borrow(module, scope)

    def get_or_make(name: str) -> Any:
        if name != class_name:
            return get(name)
        scope[name] = _evaluating_class(getattr(importlib.import_module(module), name), scope)
        return scope[name]

    return get_or_make, names


def _evaluating_class(base: Any, scope: dict[str, Any]) -> Any:
    """NumPy's class of a series, with a call that takes Arrays."""

    def call(self: Any, arg: Any) -> Any:
        if not isinstance(arg, ArrayCore):
            return base.__call__(self, arg)
        offset, scale = self.mapparms()
        return self._val(offset + scale * arg, self.coef)

    body = {"__call__": call, "__doc__": base.__doc__, "__module__": scope["__name__"]}
    return type(base.__name__, (base,), body)


def evaluating(module: str, name: str) -> Callable[..., Any]:
    """NumPy's function of points and coefficients, made when it is called."""

    def evaluate(x: Any, c: Any, tensor: bool = True) -> Any:
        function = getattr(importlib.import_module(module), name)
        if isinstance(x, ArrayCore) and not arrays_in((c,), {}):
            coefficients = np.asarray(c)
            if coefficients.ndim == 1 and (recorded((x,), {}) or isinstance(x._d, Frame)):
                return function(x, coefficients)
        return run_host(function, name, (x, c, tensor), {})

    evaluate.__name__ = evaluate.__qualname__ = name
    evaluate.__doc__ = f"""The values of a series at points.

    Gradients flow to the points `x`, not to the coefficients `c`. See `{module}.{name}`.
    """
    return evaluate
