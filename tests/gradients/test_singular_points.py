"""Every line of docs/singular_points.md holds on every path, and the page is up to date."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import numen as nm
from numen.nn import functional

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DOCS = Path(__file__).parents[2] / "docs"


def load(name):
    """Import one of the scripts that make pages."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(DOCS))


SECTIONS = load("singular_list").SECTIONS
POINTS = [
    pytest.param(point, id=f"{s}-{i}-{point.text}")
    for s, section in enumerate(SECTIONS)
    for i, point in enumerate(section.points)
]
DTYPES = ["float32", "float64"]
CLOSE = {"float32": {"rtol": 2e-5, "atol": 1e-6}, "float64": {"rtol": 1e-6, "atol": 1e-9}}


@pytest.fixture(autouse=True)
def _quiet():
    """The points are where NumPy warns."""
    with np.errstate(all="ignore"):
        yield


def function_of(point):
    """The expression as a function of its arguments."""
    code = compile(point.text, "<point>", "eval")

    def f(*values):
        return eval(code, {"nm": nm, "F": functional, **dict(zip(point.at, values, strict=True))})

    return f


def inputs(point, dtype, requires_grad=True):
    return [
        nm.array(np.array(value, dtype), requires_grad=requires_grad) for value in point.at.values()
    ]


def pulled(point, xs):
    """The value, and the gradients of the sum of its elements."""
    y = function_of(point)(*xs)
    y.backward(nm.ones(y.shape, dtype=y.dtype))
    gradients = [x.grad for x in xs]
    for x in xs:
        x.grad = None
    return [y.detach(), *gradients]


def check(point, found, dtype):
    expected = [point.value, *point.gradients]
    assert len(found) == len(expected)
    for i, (ours, wanted) in enumerate(zip(found, expected, strict=True)):
        ours = ours.detach().numpy()
        assert ours.dtype == dtype or not i  # a value may be float64, a gradient is its argument's
        np.testing.assert_allclose(ours, np.array(wanted, dtype), **CLOSE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("engine", ["numpy", "kernels"])
@pytest.mark.parametrize("point", POINTS)
def test_eager(point, engine, dtype):
    with nm.config(engine=engine):
        check(point, pulled(point, inputs(point, dtype)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("point", POINTS)
def test_a_recorded_gradient(point, dtype):
    """`grad` of a gradient records it; where the gradient is finite so is the product with 0."""
    xs = inputs(point, dtype, requires_grad=False)
    f = function_of(point)
    every = tuple(range(len(xs)))
    kept = []

    def gradient_of_sum(*values):
        gradients = nm.grad(lambda *v: f(*v).sum(), argnums=every)(*values)
        kept[:] = [g.detach() for g in gradients]
        return sum((0 * g).sum() for g in gradients)

    nm.grad(gradient_of_sum, argnums=every)(*xs)
    check(point, [f(*xs), *kept], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_jit(section, dtype):
    """One program for a section; its first call traces, the second one replays."""

    @nm.jit
    def everything(groups):
        return [pulled(point, xs) for point, xs in zip(section.points, groups, strict=True)]

    groups = [inputs(point, dtype) for point in section.points]
    for _ in range(2):
        for point, found in zip(section.points, everything(groups), strict=True):
            check(point, found, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("point", POINTS)
def test_forward_mode(point, dtype):
    """The tangent of the sum along each element is the gradient's element, unless it is of NaN."""
    if np.isnan(np.array(point.value)).any():
        return
    xs = inputs(point, dtype, requires_grad=False)
    f = function_of(point)
    for i, (x, wanted) in enumerate(zip(xs, point.gradients, strict=True)):
        flat = np.array(wanted, dtype).reshape(-1)
        for at in range(x.size):
            tangents = [np.zeros(v.shape, dtype) for v in xs]
            tangents[i].reshape(-1)[at] = 1
            _, tangent = nm.jvp(f, tuple(xs), tuple(map(nm.array, tangents)))
            np.testing.assert_allclose(tangent.sum().numpy(), flat[at], **CLOSE[dtype])


@pytest.mark.parametrize("point", POINTS)
def test_finite_where_the_value_is(point):
    """Infinite or NaN gradients are listed with their reason."""
    if not np.isfinite(np.array(point.value)).all():
        return
    if not all(np.isfinite(np.array(g)).all() for g in point.gradients):
        assert point.note


def test_the_page_is_up_to_date():
    page = load("make_singular_points")
    assert page.PAGE.read_text() == page.render(), "run docs/make_singular_points.py"
