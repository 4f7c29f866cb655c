"""Runs a text with NumPy and with numen and says in which respects the results agree.

`judge(text)` gives a Verdict: equal bits, exact (type, dtype, shape, scalar or array; values to
rounding), value (values and shape only), and the first difference in words.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.against_numpy.inputs import scope
from tests.tolerances import RELATIVE

import numen as nm
from numen.dispatch.core import SCALAR, ArrayCore


@dataclass(frozen=True)
class Verdict:
    """How far a result is NumPy's; `why` is empty where everything agrees."""

    value: bool = True
    exact: bool = True
    bits: bool = True
    why: str = ""


def outcome(text: str, module: Any, gradients: bool = False) -> Any:
    """What the expression is, or the program leaves in `r`; or the exception."""
    names = scope(module, gradients)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if "\n" not in text:
                return eval(text, names)
            exec(text, names)
            return names["r"]
        except Exception as error:
            return error


def judge(text: str, gradients: bool = False) -> Verdict:
    """Compare what a text gives with NumPy and with numen."""
    return compare(outcome(text, nm, gradients), outcome(text, np))


def compare(actual: Any, expected: Any) -> Verdict:
    """Compare two results or exceptions."""
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        return _compare_errors(actual, expected)
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return _no(f"{actual!r} for {expected!r}")
        return _first(
            _typed(actual, expected),
            *[compare(a, e) for a, e in zip(actual, expected, strict=True)],
        )
    if isinstance(expected, (np.ndarray, np.generic)):
        return _compare_arrays(actual, expected)
    if isinstance(actual, ArrayCore):
        return _first(_no(f"an Array for {expected!r}", value=_close(actual._d, expected)))
    if not (actual == expected or (actual != actual and expected != expected)):
        close = isinstance(expected, (float, complex)) and _close(actual, expected)
        return _no(f"{actual!r} for {expected!r}", value=close, exact=close)
    return _typed(actual, expected)


def _compare_errors(actual: Any, expected: Any) -> Verdict:
    if not isinstance(expected, Exception):
        return _no(f"raised {type(actual).__name__}: {actual}")
    public = next(c for c in type(expected).__mro__ if not c.__module__.startswith("numpy._core"))
    if isinstance(actual, public):
        return Verdict()
    return _no(f"{actual!r}; NumPy raises {expected!r}")


def _compare_arrays(actual: Any, expected: Any) -> Verdict:
    if not isinstance(actual, ArrayCore):
        if type(actual) is type(expected):  # text, objects, dates, masked arrays
            same = np.array_equal(np.asarray(actual), np.asarray(expected))
            return Verdict() if same else _no(f"{actual!r} for {expected!r}")
        return _no(f"{type(actual)} for {type(expected)}", value=_close(actual, expected))
    data, wanted = actual._d, np.asarray(expected)
    if data.shape != wanted.shape:
        return _no(f"shape {data.shape} for {wanted.shape}")
    if not _close(data, wanted):
        return _no(f"{data!r} for {wanted!r}")
    if data.dtype != wanted.dtype:
        return _no(f"dtype {data.dtype} for {wanted.dtype}", value=True)
    if (actual._v is SCALAR) != isinstance(expected, np.generic):
        return _no(f"{'scalar' if actual._v is SCALAR else 'array'}; NumPy's is not", value=True)
    if not same_bits(data, wanted):
        return _no(f"rounded otherwise: {data!r} for {wanted!r}", value=True, exact=True)
    return Verdict()


def same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether all values are equal, zeros by sign, NaN equal to any NaN."""
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    both = np.isnan(a) & np.isnan(b)
    return bool(np.all(((a == b) & (np.signbit(a) == np.signbit(b))) | both))


def _close(actual: Any, expected: Any) -> bool:
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        return False
    if expected.dtype.kind not in "fc" or actual.dtype.kind not in "biufc":
        return bool(np.array_equal(actual, expected))
    bound = RELATIVE.get(expected.dtype.name, 1e-12)
    scale = np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected))
    with np.errstate(all="ignore"):
        return np.allclose(actual, expected, rtol=bound, atol=bound * float(scale), equal_nan=True)


def _typed(actual: Any, expected: Any) -> Verdict:
    if type(actual) is type(expected):
        return Verdict()
    return _no(f"{type(actual)} for {type(expected)}", value=True)


def _no(why: str, value: bool = False, exact: bool = False) -> Verdict:
    return Verdict(value, exact, False, why)


def _first(*verdicts: Verdict) -> Verdict:
    why = next((v.why for v in verdicts if v.why), "")
    return Verdict(
        all(v.value for v in verdicts),
        all(v.exact for v in verdicts),
        all(v.bits for v in verdicts),
        why,
    )
