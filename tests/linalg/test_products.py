"""dot, tensordot, kron, cross and their kin: NumPy's values, and gradients."""

import numpy as np
import pytest
from recorded import check_recorded, uniform
from same_source import compare

import numen as nm
from numen.errors import GradientError

SHAPES = [
    ((), ()), ((), (3,)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)),
    ((2, 3), (3, 4)), ((2, 4, 3), (3,)), ((2, 4, 3), (3, 2)), ((2, 3), (4, 3, 2)),
    ((3,), (4, 3, 2)), ((2, 4, 3), (5, 3, 2)), ((0,), (0,)), ((2, 0), (0, 3)), ((0, 3), (3, 1)),
    ((1, 1), (1, 1)), ((2, 3), (2, 3)), ((2,), (3,)),
]  # fmt: skip
DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"]
BINARY = ["dot", "vdot", "inner", "outer", "kron"]


def arrays(a, b, dtype):
    return (
        f"a = (np.arange({np.prod(a, dtype=int)}) % 5).astype(np.{dtype}).reshape({a})\n"
        f"b = (np.arange({np.prod(b, dtype=int)}) % 3).astype(np.{dtype}).reshape({b})\n"
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_products_over_shapes_and_dtypes(name, dtype):
    for a, b in SHAPES:
        compare(arrays(a, b, dtype) + f"r = np.{name}(a, b)")


@pytest.mark.parametrize(
    "text",
    [
        "np.tensordot(np.ones((2, 3, 4)), np.ones((3, 4, 5)))",
        "np.tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), axes=([1, 2], [1, 0]))",
        "np.tensordot(np.ones((2, 3)), np.ones((3, 2)), 1)",
        "np.tensordot(np.arange(3), np.arange(2), 0)",
        "np.tensordot(np.arange(3), np.arange(3), axes=(0, 0))",
        "np.tensordot(np.ones((2, 3)), np.ones((2, 3)), axes=((0, 1), (0, 1)))",
        "np.tensordot(np.ones((2, 3)), np.ones((2, 3)), axes=1)",
        "np.tensordot(np.ones((2, 3)), np.ones((2, 3)), axes=((0,), (0, 1)))",
        "np.tensordot(np.ones((2, 3)), np.ones((2, 3)), axes=((5,), (0,)))",
        "np.cross([1, 2, 3], [4, 5, 6])",
        "np.cross(np.ones((4, 3)), np.arange(3))",
        "np.cross(np.arange(6).reshape(3, 2), np.ones((3, 2)), axis=0)",
        "np.cross(np.arange(6.).reshape(3, 2), np.ones((2, 3)), axisa=0, axisc=0)",
        "np.cross([1, 2], [3, 4])",
        "np.cross([1, 2, 3, 4], [3, 4, 5, 6])",
        "np.cross(1, [1, 2, 3])",
        "np.kron(np.ones((2, 1, 2)), np.arange(6).reshape(2, 3))",
        "np.dot(3, [1, 2])", "np.dot(2.5, 4)", "np.dot([1, 2], [[1], [2]])",
        "np.outer([1, 2], [3], out=np.zeros((2, 1), int))",
        "np.vdot([1 + 2j, 3], [1j, 2])", "np.inner(2, [1, 2])", "np.dot('a', [1, 2])",
    ],
)  # fmt: skip
def test_forms(text):
    compare(text)


def test_out_is_returned():
    for good in ("np.zeros((2, 2))", "np.zeros((2, 2), np.float32)", "np.zeros((2, 3))"):
        compare(f"o = {good}\nr = np.dot(np.eye(2), np.ones((2, 2)), out=o)")
    out = nm.zeros((2, 2))
    assert nm.dot(nm.eye(2), nm.ones((2, 2)), out) is out
    x = nm.ones((2, 2), requires_grad=True)
    assert nm.dot(nm.eye(2), x, out) is out
    out.sum().backward()
    assert x.grad.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        *[("np.dot(a, b)", pair) for pair in SHAPES[:12]],
        ("np.dot(a, b)", ((2, 0), (0, 3))),
        ("np.vdot(a, b)", ((2, 3), (3, 2))), ("np.vdot(a, b)", ((4,), (4,))),
        ("np.inner(a, b)", ((2, 3), (4, 3))), ("np.inner(a, b)", ((3,), (3,))),
        ("np.inner(a, b)", ((), (3,))), ("np.inner(a, b)", ((2, 2, 3), (3,))),
        ("np.outer(a, b)", ((2, 2), (3,))), ("np.outer(a, b)", ((), ())),
        ("np.tensordot(a, b)", ((2, 3, 4), (3, 4, 2))),
        ("np.tensordot(a, b, axes=([0, 2], [1, 0]))", ((2, 3, 4), (4, 2))),
        ("np.tensordot(a, b, 0)", ((2,), (3,))),
        ("np.tensordot(a, b, axes=((0, -1), (0, -1)))", ((2, 3), (2, 3))),
        ("np.kron(a, b)", ((2, 2), (3, 2))), ("np.kron(a, b)", ((2,), (2, 1, 3))),
        ("np.kron(a, b)", ((), (2,))),
        ("np.cross(a, b)", ((2, 3), (3,))), ("np.cross(a, b, axis=0)", ((3, 2), (3, 2))),
        ("np.cross(a, b, axisa=0, axisc=0)", ((3, 2), (2, 3))),
        ("np.dot(a, 2.0) + b", ((3,), (3,))), ("np.convolve(a, b)", ((5,), (3,))),
        ("np.convolve(a, b, 'same')", ((2,), (4,))), ("np.convolve(a, b, 'valid')", ((5,), (3,))),
        ("np.correlate(a, b)", ((5,), (3,))), ("np.correlate(a, b, 'same')", ((4,), (5,))),
        ("np.correlate(a, b, 'full')", ((3,), (5,))), ("np.convolve(a, b)", ((), (3,))),
    ],
)  # fmt: skip
def test_gradients(text, shapes):
    a, b = shapes
    check_recorded(text, step=0.5, a=uniform(*a), b=uniform(*b, seed=2))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_every_length_and_mode_of_filters(mode):
    for n in range(1, 6):
        for m in range(1, 6):
            a, v = uniform(n), uniform(m, seed=3)
            for name in ("convolve", "correlate"):
                compare(f"r = np.{name}(np.arange({n}) - 1.5, np.arange({m}) + 1, {mode!r})")
                x = nm.array(a, requires_grad=True)
                found = getattr(nm, name)(x, v, mode).detach().numpy()
                np.testing.assert_allclose(found, getattr(np, name)(a, v, mode), atol=1e-14)


