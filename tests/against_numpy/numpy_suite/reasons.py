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
DISPATCH = "what NumPy's dispatch hands on"
VIEWS = "`base` and flags of views"
CLASSES = "NumPy's own classes get an Array"
WORDS = "message text"
SLOW = "crash or too slow"
LOADER = "the loader"
CHOICES = "choices of numen's"
BY_DESIGN = (SUBCLASSES, SCALARS, PRIVATE, INTERNALS, BUFFERS, DISPATCH, CLASSES, LOADER, CHOICES)

EXPLAINED = {
    SUBCLASSES: "An Array is no ndarray: subclasses, `subok=`, `__array_finalize__` and "
    "`__array_wrap__` do not make results of another class.",
    SCALARS: "A scalar is a 0-d Array, so `isinstance(x, np.generic)`, `type(x) is np.float64` and "
    "`x is np.False_` are false.",
    PRIVATE: "C functions of NumPy's tests and private modules accept ndarrays alone.",
    INTERNALS: "Reference counts, ctypes, `__array_struct__`, text signatures and loop pointers of "
    "C functions belong to NumPy's own objects.",
    BUFFERS: "`memoryview(x)` needs a C class before Python 3.12.",
    DISPATCH: "Foreign classes get NumPy's function or ufunc, which is what they know, not "
    "numen's; numen's functions are Python functions, ufuncs are objects of its own.",
    CLASSES: "`np.datetime64(x)`, `np.dtype(...)` with an Array inside and the like are NumPy's "
    "C classes, which read ndarrays only.",
    LOADER: "The loader's stand-in for the module `numpy`, names that a file takes from it, and "
    "types that other libraries add to NumPy's.",
    CHOICES: "`where=` without `out=` gives zeros and needs no warning; records, scalars and small "
    "floats offer no `__array_interface__`, which NumPy would read in place of `__array__`; "
    "scalars hash, so Array is Hashable; the flat iterator takes more than 32 axes.",
    VIEWS: "`x.base` of elements and broadcast arrays, and the deprecated writing into broadcast "
    "arrays, differ.",
    WORDS: "The exception's class is right, its text is numen's.",
    SLOW: "Loops of a hundred thousand small calls take longer than the 30 s that a test has.",
    "missing name": "A public name that numen does not have.",
    "missing method or attribute of Array": "An attribute that NumPy's arrays or scalars have.",
    "argument not accepted": "A parameter that numen's function lacks.",
    "no error where NumPy raises": "numen accepts what NumPy refuses; `resize(refcheck=)` sees "
    "views of the memory, not names of the array.",
    "no warning where NumPy warns": "numen is silent where NumPy warns.",
    "a warning where NumPy gives none": "numen warns where NumPy is silent.",
    "gradients refuse": "A rule of gradients forbids the call.",
    "other values": "The values or attributes differ.",
    "assertion": "An assertion of another kind fails.",
    "TypeError": "numen raises TypeError where NumPy does not.",
    "ValueError": "numen raises ValueError where NumPy does not.",
    "AttributeError": "numen raises AttributeError where NumPy does not.",
    "another exception": "numen raises what NumPy does not.",
}
"""Every reason in a sentence."""

ASSERTS = _in("kind", "AssertionError")

RULES: tuple[tuple[str, Callable[[Result], bool]], ...] = (
    (PRIVATE, _in("id", "incref_elide|test_internal_overlap")),
    (PRIVATE, _in("text", "built-in function array_indexing")),
    (SLOW, _in("kind", "^(Crash|Process|SlowTestError)$")),
    (SUBCLASSES, _in("text", r"missing name: a base|not an acceptable base|subclass")),
    (SUBCLASSES, _in("text", r"^view: Cannot change data-type for array of references")),
    (
        INTERNALS,
        _any(
            _in("id", "(?i)refcount|ctypes|mem_policy|leak|weakref|__array_struct__|refcheck"),
            _in("line", r"getrefcount|\.ctypes|__array_struct__|gc\.collect|np\._core\.\w+\._"),
            _in("line", r"\"__signature__|__text_signature__|_resolve_dtypes_and_context"),
        ),
    ),
    (BUFFERS, _in("text", "(bytes-like|buffer).*'Array'|buffer API")),
    (
        LOADER,
        _any(
            _in("line", r"__array_namespace__\(\) is np|assert xp is np|\.__module__, 'numpy'"),
            _in("id", "test_unstructured_void_repr|test_correct_hash_dict"),
            _all(_in("text", "__array__ method not prod"), _in("line", "assert_array_equal")),
            _in("text", r"not 'Missing|type, but got 'Missing|Missing\("),
        ),
    ),
    (CLASSES, _in("text", "Could not convert object to NumPy (date|timedelta)")),
    (CLASSES, _in("id", "test_shape_sequence")),
    (
        DISPATCH,
        _any(
            _in("line", r"func is getattr\(np|_ArrayFunctionDispatcher|yes'\)|, np\.multiply\)"),
            _in("line", r"__doc__|import_entry|got == exp|result is np\.add|is np\.cos"),
            _in("id", "test_nep35|on_mock_array|forwarding_impl|test_array_ufunc_index|_get_impl"),
        ),
    ),
    (
        CHOICES,
        _any(
            _in("text", "__array_interface__: scalars, records|'where' used without"),
            _in("id", "test_collections_hashable|TestFlat::test_maxdims"),
        ),
    ),
    (
        VIEWS,
        _any(
            _in("line", r"\.base\b|flags\.writeable|WRITEABLE"),
            _in("text", r"WRITEABLE flag|add \(in place\): output array is read-only"),
        ),
    ),
    ("missing name", _in("text", r"^missing name|module 'numen[\w.]*' has no attribute")),
    (
        SUBCLASSES,
        _in("text", "no attribute '(info|metadata|arr|args|saved_\\w+|finalize_status)'"),
    ),
    (SUBCLASSES, _in("id", r"ArrayFinalize|return_type|test_wrap|_wrap$|priority|binop_inter")),
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
            _in("text", r"(?s)<class 'numen[\w.]*Array'>.*<class 'numpy\.\w+'>"),
            _in("text", r"(?s)<class 'numpy\.\w+'>.*<class 'numen[\w.]*Array'>"),
            _in("text", r"descriptor '\w+' for 'float' objects|scalar[12], np\.generic"),
            _in("id", "test_array_scalar_ufunc_dtypes"),
            _in("line", r"is (not )?np\.(bool_|bool|False_|True_)\b"),
            _all(ASSERTS, _in("line", r"isinstance\(.*np\.\w+|type\(.*(is|==)|assert_\(isinst")),
            _in("line", r"\.dtype\.type\)|np\.generic|np\.isscalar"),
        ),
    ),
    (
        "argument not accepted",
        _in("text", "unexpected keyword|positional argument|required argument|not supported yet"),
    ),
    (
        WORDS,
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
