"""Losses as one op each: cross_entropy of logits and labels, binary_cross_entropy of probabilities.

`numen.nn.functional` checks and reduces; cross_entropy serves plain small arrays there, while
traces compose it of rows that have kernels. Next: `softmax.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, describe
from numen.ops.common import constant
from numen.ops.comparisons import equal
from numen.ops.elementwise import log
from numen.ops.kinks import maximum
from numen.ops.reductions import sum
from numen.ops.samples import DType, Errors, Inputs, Rng, draw, unequal_shapes
from numen.ops.selection import where
from numen.ops.shape import broadcast_to
from numen.ops.softmax import narrow, parts, softmax, wide

# cross_entropy: logits (N, C), labels (N,) in range -> (N,)


def _cross_entropy(a: Any, labels: Any) -> Any:
    if a.dtype.kind == "c":
        raise DTypeError(f"cross_entropy: expected real logits, got {describe(a, labels)}")
    shifted, _, _, s = parts(wide(a, "cross_entropy"), (1,))
    xp = module_of(a)
    picked = shifted[xp.arange(a.shape[0]), labels]
    total = xp.where(s == 0, xp.ones((), s.dtype), s)
    return narrow(xp.log(total[:, 0]) - picked, a)


def _less_target(x: Any, a: Any, labels: Any) -> Any:
    """x (N, 1) times the derivative softmax(a) - onehot(labels)."""
    classes = constant(np.arange(a.shape[1]), labels)
    chosen = equal(labels.reshape((labels.shape[0], 1)), classes)
    return x * softmax(a, axis=(1,)) - where(chosen, x, 0)


def _cross_entropy_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, labels: Any
) -> tuple[Any, ...]:
    return _less_target(g.reshape((g.shape[0], 1)), a, labels), None


def _cross_entropy_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    a, labels = args
    (t,) = tangents[:1]
    one = constant(np.ones((), out.dtype), out)
    return sum(t * _less_target(one, a, labels), axis=(1,), keepdims=False)


def _cross_entropy_batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    a, labels = [
        x if batched else broadcast_to(x, shape=(size, *x.shape))
        for x, batched in zip(args, axes, strict=True)
    ]
    rows, classes = a.shape[1:]
    flat = cross_entropy(a.reshape((size * rows, classes)), labels.reshape((size * rows,)))
    return flat.reshape((size, rows))


def _cross_entropy_samples(rng: Rng, dtype: DType) -> Inputs:
    labels = np.array([2, 0, 2, 1])
    return [
        ((draw(rng, (4, 3), dtype), labels), {}),
        ((draw(rng, (1, 5), dtype), labels[:1]), {}),
        ((draw(rng, (0, 3), dtype), labels[:0]), {}),
    ]


def _cross_entropy_errors() -> Errors:
    return [
        ((np.ones((2, 3)), np.array([0, 3])), {}, IndexError),
        ((np.ones((2, 3), np.complex128), np.array([0, 1])), {}, TypeError),
    ]


cross_entropy: Primitive = Primitive(
    "cross_entropy",
    _cross_entropy,
    vjp=_cross_entropy_vjp,
    jvp=_cross_entropy_jvp,
    batch=_cross_entropy_batch,
    saves=(0, 1),
    samples=_cross_entropy_samples,
    errors=_cross_entropy_errors,
)

# binary_cross_entropy: -(b log(a) + (1 - b) log(1 - a)), logarithms not below -100

LEAST_LOG = -100.0
LEAST_VARIANCE = 1e-12
"""PyTorch's bounds: they keep the loss and its gradient finite at 0 and 1."""


def _bounded_log(x: Any) -> Any:
    xp = module_of(x)
    return xp.where(x == 0, LEAST_LOG, xp.maximum(xp.log(xp.where(x == 0, 1, x)), LEAST_LOG))


def _binary_cross_entropy(a: Any, b: Any) -> Any:
    if "c" in (a.dtype.kind, b.dtype.kind):
        raise DTypeError(f"binary_cross_entropy: expected real arrays, got {describe(a, b)}")
    return -(b * _bounded_log(a) + (1 - b) * _bounded_log(1 - a))


def _log_of(x: Any) -> Any:
    return where(equal(x, 0), LEAST_LOG, maximum(log(where(equal(x, 0), 1, x)), LEAST_LOG))


def _probabilities(rng: Rng, dtype: DType) -> Inputs:
    def value(*shape: int) -> Any:
        return draw(rng, shape, dtype, 0.1, 0.9)

    return [
        ((value(3, 4), value(3, 4)), {}),
        ((value(3, 1), value(2, 1, 4)), {}),
        ((value(3), value()), {}),
        ((value(0, 3), value(3)), {}),
    ]


binary_cross_entropy = elementwise(
    "binary_cross_entropy",
    _binary_cross_entropy,
    lambda a, b: (a - b) / maximum(a * (1 - a), LEAST_VARIANCE),
    lambda a: _log_of(1 - a) - _log_of(a),
    samples=_probabilities,
    errors=unequal_shapes,
)
_by_partials = binary_cross_entropy.vjp


def _binary_cross_entropy_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any
) -> tuple[Any, ...]:
    assert _by_partials is not None
    return _by_partials(needs, g, out, a, b)  # type: ignore[no-any-return]


binary_cross_entropy.vjp = _binary_cross_entropy_vjp

ROWS = (cross_entropy, binary_cross_entropy)
