"""Runs a text with NumPy and with numen, also where the outcome is text, dates, records or objects.

Such scalars stay NumPy's own; arrays of them are compared by their items.
"""

import numpy as np
from same_source import outcome, same

import numen as nm
from numen.dispatch.core import SCALAR

KEPT = (np.str_, np.bytes_, np.datetime64, np.timedelta64, np.void)


def check(text, words=False):
    """Fail where NumPy and numen differ on a text, where `words` is set also in what an error
    says."""
    expected, actual = outcome(text, np), outcome(text, nm)
    equal(actual, expected, text)
    if words and isinstance(expected, Exception):
        assert str(expected) in str(actual), f"{text}: {actual}"


def equal(actual, expected, text):
    """Compare an outcome, looking into sequences."""
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        same(actual, expected, text, True)
    elif isinstance(expected, (list, tuple)):
        assert type(actual) is type(expected) and len(actual) == len(expected), f"{text}: {actual}"
        for a, e in zip(actual, expected, strict=True):
            equal(a, e, text)
    elif isinstance(expected, (*KEPT, np.dtype, type, slice)):
        assert type(actual) is type(expected) and actual == expected, f"{text}: {actual!r}"
    elif isinstance(expected, np.ndarray) and expected.dtype.kind in "OMmV":
        assert isinstance(actual, nm.Array) and actual._v is not SCALAR, f"{text}: {actual!r}"
        assert actual.dtype == expected.dtype and actual.tolist() == expected.tolist(), text
    else:
        same(actual, expected, text, True)
