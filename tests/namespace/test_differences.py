"""diff, gradient, trapezoid, unwrap, interp: NumPy's values, gradients, and jit."""

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

EXPRESSIONS = """np.diff(y)
np.diff(x)
np.diff(i,axis=0)
np.diff(i,n=2)
np.diff(y,0) is y
np.diff(y,-1)
np.diff(3)
np.diff(y,prepend=0)
np.diff(y,append=[1,2])
np.diff(y,1,-1,0,9)
np.diff(f,prepend=np.zeros((3,1)),append=5)
np.diff(m)
np.diff(f,axis=2)
np.diff(y,n=7)
np.diff(np.array(['2020','2021'],'M8[D]'))
np.diff(f,axis=0,prepend=y[None])
np.diff([1,2,4])
np.diff(y,1.5)
np.diff('a')
np.ediff1d(y)
np.ediff1d(f)
np.ediff1d(y,5,[1,2])
np.ediff1d(i,to_end=1.5)
np.ediff1d(i,to_begin=-99)
np.ediff1d([1])
np.ediff1d([])
np.ediff1d(m)
np.ediff1d(3)
np.ediff1d([1,2,4],to_end=[[1,2]])
np.gradient(f)
np.gradient(y)
np.gradient(y,2)
np.gradient(y,[0,1,4])
np.gradient(f,axis=0)
np.gradient(f,2,3)
np.gradient(f,y,[0,2,3],edge_order=2)
np.gradient(f,edge_order=2)
np.gradient(f,edge_order=3)
np.gradient(f,1,2,3)
np.gradient(f,[1,2])
np.gradient(3)
np.gradient([1])
np.gradient(i)
np.gradient(f,axis=(0,1))
np.gradient(f,2.,axis=(1,0))
np.gradient(f.astype('f'))
np.gradient(c)
np.gradient(f,axis=5)
np.gradient(np.array(['2020','2022','2023'],'M8[D]'))
np.gradient(f,[[1]],1)
np.gradient(y,edge_order=2)
np.gradient([1,2,4])
np.gradient(m)
np.trapezoid(y)
np.trapezoid(f)
np.trapezoid(f,axis=0)
np.trapezoid(f,dx=.5)
np.trapezoid(f,y)
np.trapezoid(f,f*2,axis=0)
np.trapezoid(i)
np.trapezoid(c)
np.trapezoid(3)
np.trapezoid(f,[1,2])
np.trapezoid([1,2,3],x=[4,6,8])
np.trapezoid(f,axis=3)
np.unwrap(f)
np.unwrap([0,1,2,-1,0],period=4)
np.unwrap(f*3,discont=4)
np.unwrap(f*3,axis=0)
np.unwrap(i*5)
np.unwrap(f*4,period=3.5)
np.unwrap(y[:1])
np.unwrap(3)
np.unwrap([2,3,4,5,2,3,4,5], period=4)
np.unwrap(c)
np.interp(2.5,[1,2,3],[3,2,0])
np.interp([0,1,1.5,2.72,3.14],[1,2,3],[3,2,0])
np.interp(y,[1,2,3],[3,2,0],left=-1,right=9)
np.interp(f,[1,2,3],[3j,2,0])
np.interp([-180,-170,-185,185,-10,-5,0,365],[190,-190,350,-350],[5,10,3,4],period=360)
np.interp(y,[1,2],[1])
np.interp(y,[],[])
np.interp(y,[1],[5])
np.interp(np.nan,[1,2],[1,2])
np.interp(1,[1,2],[1,2],period=0)
np.interp(1,[[1,2]],[[1,2]])
np.interp(1.5,[1,1,2],[0,5,6])
np.interp('a',[1],[2])
np.interp(1,[1,2],['a','b'])""".splitlines()

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=4)
X = np.sort(RNG.normal(size=6))
Y = RNG.normal(size=6)

FUNCTIONS = {
    "diff": (lambda m, a: m.diff(a, 2, prepend=0), A),
    "diff, joined": (lambda m, a, b: m.diff(a, axis=0, append=b[None]), A, B),
    "ediff1d": (lambda m, a, b: m.ediff1d(a, b, [1]), A, B),
    "gradient": (lambda m, a: m.gradient(a), A),
    "gradient, spaced": (lambda m, a: m.gradient(a, 2.0, 3.0, edge_order=2), A),
    "gradient at places": (
        lambda m, a, b: m.gradient(a, b, axis=1, edge_order=2),
        A,
        np.sort(B),
    ),
    "trapezoid": (lambda m, a, b: m.trapezoid(a, b), A, B),
    "trapezoid, spaced": (lambda m, a: m.trapezoid(a, axis=0, dx=0.3), A),
    "unwrap": (lambda m, a: m.unwrap(a * 6), A),
    "interp": (lambda m, a, x, y: m.interp(a, x, y), A, X, Y),
    "interp, ends": (lambda m, a, x, y: m.interp(a, x, y, left=3.0, right=2.0), A, X, Y),
    "interp, period": (lambda m, a, x, y: m.interp(a, x, y, period=1.3), A, X * 0.3, Y),
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