@pytest.mark.parametrize(
    "text",
    ["np.convolve([], [1])", "np.convolve(np.ones((2, 2)), [1])", "np.convolve([1], [1], 'odd')"]
    + ["np.correlate([], [1])", "np.correlate([1, 2], [1], 'odd')", "np.convolve([1, 2], 1)"]
    + ["np.correlate([1j, 2], [1j, 1, 0], 'full')", "np.convolve([True, True], [True, False])"],
)
def test_filters_edges(text):
    compare(text)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: nm.dot(x, nm.ones(4)), ValueError),
        (lambda x: nm.vdot(x, nm.ones(4)), ValueError),
        (lambda x: nm.inner(x, nm.ones(4)), ValueError),
        (lambda x: nm.tensordot(x, nm.ones(4), 1), ValueError),
        (lambda x: nm.convolve(x.reshape(1, 3), nm.ones(4)), ValueError),
        (lambda x: nm.cross(x, nm.ones(4)), ValueError),
        (lambda x: nm.correlate(x, nm.ones(2), "odd"), ValueError),
    ],
)
def test_recorded_calls_raise_numpys_classes(call, error):
    with pytest.raises(error):
        call(nm.ones(3, requires_grad=True))


def test_second_derivatives_of_a_convolution():
    x = nm.array([1.0, 2.0, 3.0])
    hessian_diagonal = nm.grad(lambda v: nm.grad(lambda u: (nm.convolve(u, u) ** 2).sum())(v).sum())
    step = 1e-4

    def slope(v):
        u = nm.array(v, requires_grad=True)
        (nm.convolve(u, u) ** 2).sum().backward()
        return u.grad.numpy().sum()

    found = hessian_diagonal(x).numpy()
    for i in range(3):
        d = step * np.eye(3)[i]
        expected = (slope(x.numpy() + d) - slope(x.numpy() - d)) / (2 * step)
        assert abs(found[i] - expected) < 1e-5 * abs(expected)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    for m in ("0", "1", "2", "5", "8", "-1", "4.5"):
        compare(f"np.{name}({m})")
    compare(f"np.{name}(np.array(5))")


def test_kaiser():
    for text in ("np.kaiser(5, 14)", "np.kaiser(1, 0)", "np.kaiser(0, 1.)", "np.kaiser(4, beta=2)"):
        compare(text)


def test_a_window_of_a_gradient_has_none():
    beta = nm.array(2.0, requires_grad=True)
    with pytest.raises(GradientError, match="kaiser"):
        nm.kaiser(5, beta).sum().backward()
