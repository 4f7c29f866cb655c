"""clip, round, complex parts, special functions: NumPy's values, gradients, and jit."""

import numpy as np
import pytest
from same_source import compare

import numen as nm

SETUP = """x = np.array([[.5, -1.5, 2.25], [np.nan, np.inf, -np.inf]])
y = np.array([1., 2., 4.])
i = np.arange(6).reshape(2, 3)
c = np.array([1+2j, -1j, 3])
o = np.zeros((2, 3))
m = np.array([True, False, True])
f = np.array([[1., 2, 4], [7, 3, 9], [1, 5, 2]])
"""

EXPRESSIONS = """np.sinc(y/4)
np.sinc(0)
np.sinc(i)
np.sinc(x.astype('f'))
np.sinc(c)
np.sinc([0.,1])
np.i0(y)
np.i0(0.)
np.i0(i)
np.i0(c)
np.i0([10,20.])
np.isposinf(x)
np.isneginf(x)
np.isposinf(c)
np.isposinf(i)
np.isposinf(x,out=np.zeros((2,3),bool))
np.isposinf(x,o)
np.isneginf(-np.inf)
np.iscomplex(c)
np.iscomplex(x)
np.iscomplex(1j)
np.isreal(c)
np.isreal(x)
np.isreal(2)
np.iscomplexobj(c)
np.iscomplexobj(x)
np.iscomplexobj([1j])
np.isrealobj(1)
np.isrealobj(c)
np.isreal('a')
np.iscomplex('a')
np.isposinf('a')
np.clip(x,0,1)
np.clip(5,3,1)
np.clip(x,None,1)
np.clip(x,0,None)
np.clip(x,None,None)
np.clip(x,min=0,max=1)
np.clip(x,min=0)
np.clip(x)
np.clip(x,0)
np.clip(x,0,1,min=2)
np.clip(i,-1000,3)
np.clip(i.astype('i1'),-1000,1000)
np.clip(i.astype('u1'),-1,3)
np.clip(i,0.5,2)
np.clip(x,y,y+1)
np.clip(x,0,1,out=o) is o
np.clip(x,0,1,out=o,where=m)
np.clip(x,0,1,dtype='f')
np.clip(i,np.nan,2)
np.clip(c,0,1)
np.clip(x,0,np.nan)
np.clip(i,0,1,o)
np.clip(x,0,1,out=i)
np.clip('a',0,1)
x.clip(0,1)
x.clip(min=0)
x.clip(max=0)
x.clip()
i.clip(1,2,out=i)
np.clip(x,0,1,foo=2)
np.clip(True,0,1)
np.clip(m,False,False)
np.round(x)
np.round(x,1)
np.round(x,-1)
np.round(i,-1)
np.round(i)
np.round(c,0)
np.round(2.675,2)
np.around(x)
np.round(x,out=o) is o
np.round(m)
x.round(1)
np.round('a')
np.round(x.astype('f'),2)
np.round(x.astype('e'),2)
np.round(25,-1)
np.round(np.float64(2.5))
np.round(x,decimals=1,out=i)
np.fix(x)
np.fix(i)
np.fix(2.7)
np.fix(x,out=o) is o
np.fix(x,o)
np.fix(c)
np.fix([1.5])
np.real(x)
np.real(c)
np.real(1.5)
np.real(1+2j)
np.real([1,2j])
np.real(np.float64(2))
np.imag(x)
np.imag(c)
np.imag(1.5)
np.imag(1+2j)
np.imag([1,2j])
np.real(c).base is c
np.real(x) is x
np.imag(c).base is c
np.real('a')
np.angle(c)
np.angle(c,deg=True)
np.angle(x)
np.angle(-1)
np.angle(1j)
np.angle(i,True)
np.angle(['a'])
np.real_if_close(c)
np.real_if_close(np.array([1+1e-20j]))
np.real_if_close(x) is x
np.real_if_close(c,tol=1e30)
np.nan_to_num(x)
np.nan_to_num(x,nan=1,posinf=2,neginf=3)
np.nan_to_num(x,copy=False) is x
np.nan_to_num(c*np.inf)
np.nan_to_num(np.nan)
np.nan_to_num(i)
np.nan_to_num(x.astype('f'))
np.nan_to_num(np.inf)
np.nan_to_num([1,np.nan])
np.nan_to_num(x,nan=np.array([1,2,3]))""".splitlines()

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=4)

