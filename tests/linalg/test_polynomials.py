"""Polynomials, old (numpy.poly1d's functions) and new (numpy.polynomial), on Arrays."""

import subprocess
import sys

import numpy as np
import pytest
from recorded import check_recorded, uniform
from same_source import compare

import numen as nm
from numen import polynomial
from numen.errors import GradientError

CLASSES = ["Polynomial", "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre"]
MODULES = {
    "polynomial": "poly", "chebyshev": "cheb", "hermite": "herm", "hermite_e": "herme",
    "laguerre": "lag", "legendre": "leg",
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "np.polyval([1, 2, 3], 2)", "np.polyval([1, 2, 3], [1., 2.])", "np.polyval([], 3)",
        "np.polyval(np.array([1, 2], np.float32), np.arange(3, dtype=np.float32))",
        "np.polyval([[1, 2], [3, 4]], 2)", "np.polyval(5, 2)", "np.polyval([1j, 2], [[1, 2]])",
        "np.polyadd([1, 2], [3])", "np.polyadd(1, [1, 2, 3])", "np.polysub([1, 2], [1, 2, 3])",
        "np.polymul([0, 0, 1, 2], [3, 4])", "np.polymul([0, 0], [0])", "np.polymul(2, [1, 2])",
        "np.polymul([[1, 2]], [1])", "np.polymul([], [1])", "np.polyder([1, 2, 3])",
        "np.polyder([1, 2, 3], 2)", "np.polyder([1, 2, 3], 4)", "np.polyder([1, 2, 3], 0)",
        "np.polyder([1, 2, 3], -1)", "np.polyder([5])", "np.polyint([1, 2, 3])",
        "np.polyint([1, 2, 3], 2)", "np.polyint([1, 2, 3], 2, 3)", "np.polyint([6], 3, [6, 5, 3])",
        "np.polyint([1], 3, [1, 2])", "np.polyint([1], -1)", "np.polyint([1, 2], 0)",
        "np.poly([1, 2, 3])", "np.poly([[1, 2], [3, 4]])", "np.poly([])",
        "np.poly(np.ones((2, 3)))",
        "np.roots([1, -3, 2])", "np.roots([1, 0, 1])", "np.roots([0, 0, 1, -1, 0])", "np.roots([])",
        "np.roots([[1, 2]])", "np.polydiv([1., 3., 2.], [2., 1.])", "np.polydiv([1, 2], [1, 2, 3])",
        "np.polyfit(np.arange(5.), np.arange(5.) ** 2, 2)",
        "np.polyfit(np.arange(5.), np.ones((5, 2)), 1, w=np.arange(1., 6.))",
        "np.polyfit(np.arange(5.), np.arange(5.), 1, cov=True)",
        "np.polyfit(np.arange(5.), np.arange(5.), 1, full=True)",
        "np.polyfit(np.arange(5.), np.arange(4.), 1)", "np.polyfit([1, 2], [1, 2], -1)",
    ],
)  # fmt: skip
def test_functions(text):
    compare(text)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("np.polyval(a, b)", ((4,), (3,))), ("np.polyval(a, b)", ((3,), (2, 2))),
        ("np.polyval(a, b)", ((1,), ())), ("np.polyadd(a, b)", ((2,), (4,))),
        ("np.polysub(a, b)", ((4,), (2,))), ("np.polysub(a, b)", ((3,), (3,))),
        ("np.polyadd(a, b)", ((), (2,))), ("np.polymul(a, b)", ((3,), (2,))),
        ("np.polymul(a, b)", ((), (2,))), ("np.polyint(a, 2, b)", ((3,), (2,))),
        ("np.polyint(a, 2, b)", ((3,), ())), ("np.polydiv(a, b)[0]", ((4,), (2,))),
        ("np.polydiv(a, b)[1]", ((5,), (3,))), ("np.polydiv(a, b)[1]", ((4,), (2,))),
        ("np.polyadd(np.poly(a), b)", ((3,), (4,))),
    ],
)  # fmt: skip
def test_gradients_of_two(text, shapes):
    a, b = shapes
    check_recorded(text, a=uniform(*a), b=uniform(*b, seed=1))


def test_gradients_of_one():
    for text in ("np.polyder(a)", "np.polyder(a, 2)", "np.polyint(a)", "np.polyint(a, 3)"):
        check_recorded(text, a=uniform(4))
    check_recorded("np.polymul(np.polyint(a), [0.0, 1.0, 2.0])", a=uniform(3))


