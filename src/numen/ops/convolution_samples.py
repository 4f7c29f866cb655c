"""Inputs of the convolution rows for the generated tests: one to three axes, groups, crops, steps.

Used by `convolution.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.ops.samples import DType, Errors, Inputs, Rng
from numen.ops.windows import coarse, out_extents

SETTINGS: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    (
        (2, 3, 7),
        (4, 3, 3),
        {"stride": (2,), "padding": ((1, 0),), "dilation": (1,), "groups": 1},
    ),
    (
        (2, 4, 5, 4),
        (6, 2, 2, 3),
        {"stride": (2, 1), "padding": ((1, 0), (0, 2)), "dilation": (1, 2), "groups": 2},
    ),
    (
        (1, 2, 5, 4),
        (2, 1, 3, 1),
        {"stride": (1, 1), "padding": ((-1, 1), (1, -2)), "dilation": (1, 1), "groups": 2},
    ),
    (
        (1, 2, 3, 3, 4),
        (2, 2, 2, 2, 2),
        {"stride": (1, 2, 3), "padding": ((0, 0),) * 3, "dilation": (1, 1, 2), "groups": 1},
    ),
    ((0, 1, 3), (2, 1, 2), {"stride": (1,), "padding": ((0, 0),), "dilation": (1,), "groups": 1}),
)
"""Shapes of x and w, and params."""


def _result_shape(x: tuple[int, ...], w: tuple[int, ...], params: dict[str, Any]) -> Any:
    each = [params[name] for name in ("stride", "padding", "dilation")]
    return (x[0], w[0], *out_extents(x[2:], w[2:], *each))


def samples(rng: Rng, dtype: DType) -> Inputs:
    return [((coarse(rng, x, dtype), coarse(rng, w, dtype)), params) for x, w, params in SETTINGS]


def input_samples(rng: Rng, dtype: DType) -> Inputs:
    return [
        (
            (coarse(rng, _result_shape(x, w, params), dtype), coarse(rng, w, dtype)),
            {"shape": x[2:], **params},
        )
        for x, w, params in SETTINGS
    ]


def weight_samples(rng: Rng, dtype: DType) -> Inputs:
    return [
        (
            (coarse(rng, x, dtype), coarse(rng, _result_shape(x, w, params), dtype)),
            {"kernel": w[2:], **params},
        )
        for x, w, params in SETTINGS
    ]


_ONE: dict[str, Any] = {"stride": (1,), "padding": ((0, 0),), "dilation": (1,), "groups": 1}


def errors() -> Errors:
    return [
        ((np.ones((1, 3, 5)), np.ones((2, 2, 3))), _ONE, ValueError),
        ((np.ones((1, 2, 5)), np.ones((3, 1, 3))), {**_ONE, "groups": 2}, ValueError),
        ((np.ones((1, 2, 2)), np.ones((2, 2, 3))), _ONE, ValueError),
        ((np.ones((1, 2, 5)), np.ones((2, 2, 3, 3))), _ONE, ValueError),
    ]


def input_errors() -> Errors:
    params = {"shape": (5,), **_ONE}
    return [
        ((np.ones((1, 3, 3)), np.ones((2, 2, 3))), params, ValueError),
        ((np.ones((1, 2, 4)), np.ones((2, 2, 3))), params, ValueError),
        ((np.ones((1, 2, 4)), np.ones((2, 2, 3, 1))), params, ValueError),
    ]


def weight_errors() -> Errors:
    params = {"kernel": (3,), **_ONE}
    return [
        ((np.ones((1, 2, 5)), np.ones((1, 2, 4))), params, ValueError),
        ((np.ones((1, 2, 5)), np.ones((2, 2, 3))), params, ValueError),
        ((np.ones((1, 2, 5)), np.ones((2, 2, 3, 1))), params, ValueError),
    ]
