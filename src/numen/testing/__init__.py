"""`numpy.testing` on Arrays: assertions look at the arrays' values, without gradients.

What compares values takes Arrays; what runs functions (`assert_raises`, `assert_warns` ...) is
NumPy's own. Loaded when asked for. `check_grads`, `gradcheck` and `gradgradcheck` compare
derivatives with finite differences (`gradients.py`).
"""

from __future__ import annotations

import functools
from typing import Any

from numen.namespace.calling import wrap_results
from numen.namespace.layout import plain_argument
from numen.testing.gradients import GradientCheckError, check_grads
from numen.testing.jacobians import gradcheck, gradgradcheck

_OURS = [f.__name__ for f in (GradientCheckError, check_grads, gradcheck, gradgradcheck)]

_COMPARES = """assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal
assert_array_almost_equal_nulp assert_array_compare assert_array_equal assert_array_less
assert_array_max_ulp assert_equal assert_string_equal build_err_msg print_assert_equal"""
COMPARES = _COMPARES.split()
"""Functions whose arguments are values."""


def __getattr__(name: str) -> Any:
    import numpy.testing

    if name == "__all__":
        return __dir__()
    if name.startswith("_") or not hasattr(numpy.testing, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(numpy.testing, name)
    if name in COMPARES:
        value = _on_arrays(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    import numpy.testing

    return [*numpy.testing.__all__, *_OURS]


def _on_arrays(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        name = f"{function.__name__}()"
        plain = [plain_argument(a, name) for a in args]
        result = function(*plain, **{k: plain_argument(v, name) for k, v in kwargs.items()})
        return wrap_results(result, function.__name__)

    return call
