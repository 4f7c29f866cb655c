"""The numerics contract on random arrays of every dtype and layout.

NumPy's engine: every bit, the strides and the class of the error are NumPy's. Kernels: exact
functions have NumPy's bits, rounded pointwise ones at most 4 ulp, sums and products at most
n * eps * sum |terms|.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.against_numpy.judge import same_bits
from tests.against_numpy.layouts import DTYPES, FLOATS, INTEGERS, SHAPES, arrays
from tests.against_numpy.ulps import ulps

import numen as nm
from numen.dispatch.core import SCALAR, ArrayCore
from numen.ops import table

UFUNCS = [
    name
    for name in sorted(dir(np))
    if isinstance(getattr(np, name), np.ufunc) and getattr(np, name).signature is None
]
ROUNDED = {name for name, row in table.items() if not row.exact} - {
    *("maximum", "minimum", "fmax", "fmin", "max", "min", "argmax", "argmin")
}
"""Rows whose kernels may round otherwise than NumPy; extrema differ in the sign of a zero only."""

REDUCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda np, x, axis: np.sum(x, axis=axis),
    "prod": lambda np, x, axis: np.prod(x, axis=axis),
    "mean": lambda np, x, axis: np.mean(x, axis=axis, keepdims=True),
    "std": lambda np, x, axis: np.std(x, axis=axis),
    "var": lambda np, x, axis: np.var(x, axis=axis, ddof=1),
    "max": lambda np, x, axis: np.max(x, axis=axis),
    "min": lambda np, x, axis: np.min(x, axis=axis, keepdims=True),
    "argmax": lambda np, x, axis: np.argmax(x, axis=axis),
    "argmin": lambda np, x, axis: np.argmin(x, axis=axis),
    "any": lambda np, x, axis: np.any(x, axis=axis),
    "all": lambda np, x, axis: np.all(x, axis=axis),
    "cumsum": lambda np, x, axis: np.cumsum(x, axis=axis),
    "cumprod": lambda np, x, axis: np.cumprod(x, axis=axis),
    "ptp": lambda np, x, axis: np.ptp(x, axis=axis),
    "median": lambda np, x, axis: np.median(x, axis=axis),
    "nansum": lambda np, x, axis: np.nansum(x, axis=axis),
    "count_nonzero": lambda np, x, axis: np.count_nonzero(x, axis=axis),
    "method sum": lambda np, x, axis: x.sum(axis),
    "method max": lambda np, x, axis: x.max(axis),
}
MOVES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sort": lambda np, x, y: np.sort(x),
    "sort, first axis": lambda np, x, y: np.sort(x, axis=0),
    "argsort": lambda np, x, y: np.argsort(x, axis=-1, kind="stable"),
    "partition": lambda np, x, y: np.partition(x, 0),
    "unique": lambda np, x, y: np.unique(x),
    "searchsorted": lambda np, x, y: np.searchsorted(np.sort(x.ravel()), y.ravel()),
    "concatenate": lambda np, x, y: np.concatenate([x, y]),
    "concatenate, flat": lambda np, x, y: np.concatenate([x, y], axis=None),
    "stack": lambda np, x, y: np.stack([x, y], axis=-1),
    "where": lambda np, x, y: np.where(x == y, x, y),
    "clip": lambda np, x, y: np.clip(x, 0, 3),
    "diff": lambda np, x, y: np.diff(x),
    "roll": lambda np, x, y: np.roll(x, 2),
    "flip": lambda np, x, y: np.flip(x),
    "repeat": lambda np, x, y: np.repeat(x, 2),
    "tile": lambda np, x, y: np.tile(x, 2),
    "take": lambda np, x, y: np.take(x, [0, -1]),
    "nonzero": lambda np, x, y: np.nonzero(x),
    "index": lambda np, x, y: x[..., ::-1],
    "mask": lambda np, x, y: x[y > 0],
    "transpose": lambda np, x, y: np.transpose(x),
    "reshape": lambda np, x, y: np.reshape(x, (-1,)),
    "ravel in memory order": lambda np, x, y: np.ravel(x, order="K"),
    "copy": lambda np, x, y: x.copy(),
    "astype": lambda np, x, y: x.astype(y.dtype),
    "round": lambda np, x, y: np.round(x, 1),
    "dot": lambda np, x, y: np.dot(x, y),
    "outer": lambda np, x, y: np.outer(x[:5], y[:5]),
    "multiply in place": lambda np, x, y: _in_place(x.copy(), y),
    "assign": lambda np, x, y: _assigned(x.copy(), y),
}


def _in_place(x: Any, y: Any) -> Any:
    x *= y
    return x


def _assigned(x: Any, y: Any) -> Any:
    x[..., 1:] = y[..., 1:]
    return x


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """A function's result as a list of results; or the exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            out = function(*args)
        except Exception as error:
            return error
    return list(out) if isinstance(out, (tuple, list)) else [out]


