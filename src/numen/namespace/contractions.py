"""einsum: any sum of products that a line of labels describes.

Plain calls are NumPy's. Recorded ones read the labels, take diagonals, and contract two operands at
a time by a batched matrix product, so they differentiate. Next: `products.py`.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from numen.dispatch import views
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import describe
from numen.namespace.axes import transpose
from numen.namespace.calling import composes
from numen.namespace.devices import backend_among
from numen.namespace.output import into
from numen.ops import table

__all__ = ["einsum", "einsum_path"]

Labels = list[Any]
"""A label an axis: letters, and negative ints for the axes that an ellipsis stands for."""

LETTERS = string.ascii_uppercase + string.ascii_lowercase
"""What the ints of NumPy's other form (operand, labels, ...) stand for."""


class _Operand(NamedTuple):
    array: Any
    labels: Labels


def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: str = "K",
    casting: Any = "safe",
) -> Any:
    """Sum of products by Einstein's convention, as a line of labels describes it.

    Parameters
    ----------
    *operands : str and arrays, or arrays and label lists in turn
        ``"ij,jk->ik", a, b``, or ``a, [0, 1], b, [1, 2], [0, 2]``. A label that is repeated in one
        operand takes its diagonal; without an arrow the labels that occur once are kept, sorted; an
        ellipsis stands for axes that broadcast.
    out : Array, optional
        Where the result is written.
    optimize : bool, str or path
        The order of contractions; see `einsum_path`.
    dtype, order, casting
        As NumPy's.

    Raises
    ------
    ValueError
        If the labels and the operands' shapes do not fit, or the output repeats a label.

    Examples
    --------
    >>> import numen as nm
    >>> nm.einsum("ij,kj->ik", nm.eye(2), nm.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [2., 4.]])
    >>> x = nm.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> nm.einsum("ii->", x).backward()
    >>> x.grad
    array([[1., 0.],
           [0., 1.]])
    """
    one = len(operands) == 2 or (len(operands) == 3 and not isinstance(operands[0], str))
    if one and out is None and dtype is None:
        view = _as_view(operands)
        if view is not None:
            return view
    given = {"dtype": dtype, "order": order, "casting": casting}
    return _einsum(*operands, out=out, optimize=optimize, **given)


def _as_view(operands: Sequence[Any]) -> Any:
    """What NumPy gives as a view: one operand of which nothing is summed; None where it is none."""
    try:
        inputs, output, arrays = _read(operands)
    except Exception:
        return None  # NumPy says what is wrong
    if len(arrays) != 1 or set(inputs[0]) != set(output) or arrays[0]._d.dtype.kind not in "biufc":
        return None
    x, labels = arrays[0], inputs[0]
    if not labels:
        return None  # a scalar
    shape = dict(zip(labels, x._d.shape, strict=True))
    if any([shape[k] != n for k, n in zip(labels, x._d.shape, strict=True)]):
        return None
    term = _single(x, labels, 0)
    result = transpose(term.array, [term.labels.index(k) for k in output])
    return result if not result._d.size or views.share_memory(result, x) else None


def _recorded(*operands: Any, out: Any, optimize: Any, dtype: Any, order: str, casting: Any) -> Any:
    """einsum as a composition of rows."""
    inputs, output, arrays = _read(operands)
    common = np.result_type(*[x._d.dtype for x in arrays]) if dtype is None else np.dtype(dtype)
    if common.kind not in "iufc" or not all(
        [np.can_cast(x._d.dtype, common, casting) for x in arrays]
    ):
        return NotImplemented  # bool has sums of its own; NumPy says what can't be cast
    terms = [
        _single(x, labels, i) for i, (x, labels) in enumerate(zip(arrays, inputs, strict=True))
    ]
    terms = _drop_stretched([_Operand(x.astype(common, copy=False), n) for x, n in terms])
    for pair in _order(terms, output, optimize):
        chosen = [terms[i] for i in pair]
        terms = [t for i, t in enumerate(terms) if i not in pair]
        needed = set(output).union(*[t.labels for t in terms])
        terms.append(_product(chosen, needed))
    (last,) = terms
    result = _arrange(_summed(last, set(output)), output)
    return into(out, result if output else result[()], "einsum")


_recorded.__name__ = "einsum"  # what errors call it
_einsum = composes(np.einsum)(_recorded)


