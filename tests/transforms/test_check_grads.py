"""check_grads, gradcheck and gradgradcheck: they pass what is right and name what is wrong."""

import numpy as np
import pytest

import numen as nm
from numen.testing import GradientCheckError, check_grads, gradcheck, gradgradcheck

RNG = np.random.default_rng(0)


def point(*shape, dtype=np.float64):
    values = RNG.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RNG.normal(size=shape)
    return nm.array(values.astype(dtype))


def with_rule(factor, at=None):
    """The sine, with a derivative that is wrong by a factor (at one element)."""

    @nm.custom_jvp
    def f(x):
        return nm.sin(x)

    @f.defjvp
    def rule(primals, tangents):
        scale = np.ones(primals[0].shape)
        scale[... if at is None else at] = factor
        return f(*primals), tangents[0] * nm.cos(primals[0]) * nm.array(scale)

    return f


def test_right_derivatives_pass():
    def f(a, b):
        return nm.sin(a) @ b, (a * a).sum()

    check_grads(f, (point(2, 3), point(3)), order=3)
    check_grads(f, (point(2, 3), point(3)), order=2, modes="rev")
    check_grads(
        lambda tree, k: tree["w"] * tree["list"][0] ** k, ({"w": point(2), "list": [point(2)]}, 3)
    )
    check_grads(lambda x, i: x[i], (point(4), nm.array([0, 2, 2])))
    check_grads(lambda z: nm.exp(z) * nm.conj(z), (point(3, dtype=complex),), order=2)
    check_grads(lambda z: nm.abs(z), (point(3, dtype=complex),), order=2)
    check_grads(lambda x: nm.exp(1j * x), (point(3),), order=2)
    for dtype in (np.float32, np.complex64):
        check_grads(lambda x: nm.sin(x) * nm.exp(x), (point(5, dtype=dtype),), order=2)
    check_grads(nm.sin, (nm.array([0.1, 1.0], nm.bfloat16),))
    check_grads(nm.sin, (2.0,))


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_wrong_derivatives_are_named(mode):
    def f(a, b):
        return a.sum() * with_rule(1.01, at=(1, 2))(b)

    with pytest.raises(AssertionError) as caught:
        check_grads(f, (point(2), point(2, 3)), modes=(mode,))
    text = str(caught.value)
    assert "argument 1, element (1, 2)" in text and mode in text
    assert "analytic" in text and "numeric" in text and "relative error 0.0099" in text
    assert text.count("element (") == (2 if mode == "fwd" else 1)
    assert "1 of 8 elements" in text


def test_tolerances_and_orders():
    slightly = with_rule(1 + 1e-3)
    check_grads(slightly, (point(4),), atol=1e-2, rtol=1e-2)
    check_grads(with_rule(1 + 1e-4), (point(4, dtype=np.float32),))
    with pytest.raises(GradientCheckError):
        check_grads(slightly, (point(4),))

    @nm.custom_jvp
    def only_first(x):
        return x**3

    cubed = nm.custom_jvp(lambda x: x * x)
    cubed.defjvp(lambda p, t: (cubed(*p), 5 * p[0] * t[0]))
    only_first.defjvp(lambda p, t: (only_first(*p), 3 * cubed(p[0]) * t[0]))
    check_grads(only_first, (point(3),))
    with pytest.raises(GradientCheckError, match=r"derivative \((fwd|rev)\) of f"):
        check_grads(only_first, (point(3),), order=2)
    with pytest.raises(GradientCheckError, match="nan"):
        check_grads(with_rule(np.nan), (point(3),))


def test_what_cannot_be_checked():
    with pytest.raises(ValueError, match="no argument"):
        check_grads(lambda i: i, (nm.array([1, 2]),))
    with pytest.raises(ValueError, match="returns no"):
        check_grads(nm.argmax, (point(3),))
    with pytest.raises(ValueError, match="modes"):
        check_grads(nm.sin, (point(3),), modes=("forward",))
    with pytest.raises(ValueError, match="requires a gradient"):
        gradcheck(nm.sin, point(3))


def test_gradcheck_of_jacobians():
    a = point(2, 3).requires_grad_()
    b = point(3).requires_grad_()
    z = point(2, dtype=complex).requires_grad_()
    assert gradcheck(
        lambda a, b, k: (nm.sin(a) @ b * k, a * 2), (a, b, 3.0), check_batched_grad=True
    )
    assert gradcheck(lambda z: z * nm.conj(z) * z, z, check_forward_ad=True)
    assert gradcheck(lambda z: nm.real(z), z)
    assert gradcheck(lambda a: a * b, a, fast_mode=True, check_forward_ad=True)
    assert gradgradcheck(lambda a, b: nm.sin(a) @ b, (a, b))
    assert gradgradcheck(lambda z: nm.abs(z), z)
    assert gradgradcheck(nm.sin, b, [nm.ones(3)], fast_mode=True)


def test_gradcheck_names_result_and_input():
    b = point(2, 3).requires_grad_()
    wrong = with_rule(2.0, at=(0, 1))
    with pytest.raises(RuntimeError) as caught:
        gradcheck(lambda a, b: (a, wrong(b)), (nm.ones(2), b))
    text = str(caught.value)
    assert "result 1, element (0, 1) by argument 1, element (0, 1)" in text
    assert "relative error 0.5" in text and "1 of 48 entries" in text
    assert not gradcheck(lambda b: wrong(b), b, raise_exception=False)
    with pytest.raises(GradientCheckError):
        gradcheck(wrong, b, fast_mode=True)
    with pytest.raises(GradientCheckError, match="forward mode"):
        gradcheck(wrong, b, check_backward_ad=False, check_forward_ad=True)

    class Second(nm.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_arrays
            return 2 * x.detach() * g

    assert gradcheck(Second.apply, b)
    with pytest.raises(GradientCheckError):
        gradgradcheck(Second.apply, b)


def test_backward_passes_that_differ():
    scales = iter(np.linspace(1, 2, 1000))

    class Noisy(nm.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * (1 + 1e-7 * next(scales))

    x = point(2).requires_grad_()
    with pytest.raises(GradientCheckError, match="second backward"):
        gradcheck(Noisy.apply, x)
    assert gradcheck(Noisy.apply, x, nondet_tol=1e-5)


def test_the_rest_of_numpy_testing_is_there():
    assert "check_grads" in dir(nm.testing) and "assert_allclose" in dir(nm.testing)
    nm.testing.assert_allclose(nm.array([1.0]), [1.0])
