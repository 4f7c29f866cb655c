"""Runs one source text with NumPy and with numen and compares what comes out.

A text uses `np` and leaves its result in `r`; a one-line text without `r =` is an expression.
Equal means: values, dtypes, shapes, scalars where NumPy has scalars, the exception's class where
NumPy raises.
"""

import warnings

import numpy as np

import numen as nm
from numen.dispatch.core import SCALAR


def outcome(text, module):
    """The value of `r`, or the exception."""
    scope = {"np": module}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if "r =" in text or "\n" in text:
                exec(text, scope)
                return scope["r"]
            return eval(text, scope)
        except Exception as error:
            return error


def compare(text, exact=True):
    """Fail where NumPy and numen differ on a text."""
    expected, actual = outcome(text, np), outcome(text, nm)
    same(actual, expected, text, exact)


def same(actual, expected, text, exact):
    if isinstance(expected, Exception):
        assert isinstance(actual, Exception), f"{text}: NumPy raises {expected!r}, got {actual!r}"
        public = next(
            c for c in type(expected).__mro__ if not c.__module__.startswith("numpy._core")
        )
        assert isinstance(actual, public), f"{text}: NumPy raises {expected!r}, got {actual!r}"
        return
    if isinstance(actual, Exception):
        raise AssertionError(f"{text}: expected {expected!r}, raised {actual!r}") from actual
    if isinstance(expected, (list, tuple)):
        assert type(actual) is type(expected), f"{text}: {type(actual)} for {type(expected)}"
        assert len(actual) == len(expected), text
        for a, e in zip(actual, expected, strict=True):
            same(a, e, text, exact)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert isinstance(actual, nm.Array), f"{text}: {type(actual)} for {type(expected)}"
        scalar = isinstance(expected, np.generic)
        assert (actual._v is SCALAR) == scalar, (
            f"{text}: NumPy's result is a {type(expected).__name__}"
        )
        data = actual.detach().numpy()
        assert data.dtype == expected.dtype, f"{text}: {data.dtype} for {expected.dtype}"
        assert data.shape == np.shape(expected), f"{text}: {data.shape} for {np.shape(expected)}"
        if exact:
            np.testing.assert_array_equal(data, expected, err_msg=text)
            if data.dtype.kind == "f":
                finite = ~np.isnan(expected)
                same_sign = np.signbit(data[finite]) == np.signbit(expected[finite])
                assert np.all(same_sign), f"{text}: the sign of a zero differs"
        else:
            np.testing.assert_allclose(data, expected, rtol=1e-6, err_msg=text)
    else:
        assert type(actual) is type(expected), f"{text}: {type(actual)} for {type(expected)}"
        assert actual == expected or (actual != actual and expected != expected), text