@composes(np.einsum_path)
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The order in which `einsum` would contract its operands, and a table of what that costs.

    See `numpy.einsum_path`.
    """
    if backend_among(*operands) is None or einsum_call:
        return NotImplemented
    shapes = [
        np.broadcast_to(False, x._d.shape) if isinstance(x, ArrayCore) else x for x in operands
    ]
    return np.einsum_path(*shapes, optimize=optimize)


# ------------------------------------------------------------ reading the labels


def _read(operands: Sequence[Any]) -> tuple[list[Labels], Labels, list[Any]]:
    """Labels an axis of every operand and of the output, and the operands as Arrays."""
    if not operands:
        raise ValueError("einsum: must specify the einstein sum subscripts string and operands")
    if isinstance(operands[0], str):
        text = operands[0].replace(" ", "")
        given, arrow, kept = text.partition("->")
        arrays = [as_array(x) for x in operands[1:]]
        parts = [_letters(part) for part in given.split(",")]
        target = _letters(kept) if arrow else None
    else:
        count = len(operands) // 2
        arrays = [as_array(operands[2 * i]) for i in range(count)]
        parts = [_numbers(operands[2 * i + 1]) for i in range(count)]
        target = _numbers(operands[-1]) if len(operands) % 2 else None
    if len(parts) != len(arrays):
        raise ValueError(f"einsum: {len(parts)} operands in the subscripts, {len(arrays)} given")
    inputs = [_expand(part, x, i) for i, (part, x) in enumerate(zip(parts, arrays, strict=True))]
    return inputs, _output(inputs, target), arrays


def _letters(text: str) -> Labels:
    """A term of the line: letters, and Ellipsis where it has one."""
    head, dots, tail = text.partition("...")
    labels: Labels = [*head, *([Ellipsis] if dots else []), *tail]
    for label in labels:
        if label is not Ellipsis and label not in LETTERS:
            raise ValueError(
                f"einsum: invalid subscript {label!r} in {text!r}; expected letters and one '...'"
            )
    return labels


def _numbers(labels: Any) -> Labels:
    """A list of ints, as letters."""
    out: Labels = []
    for label in labels:
        if label is Ellipsis:
            out.append(label)
        elif not 0 <= int(label) < len(LETTERS):
            raise ValueError(f"einsum: subscript {label} is not in the range [0, 52)")
        else:
            out.append(LETTERS[int(label)])
    return out


def _expand(labels: Labels, x: Any, i: int) -> Labels:
    """Labels with the ellipsis replaced by -1 for the last of its axes, -2 before it, ..."""
    dots = labels.count(Ellipsis)
    free = x.ndim - (len(labels) - dots)
    if dots > 1 or free < 0 or (free and not dots):
        raise ValueError(
            f"einsum: {len(labels) - dots} subscripts do not fit operand {i}: {describe(x)}"
        )
    if not dots:
        return labels
    at = labels.index(Ellipsis)
    return [*labels[:at], *range(-free, 0), *labels[at + 1 :]]


def _output(inputs: list[Labels], target: Labels | None) -> Labels:
    """The output's labels; without an arrow those that occur once, sorted, behind the ellipsis."""
    every = [label for labels in inputs for label in labels]
    dots = sorted({label for label in every if isinstance(label, int)})
    if target is None:
        return [*dots, *sorted({n for n in every if isinstance(n, str) and every.count(n) == 1})]
    if dots and Ellipsis not in target:
        raise ValueError(
            "einsum: the output has no '...' for the axes that the operands' stand for"
        )
    out: Labels = []
    for label in target:
        if label is Ellipsis:
            out += dots
        elif label in out:
            raise ValueError(f"einsum: the output includes subscript {label!r} multiple times")
        elif label not in every:
            raise ValueError(f"einsum: the output's subscript {label!r} is in no operand")
        else:
            out.append(label)
    return out


# ------------------------------------------------------------ one operand