FUNCTIONS = {
    "clip": (lambda m, a: m.clip(a, -0.5, 0.7), A),
    "clip by arrays": (lambda m, a, b: m.clip(a, b, b + 0.3), A, B),
    "clip from below": (lambda m, a: m.clip(a, min=-0.1), A),
    "clip in part": (lambda m, a: m.clip(a, -0.1, 0.1, where=A > 0, out=m.zeros((3, 4))), A),
    "round": (lambda m, a: m.round(a, 1) + a, A),
    "fix": (lambda m, a: m.fix(a) + a, A),
    "angle": (lambda m, a: m.angle(a, deg=True) + a, A),
    "nan_to_num": (lambda m, a: m.nan_to_num(m.where(a > 0.5, np.nan, a)), A),
    "sinc": (lambda m, a: m.sinc(a), A),
    "i0": (lambda m, a: m.i0(a * 4), A),
    "i0 above 8": (lambda m, a: m.i0(a + 12) / 1e4, A),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_against_numpy(text):
    compare(SETUP + f"r = {text}")


@pytest.mark.parametrize("text", [t for t in EXPRESSIONS if "'a'" not in t])
def test_compositions_against_numpy(text):
    """What recorded calls run, without a gradient."""
    with nm.config(engine="kernels"):
        compare(SETUP + f"r = {text}", exact=False)


def slopes(f, values, k, weights):
    """Central differences of the weighted sum of f's results by its k-th argument."""
    step, slope = 1e-6, np.zeros_like(values[k])
    for place in np.ndindex(slope.shape):
        for sign in (1, -1):
            moved = [v.copy() for v in values]
            moved[k][place] += sign * step
            slope[place] += sign * weighted(f(np, *moved), weights) / (2 * step)
    return slope


def weighted(result, weights):
    parts = result if isinstance(result, tuple) else (result,)
    return sum([(p * weights[: p.size].reshape(p.shape)).sum() for p in parts])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_and_jit(name):
    f, *values = FUNCTIONS[name]
    weights = np.random.default_rng(1).normal(size=200)
    leaves = [nm.array(v, requires_grad=True) for v in values]
    loss = weighted(f(nm, *leaves), nm.array(weights))
    np.testing.assert_allclose(loss.item(), weighted(f(np, *values), weights), rtol=1e-9)
    loss.backward()
    for k, leaf in enumerate(leaves):
        actual = np.zeros_like(values[k]) if leaf.grad is None else leaf.grad.numpy()
        expected = slopes(f, values, k, weights)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=2e-5)
    compiled = nm.jit(lambda *a: f(nm, *a))
    for _ in range(2):
        again = compiled(*[nm.array(v) for v in values])
    np.testing.assert_allclose(weighted(again, nm.array(weights)).item(), loss.item(), rtol=1e-9)


def test_ties_of_clip_share_the_gradient():
    x = nm.array([0.0, 0.5, 1.0, 2.0], requires_grad=True)
    nm.clip(x, 0, 1).sum().backward()
    assert x.grad.tolist() == [0.5, 1, 0.5, 0]


def test_sinc_has_good_derivatives_at_zero():
    x = nm.array([0.0, 1e-9, 0.3])
    first = nm.grad(lambda v: nm.sinc(v).sum())
    second = nm.grad(lambda v: first(v).sum())
    np.testing.assert_allclose(first(x).numpy()[:2], [0, -1e-9 * np.pi**2 / 3], atol=1e-20)
    np.testing.assert_allclose(second(x).numpy()[:2], -(np.pi**2) / 3)


def test_real_and_imag_are_views():
    c = nm.array([1 + 2j, 3])
    nm.real(c)[0] = 5
    nm.imag(c)[1] = 7
    assert c.tolist() == [5 + 2j, 3 + 7j]
    assert nm.real(c).base is c


def test_conj_of_a_real_array_is_itself():
    for values in ([1.0], [1], [True]):
        x = nm.array(values)
        assert x.conj() is x
    assert nm.array([1 + 2j]).conj().tolist() == [1 - 2j]


def test_nan_to_num_in_place():
    x = nm.array([np.nan, 1.0], requires_grad=True)
    y = x * 1
    assert nm.nan_to_num(y, copy=False, nan=9.0) is y
    assert y.tolist() == [9, 1]
    y.sum().backward()
    assert x.grad.tolist() == [0, 1]
