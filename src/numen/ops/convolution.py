"""Convolution over any number of spatial axes and its two gradients, three bilinear rows.

`convolution(x, w)` maps (N, C, *spatial) and (O, C / groups, *kernel) to (N, O, *out);
`convolution_input(g, w)` is its transpose in x, which is the transposed convolution, and
`convolution_weight(x, g)` its transpose in w. Each one's derivatives are the other two. Padding is
a (before, after) pair an axis; a negative one crops. Called by `nn/functional_convolution.py`.
Next: `columns.py`, which computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numen.dispatch.derived import broadcast_to, conj
from numen.dispatch.primitive import Primitive
from numen.errors import ShapeError, describe
from numen.ops.columns import convolve, convolve_back, weight_of
from numen.ops.common import add_tangents
from numen.ops.convolution_samples import (
    errors,
    input_errors,
    input_samples,
    samples,
    weight_errors,
    weight_samples,
)
from numen.ops.shape import transpose
from numen.ops.windows import Extents, Pairs, out_extents, wide

Rule = Callable[..., Any]


def _checked(
    op: str, image: Any, other: Any, channels: Sequence[int], groups: int, out: Sequence[int]
) -> None:
    """Refuse operands whose channels or extents do not belong together."""
    have, per_group, produced = channels
    if have != per_group * groups or produced % groups or min(out, default=1) < 1:
        raise ShapeError(
            f"{op}: expected shapes (N, C, *spatial) and (O, C / groups, *kernel) with O a "
            f"multiple of groups={groups} and a kernel no larger than the padded input; "
            f"got {describe(image, other)}"
        )


# convolution


def _convolution(
    x: Any, w: Any, stride: Extents, padding: Pairs, dilation: Extents, groups: int
) -> Any:
    if x.ndim != w.ndim or x.ndim != len(stride) + 2:
        raise ShapeError(
            f"convolution: expected {len(stride)} spatial axes in both; got {describe(x, w)}"
        )
    kernel = tuple(w.shape[2:])
    out = out_extents(x.shape[2:], kernel, stride, padding, dilation)
    _checked("convolution", x, w, (x.shape[1], w.shape[1], w.shape[0]), groups, out)
    return convolve(x, w, out, stride, padding, dilation, groups)


def _convolution_vjp(
    needs: Sequence[bool], g: Any, out: Any, x: Any, w: Any, **params: Any
) -> tuple[Any, ...]:
    return (
        convolution_input(g, conj(w), shape=tuple(x.shape[2:]), **params) if needs[0] else None,
        convolution_weight(conj(x), g, kernel=tuple(w.shape[2:]), **params) if needs[1] else None,
    )


# convolution_input


def _convolution_input(
    g: Any,
    w: Any,
    shape: Extents,
    stride: Extents,
    padding: Pairs,
    dilation: Extents,
    groups: int,
) -> Any:
    if g.ndim != w.ndim or g.ndim != len(stride) + 2:
        raise ShapeError(
            f"convolution_input: expected {len(stride)} spatial axes in both; got {describe(g, w)}"
        )
    kernel, out = tuple(w.shape[2:]), tuple(g.shape[2:])
    matches = out == out_extents(shape, kernel, stride, padding, dilation)
    _checked(
        "convolution_input",
        g,
        w,
        (g.shape[1], w.shape[0] // groups, g.shape[1]),
        groups,
        out if matches else (0,),
    )
    return convolve_back(g, w, shape, stride, padding, dilation, groups)


def _convolution_input_vjp(
    needs: Sequence[bool], g: Any, out: Any, y: Any, w: Any, *, shape: Extents, **params: Any
) -> tuple[Any, ...]:
    return (
        convolution(g, conj(w), **params) if needs[0] else None,
        convolution_weight(g, conj(y), kernel=tuple(w.shape[2:]), **params) if needs[1] else None,
    )


# convolution_weight


def _convolution_weight(
    x: Any,
    g: Any,
    kernel: Extents,
    stride: Extents,
    padding: Pairs,
    dilation: Extents,
    groups: int,
) -> Any:
    if x.ndim != g.ndim or x.ndim != len(stride) + 2:
        raise ShapeError(
            f"convolution_weight: expected {len(stride)} spatial axes in both; got {describe(x, g)}"
        )
    out = tuple(g.shape[2:])
    matches = out == out_extents(x.shape[2:], kernel, stride, padding, dilation)
    even = x.shape[1] % groups == 0 and x.shape[0] == g.shape[0]
    _checked(
        "convolution_weight",
        x,
        g,
        (x.shape[1], x.shape[1] // groups, g.shape[1]),
        groups,
        out if matches and even else (0,),
    )
    return weight_of(x, g, kernel, stride, padding, dilation, groups)


def _convolution_weight_vjp(
    needs: Sequence[bool], g: Any, out: Any, x: Any, y: Any, *, kernel: Extents, **params: Any
) -> tuple[Any, ...]:
    return (
        convolution_input(conj(y), g, shape=tuple(x.shape[2:]), **params) if needs[0] else None,
        convolution(conj(x), g, **params) if needs[1] else None,
    )


# what the three share


def _bilinear_jvp(row: Callable[[], Primitive]) -> Rule:
    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        (a, b), (ta, tb) = args, tangents
        return add_tangents(
            None if ta is None else row()(ta, b, **params),
            None if tb is None else row()(a, tb, **params),
        )

    return jvp


def _beside(x: Any) -> Any:
    """(B, N, C, ...) -> (N, B * C, ...): examples beside each other as groups of channels."""
    x = transpose(x, axes=(1, 0, *range(2, len(x.shape))))
    return x.reshape((x.shape[0], x.shape[1] * x.shape[2], *x.shape[3:]))


def _apart(size: int, x: Any) -> Any:
    """(N, B * C, ...) -> (B, N, C, ...)."""
    x = x.reshape((x.shape[0], size, x.shape[1] // size, *x.shape[2:]))
    return transpose(x, axes=(1, 0, *range(2, len(x.shape))))


def _bilinear_batch(row: Callable[[], Primitive], weights: bool) -> Rule:
    """Batches become groups; `weights`: the second operand is a weight, not an image."""

    def batch(
        size: int, args: Sequence[Any], axes: Sequence[bool], groups: int, **params: Any
    ) -> Any:
        if weights and not axes[1]:  # a batch of images is more images
            x = args[0]
            flat = x.reshape((size * x.shape[1], *x.shape[2:]))
            out = row()(flat, args[1], groups=groups, **params)
            return out.reshape((size, x.shape[1], *out.shape[1:]))
        a, b = [
            x if t else broadcast_to(x, (size, *x.shape)) for x, t in zip(args, axes, strict=True)
        ]
        if weights:
            b = b.reshape((size * b.shape[1], *b.shape[2:]))
            return _apart(size, row()(_beside(a), b, groups=size * groups, **params))
        out = row()(_beside(a), _beside(b), groups=size * groups, **params)
        return out.reshape((size, out.shape[0] // size, *out.shape[1:]))

    return batch


convolution: Primitive = Primitive(
    "convolution",
    wide(_convolution),
    vjp=_convolution_vjp,
    jvp=_bilinear_jvp(lambda: convolution),
    batch=_bilinear_batch(lambda: convolution, True),
    saves_for=((1,), (0,)),
    samples=samples,
    errors=errors,
)

convolution_input: Primitive = Primitive(
    "convolution_input",
    wide(_convolution_input),
    vjp=_convolution_input_vjp,
    jvp=_bilinear_jvp(lambda: convolution_input),
    batch=_bilinear_batch(lambda: convolution_input, True),
    saves_for=((1,), (0,)),
    samples=input_samples,
    errors=input_errors,
)

convolution_weight: Primitive = Primitive(
    "convolution_weight",
    wide(_convolution_weight),
    vjp=_convolution_weight_vjp,
    jvp=_bilinear_jvp(lambda: convolution_weight),
    batch=_bilinear_batch(lambda: convolution_weight, False),
    saves_for=((1,), (0,)),
    samples=weight_samples,
    errors=weight_errors,
)

ROWS = (convolution, convolution_input, convolution_weight)