def _single(x: Any, labels: Labels, i: int) -> _Operand:
    """An operand with its repeated labels made one axis, the diagonal of theirs."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            m, n = x.shape[first], x.shape[second]
            if m != n:
                raise ValueError(
                    f"einsum: dimensions in operand {i} for collapsing index {label!r} don't match "
                    f"({m} != {n})"
                )
            x = _diagonal(x, first, second)
            labels = [k for j, k in enumerate(labels) if j not in (first, second)] + [label]
    return _Operand(x, labels)


def _diagonal(x: Any, first: int, second: int) -> Any:
    """The diagonal of two axes of n elements as a last axis: every (n + 1)-th of n * n.

    The axis of larger strides goes first: then `x` is flattened as a view where that can be.
    """
    rest = [i for i in range(x.ndim) if i not in (first, second)]
    n = x.shape[first]
    if x._d.strides[first] < x._d.strides[second]:
        first, second = second, first
    flat = transpose(x, (*rest, first, second)).reshape((*[x.shape[i] for i in rest], n * n))
    return flat[..., :: n + 1]


def _drop_stretched(terms: list[_Operand]) -> list[_Operand]:
    """Operands without the axes of one element that broadcast against longer ones."""
    extents: dict[Any, int] = {}
    for x, labels in terms:
        for label, n in zip(labels, x.shape, strict=True):
            known = extents.get(label, 1)
            if n != 1 and known not in (1, n):
                raise ValueError(
                    f"einsum: operands could not be broadcast together: label {label!r} is {known} "
                    f"and {n}; got {describe(*[t.array for t in terms])}"
                )
            extents[label] = n if known == 1 else known
    out = []
    for x, labels in terms:
        stretched = [n == 1 != extents[k] for k, n in zip(labels, x.shape, strict=True)]
        if any(stretched):
            kept = [(k, n) for k, n, s in zip(labels, x.shape, stretched, strict=True) if not s]
            x = x.reshape(tuple([n for _, n in kept]))
            labels = [k for k, _ in kept]
        out.append(_Operand(x, labels))
    return out


def _summed(term: _Operand, needed: set[Any]) -> _Operand:
    """The operand summed over the labels that nothing needs any more."""
    x, labels = term
    axes = tuple([i for i, label in enumerate(labels) if label not in needed])
    if not axes:
        return term
    total = table["sum"](x, axis=axes, keepdims=False)
    if total._d.dtype != x._d.dtype:  # small ints, which sum() widens and einsum does not
        total = total.astype(x._d.dtype)
    return _Operand(total, [label for label in labels if label in needed])


def _arrange(term: _Operand, labels: Labels) -> Any:
    """The operand's axes in the order of `labels`."""
    x, have = term
    order = [have.index(label) for label in labels]
    return x if order == list(range(len(order))) else transpose(x, order)


# ------------------------------------------------------------ several operands


def _order(terms: list[_Operand], output: Labels, optimize: Any) -> list[tuple[int, ...]]:
    """Which operands to contract at each step; a product goes to the end of the list."""
    if len(terms) < 3:
        return [(0, 1)] if len(terms) == 2 else []
    names = {
        label: i for i, label in enumerate(dict.fromkeys([k for t in terms for k in t.labels]))
    }
    arguments: list[Any] = []
    for x, labels in terms:
        arguments += [np.broadcast_to(np.zeros(()), x.shape), [names[k] for k in labels]]
    arguments.append([names[k] for k in output])
    path, _ = np.einsum_path(*arguments, optimize=optimize or "greedy")
    return [tuple(step) for step in path[1:]]


def _product(terms: list[_Operand], needed: set[Any]) -> _Operand:
    """The product of operands, summed over the labels that nothing needs any more."""
    product = terms[0]
    for i, term in enumerate(terms[1:], 2):
        still = needed.union(*[t.labels for t in terms[i:]])
        product = _of_two(product, term, still)
    return product if len(terms) > 1 else _summed(product, needed)


def _of_two(a: _Operand, b: _Operand, needed: set[Any]) -> _Operand:
    """Two operands as one batched matrix product: (batch, M, K) times (batch, K, N)."""
    a, b = _summed(a, needed.union(b.labels)), _summed(b, needed.union(a.labels))
    extents = dict(zip(a.labels, a.array.shape, strict=True))
    extents.update(zip(b.labels, b.array.shape, strict=True))
    shared = [k for k in a.labels if k in b.labels]
    batch, summed = [k for k in shared if k in needed], [k for k in shared if k not in needed]
    rows = [k for k in a.labels if k not in shared]
    columns = [k for k in b.labels if k not in shared]

    def size(labels: Labels) -> int:
        return math.prod([extents[k] for k in labels])

    many = [extents[k] for k in batch]
    left = _arrange(a, [*batch, *rows, *summed])
    right = _arrange(b, [*batch, *summed, *columns])
    left = left.reshape((*many, size(rows), size(summed)))
    right = right.reshape((*many, size(summed), size(columns)))
    product: Any = table["matmul" if summed else "multiply"](left, right)
    labels = [*batch, *rows, *columns]
    if not labels:
        return _Operand(product[0, 0], labels)  # a scalar
    return _Operand(product.reshape(tuple([extents[k] for k in labels])), labels)
