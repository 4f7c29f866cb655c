"""A batch rule gives what a Python loop over the examples gives."""

from itertools import product

import numpy as np
import pytest
from cases import ROWS, quiet, raw, samples, wrapped

from numen.ops import table
from tolerances import assert_close

SIZE = 3


def examples(a):
    """SIZE variants of an argument, stacked; index arrays stay in range."""
    if a.dtype.kind in "iumM":
        return np.stack([np.roll(a, k) for k in range(SIZE)])
    if a.dtype.kind == "b":
        return np.stack([a, ~a, a])
    return np.stack([a, a * 1.25, a[::-1] if a.ndim else a * 0.5])


def choices(args):
    """Which arguments are batched: every non-empty choice among the arrays."""
    options = [(False, True) if isinstance(a, np.ndarray) else (False,) for a in args]
    return [axes for axes in product(*options) if any(axes)]


@pytest.mark.parametrize("arrays", [False, True], ids=["raw", "arrays"])
@pytest.mark.parametrize("name", ROWS)
def test_batch_equals_a_loop(name, arrays):
    row = table[name]
    for args, params in samples(name):
        for axes in choices(args):
            stacked = [examples(a) if t else a for a, t in zip(args, axes, strict=True)]
            expected = np.stack(
                [
                    quiet(
                        row.impl,
                        *[a[k] if t else a for a, t in zip(stacked, axes, strict=True)],
                        **params,
                    )
                    for k in range(SIZE)
                ]
            )
            given = wrapped(stacked) if arrays else stacked
            found = raw(quiet(row.batch, SIZE, given, list(axes), **params))
            assert found.dtype == expected.dtype
            assert_close(found, expected, 10)