def pair(ours: Any, theirs: Any) -> Any:
    """Results as pairs of ndarrays, after what all engines promise; None where both raised."""
    if isinstance(theirs, Exception):
        public = next(c for c in type(theirs).__mro__ if c.__module__ == "builtins")
        assert isinstance(ours, public), f"{ours!r}; NumPy raises {theirs!r}"
        return None
    if isinstance(ours, Exception):
        raise AssertionError(f"NumPy gives {theirs!r}") from ours
    assert len(ours) == len(theirs)
    pairs = []
    for x, y in zip(ours, theirs, strict=True):
        if not isinstance(y, (np.ndarray, np.generic)):
            assert type(x) is type(y) and x == y
            continue
        assert isinstance(x, ArrayCore)
        assert (x._v is SCALAR) == isinstance(y, np.generic), f"{x!r} for {y!r}"
        assert x.dtype == y.dtype and x.shape == y.shape, f"{x!r} for {y!r}"
        pairs.append((x.numpy(), np.asarray(y)))
    return pairs


def check_numpy_engine(function: Callable[..., Any], *args: Any) -> None:
    """Every bit and stride, and the error; with NumPy for the process, then for the thread."""
    theirs = outcome(function, np, *args)
    nm.config.engine = "numpy"
    _check_exact(outcome(function, nm, *_ours(args)), theirs)
    nm.config.engine = "auto"
    with nm.config(engine="numpy"):
        _check_exact(outcome(function, nm, *_ours(args)), theirs)


def _check_exact(ours: Any, theirs: Any) -> None:
    for x, y in pair(ours, theirs) or ():
        assert same_bits(x, y), f"{x!r} for {y!r}"
        assert x.size < 2 or x.strides == y.strides, f"strides {x.strides} for {y.strides}"


def _ours(args: tuple[Any, ...]) -> list[Any]:
    return [nm.asarray(a) if _is_array(a) else a for a in args]


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


SHAPE = st.sampled_from(SHAPES)
TWO = SHAPE.flatmap(lambda shape: st.tuples(arrays(shape), arrays(shape)))
AXIS = st.sampled_from([None, 0, -1])


@given(st.sampled_from([n for n in UFUNCS if getattr(np, n).nin == 1]), SHAPE.flatmap(arrays))
@settings(max_examples=200)
def test_unary_ufuncs(name: str, x: Any) -> None:
    check_numpy_engine(lambda np, x: getattr(np, name)(x), x)


@given(st.sampled_from([n for n in UFUNCS if getattr(np, n).nin == 2]), TWO)
@settings(max_examples=200)
def test_binary_ufuncs(name: str, args: Any) -> None:
    check_numpy_engine(lambda np, x, y: getattr(np, name)(x, y), *args)


@given(st.sampled_from(list(REDUCTIONS)), SHAPE.flatmap(arrays), AXIS)
@settings(max_examples=200)
def test_reductions(name: str, x: Any, axis: int | None) -> None:
    check_numpy_engine(REDUCTIONS[name], x, axis)


