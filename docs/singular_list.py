"""The singular points of numen's ops: what value and gradient are where a derivative has no
unique value.

`make_singular_points.py` writes docs/singular_points.md from this list, and tests evaluate every
point eagerly, on kernels, recorded and under jit. A gradient is that of the sum of the results.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

inf, nan = float("inf"), float("nan")


@dataclass(frozen=True)
class Point:
    """An expression of `x` (and `y`) at a point, with what is expected of it.

    torch: what PyTorch gives instead, gradient by gradient, where that differs.
    """

    text: str
    at: dict[str, Any]
    value: Any
    gradients: list[Any]
    note: str = ""
    torch: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    rule: str
    points: list[Point] = field(default_factory=list)


SECTIONS = [
    Section(
        "Ties: the largest, the smallest, order",
        "Equal operands, and equal elements of a reduction, share the gradient evenly. An op "
        "that moves elements (sort, partition, median, a pooling window) gives it to one of "
        "them, the first in stable order. NaN takes part in nothing.",
        [
            Point(
                "nm.maximum(x, y)",
                {"x": [1.0, 2.0], "y": [1.0, 0.0]},
                [1.0, 2.0],
                [[0.5, 1.0], [0.5, 0.0]],
                note="equal operands share evenly",
            ),
            Point("nm.maximum(x, x)", {"x": [3.0]}, [3.0], [[1.0]], note="the shares add up"),
            Point(
                "nm.minimum(x, y)",
                {"x": [1.0, 2.0], "y": [1.0, 0.0]},
                [1.0, 0.0],
                [[0.5, 0.0], [0.5, 1.0]],
            ),
            Point(
                "nm.fmax(x, y)",
                {"x": [1.0, nan], "y": [1.0, 2.0]},
                [1.0, 2.0],
                [[0.5, 0.0], [0.5, 1.0]],
                note="NaN is no competitor",
                torch="[1.0, 0.0]; [0.0, 1.0]",
            ),
            Point(
                "nm.max(x)",
                {"x": [0.6, 0.6, 0.3]},
                0.6,
                [[0.5, 0.5, 0.0]],
                note="attained twice: shared evenly",
            ),
            Point("nm.min(x)", {"x": [2.0, 2.0, 2.0]}, 2.0, [[0.3333333, 0.3333333, 0.3333333]]),
            Point(
                "nm.amax(x, axis=1)",
                {"x": [[1.0, 1.0], [2.0, 0.0]]},
                [1.0, 2.0],
                [[[0.5, 0.5], [1.0, 0.0]]],
            ),
            Point(
                "nm.max(x)",
                {"x": [1.0, nan]},
                nan,
                [[0.0, 0.0]],
                note="a NaN is attained nowhere",
                torch="[0.0, 1.0]",
            ),
            Point("nm.max(x)", {"x": [-inf, -inf]}, -inf, [[0.5, 0.5]]),
            Point("nm.ptp(x)", {"x": [1.0, 1.0]}, 0.0, [[0.0, 0.0]]),
            Point(
                "nm.sort(x)[0]",
                {"x": [1.0, 1.0, 2.0]},
                1.0,
                [[1.0, 0.0, 0.0]],
                note="the stable order decides",
            ),
            Point("nm.partition(x, 1)[1]", {"x": [1.0, 1.0, 0.0]}, 1.0, [[1.0, 0.0, 0.0]]),
            Point(
                "nm.median(x)",
                {"x": [1.0, 1.0, 1.0]},
                1.0,
                [[0.0, 1.0, 0.0]],
                note="the middle of the stable order",
            ),
            Point(
                "nm.median(x)",
                {"x": [1.0, 2.0, 2.0, 3.0]},
                2.0,
                [[0.0, 0.5, 0.5, 0.0]],
                note="the two in the middle share",
            ),
            Point("nm.quantile(x, 0.5)", {"x": [1.0, 1.0, 1.0]}, 1.0, [[0.0, 1.0, 0.0]]),
            Point(
                "nm.clip(x, 0.0, 1.0)",
                {"x": [0.0, 0.5, 1.0, 2.0]},
                [0.0, 0.5, 1.0, 1.0],
                [[0.5, 1.0, 0.5, 0.0]],
                torch="[1.0, 1.0, 1.0, 0.0]",
                note="x shares with the bound that it equals",
            ),
            Point("nm.clip(x, y, 3.0)", {"x": [1.0], "y": [1.0]}, [1.0], [[0.5], [0.5]]),
            Point(
                "F.max_pool2d(x, 2)",
                {"x": [[[[1.0, 1.0], [1.0, 1.0]]]]},
                [[[[1.0]]]],
                [[[[[1.0, 0.0], [0.0, 0.0]]]]],
                note="the first of equal elements",
            ),
            Point("F.max_pool1d(x, 2)", {"x": [[[nan, 1.0]]]}, [[[nan]]], [[[[1.0, 0.0]]]]),
            Point("F.max_pool1d(x, 2)", {"x": [[[-inf, -inf]]]}, [[[-inf]]], [[[[1.0, 0.0]]]]),
        ],
    ),
    Section(
        "Branches that are not taken",
        "A gradient that is exactly 0 because `where`, an index, a mask or a maximum left an "
        "element out stays 0 through every elementwise op before it, however steep: 0 times "
        "an infinite slope is 0 here. So no double `where` is needed. Matrix products and "
        "convolutions compute 0 times infinity as IEEE 754 says, NaN.",
        [
            Point(
                "nm.where(x > 0, nm.sqrt(x), x)",
                {"x": [-1.0, 0.0, 4.0]},
                [-1.0, 0.0, 2.0],
                [[1.0, 1.0, 0.25]],
                torch="[nan, nan, 0.25]",
                note="the slope of sqrt is infinite or NaN",
            ),
            Point(
                "nm.where(x > 0, nm.log(x), 0.0)",
                {"x": [-1.0, 0.0, 1.0]},
                [0.0, 0.0, 0.0],
                [[0.0, 0.0, 1.0]],
                torch="[0.0, nan, 1.0]",
            ),
            Point(
                "nm.where(x != 0, nm.sin(x) / x, 1.0)", {"x": [0.0]}, [1.0], [[0.0]], torch="[nan]"
            ),
            Point(
                "nm.where(x < 1, nm.cos(x), 0.0)",
                {"x": [0.0, inf]},
                [1.0, 0.0],
                [[0.0, 0.0]],
                torch="[0.0, nan]",
            ),
            Point(
                "nm.where(x <= 0, nm.exp(x), 1 + x)",
                {"x": [1000.0]},
                [1001.0],
                [[1.0]],
                torch="[nan]",
            ),
            Point(
                "nm.where(x > 0, x**y, 0.0)",
                {"x": [-1.0, 0.0], "y": [0.5, 0.5]},
                [0.0, 0.0],
                [[0.0, 0.0], [0.0, 0.0]],
                torch="[nan, nan]; [nan, 0.0]",
            ),
            Point(
                "nm.where(nm.isnan(x), 0.0, x * y)",
                {"x": [nan, 2.0], "y": [3.0, 3.0]},
                [0.0, 6.0],
                [[0.0, 3.0], [0.0, 2.0]],
                note="missing data",
                torch="[0.0, 3.0]; [nan, 2.0]",
            ),
            Point(
                "(x / y)[y != 0]",
                {"x": [1.0, 1.0], "y": [0.0, 1.0]},
                [1.0],
                [[0.0, 1.0], [0.0, -1.0]],
                torch="[nan, 1.0]; [nan, -1.0]",
                note="picked by a mask",
            ),
            Point(
                "nm.maximum(nm.sqrt(x * x + y * y), 1e-10)",
                {"x": 0.0, "y": 0.0},
                1e-10,
                [0.0, 0.0],
                torch="nan; nan",
            ),
            Point(
                "nm.nansum(x * y)",
                {"x": [nan, 2.0], "y": [3.0, 3.0]},
                6.0,
                [[0.0, 3.0], [0.0, 2.0]],
                torch="[0.0, 3.0]; [nan, 2.0]",
            ),
            Point("nm.nanmax(x)", {"x": [nan, 2.0, 1.0]}, 2.0, [[0.0, 1.0, 0.0]]),
            Point(
                "nm.sqrt(x)[1:]",
                {"x": [0.0, 4.0]},
                [2.0],
                [[0.0, 0.25]],
                note="sliced away",
                torch="[nan, 0.25]",
            ),
            Point("nm.relu(x) / x", {"x": [-inf]}, [0.0], [[0.0]]),
        ],
    ),
    Section(
        "Roots, powers, logarithms",
        "Where a slope is infinite the gradient is too, as the limit; where no real "
        "derivative exists it is NaN or 0 as noted.",
        [
            Point("nm.sqrt(x)", {"x": [0.0]}, [0.0], [[inf]], note="the limit"),
            Point("nm.sqrt(x)", {"x": [-1.0]}, [nan], [[nan]], note="outside of the domain"),
            Point("nm.cbrt(x)", {"x": [0.0]}, [0.0], [[inf]], note="the limit of the slope"),
            Point("nm.abs(x)", {"x": [0.0, -0.0]}, [0.0, 0.0], [[0.0, 0.0]]),
            Point("nm.fabs(x)", {"x": [0.0]}, [0.0], [[0.0]]),
            Point("nm.sign(x)", {"x": [0.0, 2.0]}, [0.0, 1.0], [[0.0, 0.0]]),
            Point("nm.log(x)", {"x": [0.0]}, [-inf], [[inf]]),
            Point("nm.log(x)", {"x": [-1.0]}, [nan], [[-1.0]]),
            Point("nm.log1p(x)", {"x": [-1.0]}, [-inf], [[inf]]),
            Point("nm.log2(x)", {"x": [0.0]}, [-inf], [[inf]]),
            Point("nm.log10(x)", {"x": [0.0]}, [-inf], [[inf]]),
            Point("x**2", {"x": [0.0]}, [0.0], [[0.0]]),
            Point("x**1", {"x": [0.0]}, [0.0], [[1.0]]),
            Point("x**0", {"x": [0.0, nan]}, [1.0, 1.0], [[0.0, 0.0]]),
            Point("x**0.5", {"x": [0.0]}, [0.0], [[inf]], note="the limit of the slope"),
            Point("x**-1", {"x": [0.0]}, [inf], [[-inf]]),
            Point(
                "x**y",
                {"x": [0.0, 0.0, 0.0], "y": [0.0, 1.0, 2.0]},
                [1.0, 0.0, 0.0],
                [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
            ),
            Point(
                "x**y",
                {"x": [-2.0], "y": [2.0]},
                [4.0],
                [[-4.0], [0.0]],
                note="no real logarithm of the base",
                torch="[-4.0]; [nan]",
            ),
            Point(
                "nm.float_power(x, y)",
                {"x": [0.0, 0.0], "y": [0.0, 2.0]},
                [1.0, 0.0],
                [[0.0, 0.0], [0.0, 0.0]],
            ),
            Point("0.0**x", {"x": [0.0, 1.0]}, [1.0, 0.0], [[0.0, 0.0]]),
            Point("1 / x", {"x": [0.0]}, [inf], [[-inf]]),
            Point("nm.reciprocal(x)", {"x": [0.0]}, [inf], [[-inf]]),
            Point("x / y", {"x": [0.0], "y": [0.0]}, [nan], [[inf], [nan]]),
            Point("x / y", {"x": [1.0], "y": [0.0]}, [inf], [[inf], [-inf]]),
            Point("nm.exp(x)", {"x": [1000.0, -1000.0, -inf]}, [inf, 0.0, 0.0], [[inf, 0.0, 0.0]]),
            Point(
                "nm.logaddexp(x, y)",
                {"x": [-inf, inf], "y": [-inf, inf]},
                [-inf, inf],
                [[0.5, 0.5], [0.5, 0.5]],
                torch="[nan, nan]; [nan, nan]",
            ),
        ],
    ),
    Section(
        "Angles",
        "At the origin, where an angle has no derivative, the gradient is 0.",
        [
            Point("nm.arctan2(x, y)", {"x": [0.0], "y": [0.0]}, [0.0], [[0.0], [0.0]]),
            Point(
                "nm.hypot(x, y)",
                {"x": [0.0], "y": [0.0]},
                [0.0],
                [[0.0], [0.0]],
                torch="[nan]; [nan]",
                note="a length of 0",
            ),
            Point("nm.arcsin(x)", {"x": [1.0]}, [1.570796], [[inf]], note="the limit of the slope"),
            Point("nm.arccos(x)", {"x": [1.0]}, [0.0], [[-inf]], note="the limit of the slope"),
            Point("nm.arccosh(x)", {"x": [1.0]}, [0.0], [[inf]], note="the limit of the slope"),
            Point("nm.arctanh(x)", {"x": [1.0]}, [inf], [[inf]]),
            Point("nm.tan(x)", {"x": [0.0]}, [0.0], [[1.0]]),
            Point("nm.sinc(x)", {"x": [0.0]}, [1.0], [[0.0]]),
            Point(
                "nm.unwrap(x)",
                {"x": [0.0, 4.0]},
                [0.0, -2.283185],
                [[1.0, 1.0]],
                note="jumps are multiples of 2 pi",
            ),
        ],
    ),
    Section(
        "Jumps and kinks",
        "A jump has gradient 0; a kink has one of the slopes beside it, 0 where that is one "
        "of them.",
        [
            Point("nm.floor(x)", {"x": [1.0]}, [1.0], [[0.0]]),
            Point("nm.round(x)", {"x": [0.5]}, [0.0], [[0.0]]),
            Point("nm.remainder(x, y)", {"x": [4.0], "y": [2.0]}, [0.0], [[1.0], [-2.0]]),
            Point("nm.remainder(x, y)", {"x": [1.0], "y": [0.0]}, [nan], [[1.0], [-inf]]),
            Point("nm.fmod(x, y)", {"x": [-3.0], "y": [2.0]}, [-1.0], [[1.0], [1.0]]),
            Point("nm.floor_divide(x, y)", {"x": [4.0], "y": [2.0]}, [2.0], [[0.0], [0.0]]),
            Point("nm.heaviside(x, y)", {"x": [0.0], "y": [0.5]}, [0.5], [[0.0], [1.0]]),
            Point(
                "nm.copysign(x, y)",
                {"x": [0.0, 1.0], "y": [-1.0, -0.0]},
                [0.0, -1.0],
                [[0.0, -1.0], [0.0, 0.0]],
            ),
            Point(
                "nm.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, -2.0])",
                {"x": [0.0, 1.0, 2.0]},
                [0.0, 1.0, -2.0],
                [[1.0, -3.0, -3.0]],
                note="the slope on the right; none outside",
            ),
            Point("F.relu(x)", {"x": [0.0]}, [0.0], [[0.0]]),
            Point("F.leaky_relu(x, 0.1)", {"x": [0.0]}, [0.0], [[0.1]]),
            Point("F.relu6(x)", {"x": [0.0, 6.0]}, [0.0, 6.0], [[0.0, 0.0]]),
            Point("F.hardtanh(x)", {"x": [-1.0, 1.0]}, [-1.0, 1.0], [[0.0, 0.0]]),
            Point("F.elu(x)", {"x": [0.0, -1000.0]}, [0.0, -1.0], [[1.0, 0.0]]),
            Point("F.selu(x)", {"x": [0.0]}, [0.0], [[1.758099]]),
            Point("F.celu(x)", {"x": [0.0]}, [0.0], [[1.0]]),
            Point("F.hardsigmoid(x)", {"x": [-3.0, 3.0]}, [0.0, 1.0], [[0.0, 0.0]]),
            Point("F.hardswish(x)", {"x": [-3.0, 3.0]}, [0.0, 3.0], [[0.0, 1.0]]),
            Point("F.softsign(x)", {"x": [0.0]}, [0.0], [[1.0]]),
            Point("F.softplus(x)", {"x": [-1000.0, 1000.0]}, [0.0, 1000.0], [[0.0, 1.0]]),
            Point("F.gelu(x)", {"x": [0.0, -100.0]}, [0.0, 0.0], [[0.5, 0.0]]),
            Point("F.silu(x)", {"x": [-1000.0]}, [0.0], [[0.0]]),
            Point("F.logsigmoid(x)", {"x": [-1000.0, 0.0]}, [-1000.0, -0.6931472], [[1.0, 0.5]]),
            Point("F.softshrink(x)", {"x": [0.5]}, [0.0], [[0.0]]),
            Point("F.hardshrink(x)", {"x": [0.5]}, [0.0], [[0.0]]),
            Point("F.threshold(x, 1.0, 0.0)", {"x": [1.0]}, [0.0], [[0.0]]),
            Point("F.prelu(x, y)", {"x": [[0.0]], "y": [0.25]}, [[0.0]], [[[0.25]], [0.0]]),
        ],
    ),
    Section(
        "Sums of exponentials and masked rows",
        "Nothing counts in a row of -inf alone: softmax is 0, logsumexp is -inf, and "
        "gradients are 0.",
        [
            Point("nm.logsumexp(x)", {"x": [-inf, -inf]}, -inf, [[0.0, 0.0]], torch="[nan, nan]"),
            Point("nm.logsumexp(x)", {"x": [-inf, 1.0]}, 1.0, [[0.0, 1.0]]),
            Point("nm.logsumexp(x)", {"x": [inf, 0.0]}, inf, [[0.0, 0.0]], torch="[nan, 0.0]"),
            Point(
                "nm.logsumexp(nm.stack([y, y + x]))",
                {"x": 1.0, "y": -inf},
                -inf,
                [0.0, 0.0],
                torch="nan; nan",
            ),
            Point("nm.logsumexp(x, where=[True, False])", {"x": [0.0, 100.0]}, 0.0, [[1.0, 0.0]]),
            Point("nm.logsumexp(x)", {"x": [1000.0, 1000.0]}, 1000.693, [[0.5, 0.5]]),
            Point(
                "nm.softmax(x)",
                {"x": [-inf, -inf]},
                [0.0, 0.0],
                [[0.0, 0.0]],
                note="nothing counts",
                torch="value [nan, nan]; [nan, nan]",
            ),
            Point("nm.softmax(x)[0]", {"x": [-inf, 1.0]}, 0.0, [[0.0, 0.0]]),
            Point("nm.log_softmax(x)[1]", {"x": [-inf, 1.0]}, 0.0, [[0.0, 0.0]]),
            Point(
                "F.scaled_dot_product_attention(x, x, x, attn_mask=nm.array([[False]]))",
                {"x": [[2.0]]},
                [[0.0]],
                [[[0.0]]],
                note="a query that may see nothing",
            ),
        ],
    ),
    Section(
        "Products with zeros",
        "Exact: no rule divides.",
        [
            Point("nm.prod(x)", {"x": [2.0, 0.0, 3.0, 4.0]}, 0.0, [[0.0, 24.0, 0.0, 0.0]]),
            Point("nm.prod(x)", {"x": [2.0, 0.0, 3.0, 0.0]}, 0.0, [[0.0, 0.0, 0.0, 0.0]]),
            Point(
                "nm.cumprod(x)",
                {"x": [2.0, 0.0, 3.0, 4.0]},
                [2.0, 0.0, 0.0, 0.0],
                [[1.0, 32.0, 0.0, 0.0]],
            ),
            Point("nm.cumprod(x) ** 2", {"x": [1.0, 0.0]}, [1.0, 0.0], [[2.0, 0.0]]),
            Point("nm.cumprod(x)", {"x": [0.0]}, [0.0], [[1.0]]),
            Point(
                "nm.cumprod(x[::-1])[::-1]",
                {"x": [0.0, 2.0, 3.0]},
                [0.0, 6.0, 3.0],
                [[6.0, 3.0, 3.0]],
                note="in reverse",
            ),
        ],
    ),
    Section(
        "Lengths and spread",
        "Where a length or a standard deviation is 0, its smallest value, 0 is the gradient "
        "(a subgradient).",
        [
            Point("nm.linalg.norm(x)", {"x": [0.0, 0.0, 0.0]}, 0.0, [[0.0, 0.0, 0.0]]),
            Point("nm.linalg.norm(x)", {"x": [3.0, 4.0]}, 5.0, [[0.6, 0.8]], note="the control"),
            Point("nm.linalg.norm(x, 1)", {"x": [0.0, 0.0, 0.0]}, 0.0, [[0.0, 0.0, 0.0]]),
            Point("nm.linalg.norm(x, 3)", {"x": [0.0, 0.0, 0.0]}, 0.0, [[0.0, 0.0, 0.0]]),
            Point("nm.linalg.norm(x, 0.5)", {"x": [0.0, 0.0, 0.0]}, 0.0, [[0.0, 0.0, 0.0]]),
            Point("nm.linalg.norm(x, nm.inf)", {"x": [0.0, 0.0]}, 0.0, [[0.0, 0.0]]),
            Point("nm.linalg.norm(x, -nm.inf)", {"x": [0.0, 0.0]}, 0.0, [[0.0, 0.0]]),
            Point("nm.linalg.norm(x, -1)", {"x": [0.0, 2.0]}, 0.0, [[0.0, 0.0]]),
            Point("nm.linalg.norm(x, nm.inf)", {"x": [2.0, -2.0]}, 2.0, [[0.5, -0.5]]),
            Point(
                "nm.linalg.norm(x, axis=1)",
                {"x": [[0.0, 0.0], [3.0, 4.0]]},
                [0.0, 5.0],
                [[[0.0, 0.0], [0.6, 0.8]]],
            ),
            Point(
                "nm.linalg.norm(x)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                0.0,
                [[[0.0, 0.0], [0.0, 0.0]]],
            ),
            Point(
                'nm.linalg.norm(x, "fro")',
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                0.0,
                [[[0.0, 0.0], [0.0, 0.0]]],
            ),
            Point(
                "nm.linalg.norm(x, 1)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                0.0,
                [[[0.0, 0.0], [0.0, 0.0]]],
            ),
            Point(
                "nm.linalg.norm(x, nm.inf)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                0.0,
                [[[0.0, 0.0], [0.0, 0.0]]],
            ),
            Point(
                "nm.linalg.norm(x, 2)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                0.0,
                [[[0.0, 0.0], [0.0, 0.0]]],
                torch="[[0.5, 0.0], [0.0, 0.5]]",
            ),
            Point(
                'nm.linalg.norm(x, "nuc")',
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                0.0,
                [[[0.0, 0.0], [0.0, 0.0]]],
                torch="[[1.0, 0.0], [0.0, 1.0]]",
            ),
            Point("nm.linalg.vector_norm(x)", {"x": [0.0, 0.0]}, 0.0, [[0.0, 0.0]]),
            Point("nm.std(x)", {"x": [2.0, 2.0, 2.0]}, 0.0, [[0.0, 0.0, 0.0]]),
            Point("nm.std(x)", {"x": [2.0]}, 0.0, [[0.0]]),
            Point("nm.std(x, ddof=1)", {"x": [2.0]}, nan, [[nan]]),
            Point("nm.var(x)", {"x": [2.0, 2.0]}, 0.0, [[0.0, 0.0]]),
            Point("nm.nanstd(x)", {"x": [2.0, nan, 2.0]}, 0.0, [[0.0, 0.0, 0.0]]),
            Point(
                "F.normalize(x, dim=0)",
                {"x": [0.0, 0.0]},
                [0.0, 0.0],
                [[1000000000000.0, 1000000000000.0]],
            ),
            Point("F.layer_norm(x, (2,))", {"x": [[2.0, 2.0]]}, [[0.0, 0.0]], [[[0.0, 0.0]]]),
            Point(
                "nm.average(x, weights=y)",
                {"x": [1.0, 2.0], "y": [0.0, 1.0]},
                2.0,
                [[0.0, 1.0], [-1.0, 0.0]],
            ),
        ],
    ),
    Section(
        "Losses",
        "A mean over nothing is NaN, and its gradient 0, so a step changes no weight.",
        [
            Point("F.l1_loss(x, y)", {"x": [1.0], "y": [1.0]}, 0.0, [[0.0], [0.0]]),
            Point(
                "F.smooth_l1_loss(x, y)",
                {"x": [1.0, 2.0], "y": [1.0, 1.0]},
                0.25,
                [[0.0, 0.5], [0.0, -0.5]],
            ),
            Point(
                "F.huber_loss(x, y)",
                {"x": [1.0, 2.0], "y": [1.0, 1.0]},
                0.25,
                [[0.0, 0.5], [0.0, -0.5]],
            ),
            Point(
                "F.smooth_l1_loss(x, y, beta=0.0)", {"x": [1.0], "y": [1.0]}, 0.0, [[0.0], [0.0]]
            ),
            Point(
                'F.binary_cross_entropy(x, y, reduction="sum")',
                {"x": [0.0, 1.0], "y": [0.0, 1.0]},
                0.0,
                [[0.0, 0.0], [100.0, -100.0]],
                torch="[0.0, 0.0]; [inf, -inf]",
            ),
            Point(
                'F.binary_cross_entropy(x, y, reduction="sum")',
                {"x": [0.0, 1.0], "y": [1.0, 0.0]},
                200.0,
                [[-1000000000000.0, 1000000000000.0], [100.0, -100.0]],
                note="bounded as PyTorch's",
                torch="[-1000000000000.0, 1000000000000.0]; [inf, -inf]",
            ),
            Point(
                'F.binary_cross_entropy_with_logits(x, y, reduction="sum")',
                {"x": [1000.0, -1000.0], "y": [0.0, 1.0]},
                2000.0,
                [[1.0, -1.0], [-1000.0, 1000.0]],
            ),
            Point(
                "F.cross_entropy(x, nm.array([-100]))",
                {"x": [[1.0, 2.0]]},
                nan,
                [[[0.0, 0.0]]],
                note="nothing counts",
            ),
            Point(
                'F.cross_entropy(x, nm.array([-100]), reduction="sum")',
                {"x": [[1.0, 2.0]]},
                0.0,
                [[[0.0, 0.0]]],
            ),
            Point(
                "F.cross_entropy(x, nm.array([1]))",
                {"x": [[-inf, 0.0]]},
                0.0,
                [[[0.0, 0.0]]],
                note="a class that is masked",
            ),
            Point("F.nll_loss(x, nm.array([-100]))", {"x": [[1.0, 2.0]]}, nan, [[[0.0, 0.0]]]),
            Point(
                'F.kl_div(x, y, reduction="sum")',
                {"x": [0.0, -inf], "y": [1.0, 0.0]},
                0.0,
                [[-1.0, 0.0], [1.0, 0.0]],
                note="0 log 0 is 0",
                torch="value nan; [-1.0, 0.0]; [1.0, nan]",
            ),
            Point(
                "F.poisson_nll_loss(x, y, log_input=False)",
                {"x": [0.0], "y": [0.0]},
                0.0,
                [[1.0], [18.42068]],
            ),
            Point(
                "F.gaussian_nll_loss(x, y, nm.array([0.0]))",
                {"x": [1.0], "y": [1.0]},
                -6.907755,
                [[0.0], [0.0]],
            ),
            Point(
                "F.hinge_embedding_loss(x, nm.array([-1.0]))",
                {"x": [1.0]},
                0.0,
                [[0.0]],
                torch="[-1.0]",
            ),
            Point(
                "F.margin_ranking_loss(x, y, nm.array([1.0]))",
                {"x": [0.0], "y": [0.0]},
                0.0,
                [[0.0], [0.0]],
                torch="[-1.0]; [1.0]",
            ),
            Point(
                "F.cosine_embedding_loss(x, y, nm.array([1.0]))",
                {"x": [[0.0, 0.0]], "y": [[0.0, 0.0]]},
                1.0,
                [[[0.0, 0.0]], [[0.0, 0.0]]],
            ),
            Point(
                "F.triplet_margin_loss(x, x, y, eps=0.0)",
                {"x": [[0.0]], "y": [[0.0]]},
                1.0,
                [[[0.0]], [[0.0]]],
            ),
        ],
    ),
    Section(
        "Matrices",
        "Equal eigenvalues and equal singular values share as their vectors lie: a sum of them has "
        "its gradient. The derivative of a determinant is its cofactors, whatever the rank.",
        [
            Point(
                "nm.linalg.det(x)",
                {"x": [[1.0, 2.0], [2.0, 4.0]]},
                0.0,
                [[[4.0, -2.0], [-2.0, 1.0]]],
                note="the cofactors",
                torch="[[0.0, 0.0], [0.0, 0.0]]",
            ),
            Point(
                "nm.linalg.det(x)", {"x": [[0.0, 0.0], [0.0, 0.0]]}, 0.0, [[[0.0, 0.0], [0.0, 0.0]]]
            ),
            Point(
                "nm.linalg.eigvalsh(x)",
                {"x": [[1.0, 0.0], [0.0, 1.0]]},
                [1.0, 1.0],
                [[[1.0, 0.0], [0.0, 1.0]]],
            ),
            Point(
                "nm.linalg.svd(x, compute_uv=False)",
                {"x": [[1.0, 0.0], [0.0, 1.0]]},
                [1.0, 1.0],
                [[[1.0, 0.0], [0.0, 1.0]]],
            ),
            Point(
                "nm.linalg.svd(x, compute_uv=False)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                [0.0, 0.0],
                [[[1.0, 0.0], [0.0, 1.0]]],
            ),
            Point(
                "nm.linalg.pinv(x)",
                {"x": [[0.0, 0.0], [0.0, 0.0]]},
                [[0.0, 0.0], [0.0, 0.0]],
                [[[0.0, 0.0], [0.0, 0.0]]],
            ),
        ],
    ),
]
