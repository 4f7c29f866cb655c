"""Why a test of NumPy's failed, by rules on its exception, its line and its name.

`reason(result)` names the first rule that fits, `symptom(result)` the finer group within it.
BY_DESIGN are the reasons that follow from decisions (an Array is no ndarray, a scalar is a 0-d
Array, private C code is NumPy's); the others are faults or gaps of numen's. Called by `report.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Result = dict[str, Any]


def _in(field: str, pattern: str) -> Callable[[Result], bool]:
    found = re.compile(pattern)
    return lambda r: bool(found.search(str(r.get(field, ""))))


def _any(*rules: Callable[[Result], bool]) -> Callable[[Result], bool]:
    return lambda r: any(rule(r) for rule in rules)


def _all(*rules: Callable[[Result], bool]) -> Callable[[Result], bool]:
    return lambda r: all(rule(r) for rule in rules)


SUBCLASSES = "subclasses of ndarray"
SCALARS = "classes of NumPy's scalars (a scalar is a 0-d Array)"
PRIVATE = "private C helpers get an Array"
INTERNALS = "reference counts, ctypes and other internals"
BUFFERS = "the buffer protocol (a Python class has it from Python 3.12 on)"
BY_DESIGN = (SUBCLASSES, SCALARS, PRIVATE, INTERNALS, BUFFERS)

ASSERTS = _in("kind", "AssertionError")

RULES: tuple[tuple[str, Callable[[Result], bool]], ...] = (
    (PRIVATE, _in("id", "incref_elide")),
    ("crash or too slow", _in("kind", "^(Crash|Process|SlowTestError)$")),
    (SUBCLASSES, _in("text", r"missing name: a base|not an acceptable base|subclass")),
    (SUBCLASSES, _in("text", r"^view: Cannot change data-type for array of references")),
    (
        INTERNALS,
        _any(
            _in("id", "(?i)refcount|ctypes|mem_policy|leak|weakref|__array_struct__|refcheck"),
            _in("line", r"getrefcount|\.ctypes|__array_struct__|gc\.collect|np\._core\.\w+\._"),
        ),
    ),
    (BUFFERS, _in("text", "(bytes-like|buffer).*'Array'|buffer API")),
    ("missing name", _in("text", r"^missing name|module 'numen[\w.]*' has no attribute")),
    ("missing method or attribute of Array", _in("text", r"'Array' object has no attribute")),
    (
        SUBCLASSES,
        _any(
            _in("id", r"(?i)subclass|subok|matrix_|masked|Inherit|test_class_|array_?prepare"),
            _in("line", r"subok|np\.matrix|\.view\(\w*(Sub|My|sub)\w*\)|MaskedArray|np\.ma\."),
        ),
    ),
    (
        PRIVATE,
        _any(
            _in("line", r"\b(_?mt|_?umt|ncu|_?opflag_tests|_?rational_tests|_multiarray_tests)\."),
            _in("line", r"_umath_tests|np\._core\.|_multiarray_umath|_simd|_umath_linalg"),
            _in(
                "text",
                r"must be numpy\.ndarray|All inputs must be NumPy arrays|bad argument to internal",
            ),
        ),
    ),
    (
        SCALARS,
        _any(
            _in("text", r"<class 'numen[\w.]*Array'>.*<class 'numpy\.\w+'>"),
            _in("text", r"<class 'numpy\.\w+'>.*<class 'numen[\w.]*Array'>"),
            _all(ASSERTS, _in("line", r"isinstance\(.*np\.\w+|type\(.*(is|==)|assert_\(isinst")),
            _in("line", r"\.dtype\.type\)|np\.generic|np\.isscalar"),
        ),
    ),
    (
        "argument not accepted",
        _in("text", "unexpected keyword|positional argument|required argument|not supported yet"),
    ),
    (
        "message text",
        _any(
            _in("text", r"Regex pattern did not match|does not match|Expected regex"),
            _all(ASSERTS, _in("line", r"str\(|match=|assert_raises_regex|in msg|\.args")),
        ),
    ),
    ("no error where NumPy raises", _in("text", "DID NOT RAISE|not raised")),
    ("no warning where NumPy warns", _in("text", "DID NOT WARN|not warn|No warning raised")),
    ("a warning where NumPy gives none", _in("kind", "Warning$")),
    ("gradients refuse", _in("kind", "GradientError")),
    (
        "other values",
        _all(ASSERTS, _in("text", r"not equal|not almost|Mismatch|Not equal|ULP|less-ordered")),
    ),
    ("assertion", ASSERTS),
    ("TypeError", _in("kind", "TypeError")),
    ("ValueError", _in("kind", "ValueError")),
    ("AttributeError", _in("kind", "AttributeError")),
    ("another exception", lambda r: True),
)


def reason(result: Result) -> str:
    """The name of the first rule that fits a failed test."""
    return next(name for name, rule in RULES if rule(result))


def symptom(result: Result) -> str:
    """A short text that failures with one cause share."""
    text = str(result.get("text", "")).strip()
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    missing = re.search(r"missing name (\S+)|has no attribute '?(\w+)", text)
    if missing:
        return (missing[1] or missing[2]).removeprefix("numpy.")
    first = re.sub(r"0x[0-9a-f]+|\d+", "N", first)
    first = re.sub(r"\(?(N, )*N,?\)", "(..)", first)
    place = result.get("numen") or ""
    place = re.sub(r":\d+", "", place)
    return f"{result.get('kind')}: {first[:110]}" + (f" [{place}]" if place else "")