def test_leading_zeros_of_a_product_get_no_gradient():
    x = nm.array([0.0, 0.0, 1.0, 2.0], requires_grad=True)
    y = nm.polymul(x, [1.0, 3.0])
    assert y.tolist() == [1, 5, 6]
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 4, 4]


def test_poly1d_takes_arrays():
    p = nm.poly1d(nm.array([1.0, 2.0, 3.0]))
    assert (p * p).coeffs.tolist() == np.polymul([1, 2, 3], [1, 2, 3]).tolist()
    assert p(2.0) == 11
    x = nm.array([1.0, 2.0], requires_grad=True)
    nm.polyval(p, x).sum().backward()
    assert x.grad.tolist() == [4, 6]


def test_fits_have_no_gradient_and_say_so():
    x = nm.arange(4.0).requires_grad_()
    with pytest.raises(GradientError, match="polyfit"):
        nm.polyfit(x, nm.ones(4), 1).sum().backward()


def test_importing_numen_does_not_load_numpys_polynomials():
    code = "import sys, numen, numen.polynomial; print('numpy.polynomial' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"


def test_names_are_numpys():
    import numpy.polynomial as theirs

    assert set(polynomial.__all__) == set(theirs.__all__)
    for name in CLASSES:
        assert issubclass(getattr(polynomial, name), getattr(theirs, name))
    for module in MODULES:
        ours = getattr(polynomial, module)
        for name in getattr(theirs, module).__all__:
            assert hasattr(ours, name), name
    assert not hasattr(polynomial, "nothing")
    assert not hasattr(polynomial.chebyshev, "nothing")


@pytest.mark.parametrize("name", CLASSES)
def test_a_series_evaluates_arrays(name):
    series = getattr(polynomial, name)
    theirs = getattr(np.polynomial, name)
    p, q = series([1.0, 2.0, 3.0, 0.5], [0, 4]), theirs([1.0, 2.0, 3.0, 0.5], [0, 4])
    for points in (
        np.linspace(0, 3, 7),
        np.arange(3, dtype=np.float32),
        np.arange(4).reshape(2, 2),
    ):
        found, expected = p(nm.array(points)), q(points)
        assert isinstance(found, nm.Array)
        assert found.dtype == expected.dtype
        assert np.array_equal(found.numpy(), expected)
    x = nm.array([0.5, 1.5], requires_grad=True)
    p(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), q.deriv()(np.array([0.5, 1.5])), rtol=1e-12)
    assert type(p + p) is series
    assert p([1.0, 2.0]).tolist() == q([1.0, 2.0]).tolist()
    assert series.fit(nm.arange(5.0), nm.arange(5.0), 1)(2.0) == pytest.approx(2)
    assert series(nm.array([1.0, 2.0])).coef.tolist() == [1, 2]


@pytest.mark.parametrize("module", MODULES)
def test_functions_of_the_modules(module):
    prefix = MODULES[module]
    for call in (
        "val(np.array([0.5, 1.]), [1, 2, 3])", "val(2.0, np.array([1, 2, 3]))",
        "val(np.arange(2.), np.ones((3, 2)))", "val(np.arange(2.), np.ones((3, 2)), tensor=False)",
        "add(np.array([1, 2]), [1])", "mul([1, 2], [3, 4])", "der(np.arange(4))",
        "int(np.arange(4), 2)", "fromroots([1, 2])", "vander(np.arange(3.), 2)",
        "fit(np.arange(5.), np.arange(5.), 1)", "val2d(1., np.array(2.), np.ones((2, 2)))",
        "roots([1, 2, 1])", "companion([1, 2, 3])", "add([], [1])", "der([1], -1)",
    ):  # fmt: skip
        compare(f"np.polynomial.{module}.{prefix}{call}")
    x = nm.array([0.5, 1.5], requires_grad=True)
    value = getattr(getattr(polynomial, module), f"{prefix}val")(x, [1.0, 2.0, 3.0])
    value.sum().backward()
    theirs = getattr(np.polynomial, CLASSES[list(MODULES).index(module)])
    slope = theirs([1.0, 2.0, 3.0]).deriv()(np.array([0.5, 1.5]))
    np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-12)
