"""Every line of docs/singular_points.md holds on every path, and the page is up to date."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import numen as nm
from numen.nn import functional
from numen.ops import table

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


BAD = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 1e30, -1e30]
UNARY = sorted(
    name
    for name, row in table.items()
    if row.vjp and (row.ufunc is not None or name in ("relu", "sigmoid", "softplus", "erf"))
    if row.ufunc is None or row.ufunc.nin == 1
)
BINARY = sorted(
    name
    for name, row in table.items()
    if row.vjp and row.ufunc is not None and row.ufunc.nin == 2 and row.ufunc.signature is None
    if name not in ("ldexp",)
)


def hidden(name, requires_grad=False):
    """The row, operands of every pair of bad numbers and of 0.5, and a mask of the latter."""
    bad = np.array(BAD)
    pairs = np.meshgrid(bad, bad) if name in BINARY else [bad]
    every = [np.append(b.reshape(-1), 0.5) for b in pairs]
    seen = nm.array(np.arange(every[0].size) == every[0].size - 1)
    return table[name], [nm.array(b, requires_grad=requires_grad) for b in every], seen


@pytest.mark.parametrize("hidden_by", ["where", "index", "jit"])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_what_is_hidden_has_a_gradient_of_exactly_0(name, hidden_by):
    """For every elementwise op, whatever stands in the hidden places."""
    row, xs, seen = hidden(name, requires_grad=True)

    def loss(*values):
        y = row(*values)
        return y[-1:].sum() if hidden_by == "index" else nm.where(seen, y, 0).sum()

    def gradients(*values):
        loss(*values).backward()
        return [x.grad for x in values]

    for g in (nm.jit(gradients) if hidden_by == "jit" else gradients)(*xs):
        np.testing.assert_array_equal(g.numpy()[:-1], np.zeros(xs[0].size - 1))


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_a_tangent_that_is_0_stays_0(name):
    """Forward mode: where no tangent comes in none goes out."""
    row, xs, _ = hidden(name)
    _, tangent = nm.jvp(row, tuple(xs), tuple(nm.zeros_like(x) for x in xs))
    np.testing.assert_array_equal(tangent.numpy(), np.zeros(xs[0].shape))


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_second_derivatives_of_what_is_hidden_are_0(name):
    row, xs, seen = hidden(name)
    every = tuple(range(len(xs)))

    def slopes(*values):
        found = nm.grad(lambda *v: nm.where(seen, row(*v), 0).sum(), argnums=every)(*values)
        return sum((g * nm.arange(1.0, g.size + 1)).sum() for g in found)

    for g in nm.grad(slopes, argnums=every)(*xs):
        np.testing.assert_array_equal(g.numpy()[:-1], np.zeros(xs[0].size - 1))
