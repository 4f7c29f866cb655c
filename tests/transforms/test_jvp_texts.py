"""Forward mode agrees with reverse mode on NumPy code: every text of the same-source probe.

With a cotangent c and a tangent t, <c, J t> by `jvp` equals <J^T c, t> by `vjp`; reverse mode has
finite differences of its own in `tests/ops`.
"""

import warnings

import numpy as np
import pytest
from tests.transforms import texts

import numen as nm
from numen.errors import GradientError


def split(text):
    """A text's floating arrays, and the others."""
    arrays = texts.example(text, 0)
    floats = {n: d for n, d in arrays.items() if d.dtype == np.float64}
    return floats, {n: d for n, d in arrays.items() if n not in floats}


def function_of(text):
    _, others = split(text)

    def function(arrays):
        copies = {n: x.copy() for n, x in arrays.items()}
        copies |= {n: nm.array(d) for n, d in others.items()}
        return [
            x for x in texts.run(text, copies) if isinstance(x, nm.Array) and x.dtype.kind == "f"
        ]

    return function


def inner(xs, ys):
    return sum(float((x * y).sum()) for x, y in zip(xs, ys, strict=True))


@pytest.mark.parametrize("family", sorted(texts.FAMILIES))
def test_forward_mode_is_the_transpose_of_reverse_mode(family):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in texts.FAMILIES[family]:
            f = function_of(text)
            floats, _ = split(text)
            primals = {n: nm.array(d) for n, d in floats.items()}
            try:
                plain = f(primals)
            except Exception:
                continue
            if not plain:
                continue
            rng = np.random.default_rng(1)
            tangents = {n: nm.array(rng.normal(size=d.shape)) for n, d in floats.items()}
            cotangents = [nm.array(rng.normal(size=y.shape).astype(y.dtype)) for y in plain]
            try:
                _, pull = nm.vjp(f, primals)
                (gradients,) = pull(cotangents)
            except GradientError:
                continue  # what has no derivative says so; see docs/coverage.md
            found, derivative = nm.jvp(f, (primals,), (tangents,))
            for x, y in zip(found, plain, strict=True):
                a, b = texts.data_of(x), texts.data_of(y)
                assert (a.dtype, a.shape) == (b.dtype, b.shape), text
                np.testing.assert_allclose(a, b, 1e-12 if a.dtype.itemsize == 8 else 1e-5)
            forward = inner(cotangents, derivative)
            reverse = inner(gradients.values(), tangents.values())
            single = any(y.dtype != np.float64 for y in plain)
            rtol, atol = (1e-4, 1e-5) if single else (1e-9, 1e-9)
            np.testing.assert_allclose(forward, reverse, rtol, atol, err_msg=text)
