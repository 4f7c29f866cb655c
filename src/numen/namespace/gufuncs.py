"""Recorded calls of the ufuncs that rows compute in parts: products with core axes, and pairs.

Each function takes operands and the options `axes`, `axis` and `keepdims`, as a composition of
`ufunc_class.py` does; it returns NotImplemented for what it does not cover. Used by `ufuncs.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.ops import table

Product = Callable[..., Any]


# ------------------------------------------------------------ pairs


def pair(first: str, second: str) -> Product:
    """The composition of a ufunc with two results, a row each."""

    def both(*operands: Any) -> Any:
        return table[first](*operands), table[second](*operands)

    return both


# ------------------------------------------------------------ products


def _with_axes(product: Product, ranks: tuple[int, ...]) -> Product:
    """The composition of a product whose operands and result have `ranks` core axes."""

    def composition(
        x1: Any, x2: Any, *, axes: Any = None, axis: Any = None, keepdims: Any = False
    ) -> Any:
        operands = [as_array(x1), as_array(x2)]
        if (axes is not None and axis is not None) or (keepdims and ranks != (1, 1, 0)):
            return NotImplemented
        if axis is not None:
            if set(ranks) - {0} != {1}:
                return NotImplemented
            axes = [(axis,), (axis,), (axis,) if keepdims else ()]
        if axes is None:
            result = product(*operands)
            return table["reshape"](result, shape=(*result.shape, 1)) if keepdims else result
        wanted = _axes_list(axes, ranks, bool(keepdims))
        if wanted is None or any([a.ndim < r for a, r in zip(operands, ranks, strict=False)]):
            return NotImplemented
        moved = [_to_end(a, w) for a, w in zip(operands, wanted, strict=False)]
        if any([m is None for m in moved]):
            return NotImplemented
        result = product(*moved)
        if keepdims:
            result = table["reshape"](result, shape=(*result.shape, 1))
        return _from_end(result, wanted[2]) if isinstance(result, ArrayCore) else result

    return composition


def _axes_list(axes: Any, ranks: tuple[int, ...], keepdims: bool) -> Any:
    """NumPy's `axes=` as three tuples of ints, or None for a form it refuses."""
    if type(axes) is not list or len(axes) not in (2, 3):
        return None
    if len(axes) == 2:
        if ranks[2] and not keepdims:
            return None
        axes = [*axes, axes[0] if keepdims else ()]
    found = []
    for entry, rank in zip(axes, (*ranks[:2], 1 if keepdims else ranks[2]), strict=True):
        try:
            one = tuple([index(i) for i in entry]) if isinstance(entry, tuple) else (index(entry),)
        except TypeError:
            return None
        if len(one) != rank:
            return None
        found.append(one)
    return found


def _to_end(x: Any, axes: tuple[int, ...]) -> Any:
    """The axes moved to the end, in order; None where they are out of range."""
    n = x.ndim
    if any([not -n <= i < n for i in axes]) or len({i % n for i in axes}) < len(axes):
        return None
    last = [i % n for i in axes]
    return table["transpose"](x, axes=(*[i for i in range(n) if i not in last], *last))


def _from_end(x: Any, axes: tuple[int, ...]) -> Any:
    """The last axes moved to where `axes` says."""
    n = x.ndim
    if any([not -n <= i < n for i in axes]) or len({i % n for i in axes}) < len(axes):
        return NotImplemented
    order = list(range(n - len(axes)))
    for source, target in sorted(zip(range(n - len(axes), n), axes, strict=True), key=_target(n)):
        order.insert(target % n, source)
    return table["transpose"](x, axes=tuple(order))


def _target(n: int) -> Callable[[tuple[int, int]], int]:
    return lambda pair: pair[1] % n


def _product(name: str, ranks: tuple[int, ...]) -> Product:
    def product(a: Any, b: Any) -> Any:
        return table[name](a, b)

    return _with_axes(product, ranks)


matmul = _product("matmul", (2, 2, 2))
vecdot = _product("vecdot", (1, 1, 0))
matvec = _product("matvec", (2, 1, 1))
vecmat = _product("vecmat", (1, 2, 1))