@given(st.sampled_from(list(MOVES)), TWO)
@settings(max_examples=200)
def test_moves(name: str, args: Any) -> None:
    check_numpy_engine(MOVES[name], *args)


def with_kernels(function: Callable[..., Any], *args: Any) -> Any:
    """Pairs of the kernels' and NumPy's results."""
    theirs = outcome(function, np, *args)
    with nm.config(engine="kernels"):
        ours = outcome(function, nm, *_ours(args))
    return pair(ours, theirs) or ()


def check_pointwise(name: str, *args: Any) -> None:
    for x, y in with_kernels(lambda np, *args: getattr(np, name)(*args), *args):
        if name in ROUNDED and y.dtype.kind in "fc":
            worst = int(np.max(ulps(x, y), initial=0))
            assert worst <= 4, f"{name} {y.dtype}: {worst} ulp; {x!r} for {y!r}"
        elif name in ("maximum", "minimum", "fmax", "fmin"):
            assert np.array_equal(x, y, equal_nan=y.dtype.kind in "fc"), f"{x!r} for {y!r}"
        else:
            assert same_bits(x, y), f"{x!r} for {y!r}"


@given(
    st.sampled_from([n for n in UFUNCS if getattr(np, n).nin == 1 and n in table]),
    SHAPE.flatmap(arrays),
)
@settings(max_examples=150)
def test_unary_kernels(name: str, x: Any) -> None:
    check_pointwise(name, x)


@given(st.sampled_from([n for n in UFUNCS if getattr(np, n).nin == 2 and n in table]), TWO)
@settings(max_examples=150)
def test_binary_kernels(name: str, args: Any) -> None:
    check_pointwise(name, *args)


NUMBERS = [*INTEGERS, *FLOATS]


@given(
    st.sampled_from(["sum", "mean", "max", "min", "argmax", "var", "method sum", "method max"]),
    SHAPE.flatmap(lambda shape: arrays(shape, False, ["?", *NUMBERS])),
    AXIS,
)
@settings(max_examples=150)
def test_reduction_kernels(name: str, x: Any, axis: int | None) -> None:
    for ours, theirs in with_kernels(REDUCTIONS[name], x, axis):
        if theirs.dtype.kind != "f" or name in ("max", "min", "method max"):
            assert np.array_equal(ours, theirs), f"{ours!r} for {theirs!r}"
            continue
        terms = np.abs(x.astype("f8"))
        if name == "var":
            terms = 4 * terms**2
        keepdims = theirs.ndim == x.ndim
        total = np.sum(terms, axis=axis, keepdims=keepdims)
        count = x.size if axis is None else x.shape[axis]
        if name in ("mean", "var"):
            total = total / max(count - (name == "var"), 1)
        _assert_within(ours, theirs, max(count, 1) * total)


@given(
    st.sampled_from([(1, 1, 1), (2, 3, 4), (17, 9, 5), (33, 64, 16), (4, 0, 3)]).flatmap(
        lambda s: st.tuples(
            arrays((s[0], s[1]), False, DTYPES), arrays((s[1], s[2]), False, DTYPES)
        )
    )
)
@settings(max_examples=100)
def test_product_kernels(args: Any) -> None:
    x, y = args
    for ours, theirs in with_kernels(lambda np, x, y: np.matmul(x, y), x, y):
        if theirs.dtype.kind in "fc":
            terms = np.abs(x.astype("c16")) @ np.abs(y.astype("c16"))
            _assert_within(ours, theirs, 4 * max(x.shape[1], 1) * terms)
        else:
            assert np.array_equal(ours, theirs)


def _assert_within(ours: Any, theirs: Any, scale: Any) -> None:
    """Differences of at most eps times `scale`, and of eps for the result's own rounding."""
    with np.errstate(all="ignore"):
        apart = np.abs(ours.astype("c16") - theirs.astype("c16"))
    bound = np.finfo(theirs.dtype).eps * (scale + np.abs(theirs))
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    assert np.all(same | (apart <= bound)), f"{ours!r} for {theirs!r}"
