"""Gradients through complex values: functions of the namespace against central differences along
both axes, closed forms and PyTorch, eager and compiled.

The gradient of a real L with respect to z is dL/dRe z + i dL/dIm z.
"""

import re

import numpy as np
import pytest

import numen as nm
from numen.errors import GradientError
from tolerances import assert_close

DIFFERENCES = {"complex128": 1e-6, "float64": 1e-6}
RNG = np.random.default_rng(2)


def around(*shape):
    """Complex numbers away from 0 and from the cuts along the negative axis."""
    return np.asarray(RNG.uniform(0.4, 2.0, shape) * np.exp(1j * RNG.uniform(-2.5, 2.5, shape)))


VALUES = {
    "z": around(3, 4),
    "w": around(3, 4),
    "v": around(5),
    "u": around(5),
    "S": around(4, 4),
    "T": around(2, 3, 4),
    "s": around(),
    "r": RNG.uniform(0.5, 2.0, (3, 4)),
    "t": np.array([0.2, 0.9, 1.4, 2.2, 2.9]),
    "gaps": np.array([1 + 1j, np.nan, 2 - 1j, 3j, 1]),
}
CONSTANTS = {
    "mask": RNG.random((3, 4)) < 0.5,
    "rows": np.array([2, 0, 2]),
    "knots": np.array([0.0, 1.0, 3.0]),
}

POINTWISE = (
    *("z + w", "z - r", "r - z", "z * w", "r * z", "z / w", "z / r", "r / z", "2j / z", "-z"),
    *("z ** 2", "z ** 3", "z ** 0.5", "z ** -1", "z ** w", "r ** z", "z ** r", "2 ** z"),
    *("(-2.0) ** z", "(1 + 1j) ** r", "z ** (1 + 2j)", "np.float_power(r, z)", "np.exp(z)"),
    *("np.exp2(z)", "np.expm1(z)", "np.log(z)", "np.log2(z)", "np.log10(z)", "np.log1p(z)"),
    *("np.sqrt(z)", "np.square(z)", "np.reciprocal(z)", "np.sin(z)", "np.cos(z)", "np.tan(z)"),
    *("np.arcsin(z)", "np.arccos(z)", "np.arctan(z)", "np.sinh(z)", "np.cosh(z)", "np.tanh(z)"),
    *("np.arcsinh(z)", "np.arccosh(z)", "np.arctanh(z)", "np.sinc(z)", "np.abs(z)", "abs(z)"),
    *("np.angle(z)", "np.angle(z, deg=True)", "np.real(z)", "np.imag(z)", "z.real", "z.imag"),
    *("np.conj(z)", "z.conjugate()", "np.sign(z)", "np.round(z, 1)", "np.nan_to_num(z)"),
    *("np.real_if_close(z)", "np.real_if_close(z * np.conj(z))", "np.where(mask, z, r)"),
    *("np.maximum(z, w)", "np.clip(z, 0.5, 1.5)", "np.emath.sqrt(-r)", "np.emath.arcsin(r + 1)"),
    *("np.emath.logn(2, -r)", "np.emath.power(-r, z)", "np.nan_to_num(gaps)"),
)
SUMS = (
    *("np.sum(z)", "np.sum(z, axis=0)", "np.sum(z, where=mask)", "np.sum(r, dtype=complex)"),
    *("np.mean(z)", "np.mean(z, axis=1)", "np.prod(z)", "np.prod(z, axis=0)", "np.var(z)"),
    *("np.var(z, axis=0, ddof=1)", "np.var(z, where=mask)", "np.std(z)", "z.std(axis=1)"),
    *("np.average(z, axis=1, weights=w)", "np.average(z, weights=r)", "np.max(z)", "np.ptp(z)"),
    *("np.median(v)", "np.cumsum(z, axis=1)", "np.cumprod(z, axis=0)", "np.nansum(gaps)"),
    *("np.nanmean(gaps)", "np.nanvar(gaps)", "np.nanprod(gaps)", "np.nanmax(gaps)"),
    *("np.nanmedian(gaps)", "np.nancumsum(gaps)", "np.diff(z, axis=0, n=2)", "np.gradient(v, t)"),
    *("np.trapezoid(v, u)", "np.cov(z)", "np.cov(z, r)", "np.corrcoef(z)", "np.ediff1d(v)"),
    *("np.multiply.reduce(z, axis=1)", "np.add.reduceat(v, [0, 2])", "np.unwrap(np.angle(v))"),
)
PRODUCTS = (
    *("z @ S", "S @ z[0]", "np.dot(v, u)", "np.vdot(z, w)", "np.inner(z, w)", "np.outer(v, t)"),
    *("np.einsum('ij,jk,kl->il', z, S, S)", "np.einsum('ij,ij->', z, r)", "np.einsum('ii->i', S)"),
    *("np.kron(z, w)", "np.tensordot(T, z, ([1, 2], [0, 1]))", "np.vecdot(z, w)", "np.trace(S)"),
    *("np.convolve(v, u)", "np.convolve(v, t, 'valid')", "np.correlate(v, u, 'full')"),
    *("np.cross(T[:, :, 0], T[:, :, 1])", "np.polyval(v, u)", "np.polymul(v, t)", "np.vander(v)"),
    *("np.interp(t, knots, v[:3])", "np.interp(t, knots, u[:3], left=1j)"),
)
MOVES = (
    *("z[1]", "z[:, ::2]", "z[rows]", "z[mask]", "z[rows, rows]", "np.take(z, rows, axis=0)"),
    *("np.concatenate([z, r])", "np.stack([r, z], 1)", "np.block([[z, w], [r, z]])", "np.tril(S)"),
    *("np.select([mask, ~mask], [z, r])", "np.diag(v)", "np.broadcast_to(v, (3, 5))", "z.T"),
    *("np.tile(v, 2)", "np.repeat(v, 2)", "np.roll(v, 2)", "np.flip(v)", "np.pad(v, 2)"),
    *("np.pad(v, 1, constant_values=s)", "np.sort(z, axis=0)", "np.partition(v, 2)"),
    *("np.sort_complex(v)", "np.sort_complex(t)", "r.astype(complex)", "z.view(float)"),
    *("np.ascontiguousarray(z.T)", "np.insert(v, 1, s)", "np.append(v, t)", "np.meshgrid(v, v)[1]"),
)
ALL = (*POINTWISE, *SUMS, *PRODUCTS, *MOVES)


def names_in(text):
    return [n for n in VALUES if re.search(rf"(?<![\w.'\"]){n}(?![\w'\"(=])", text)]


def evaluate(text, module, values):
    with np.errstate(invalid="ignore"):
        return eval(text, {"np": module, **CONSTANTS, **values})


def weight_of(shape, dtype):
    rng = np.random.default_rng(7)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(dtype)


def inner(weight, values):
    """The real number whose gradient with respect to the values is the weight."""
    return float(np.sum((np.conj(weight) * values).real))


def numeric_gradient(function, values, name, step=1e-6):
    base = values[name]
    result = np.zeros_like(base)
    for at in np.ndindex(base.shape):
        for axis in (1, 1j) if base.dtype.kind == "c" else (1,):
            ends = []
            for signed in (step, -step):
                moved = base.copy()
                moved[at] += signed * axis
                ends.append(function({**values, name: moved}))
            result[at] += axis * (ends[0] - ends[1]) / (2 * step)
    return result


@pytest.mark.parametrize("text", ALL)
def test_gradients_are_those_of_differences(text):
    values = {name: VALUES[name] for name in names_in(text)}
    leaves = {name: nm.array(a, requires_grad=True) for name, a in values.items()}
    expected = evaluate(text, np, values)
    found = evaluate(text, nm, leaves)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-10, atol=1e-10)
    weight = weight_of(expected.shape, expected.dtype)
    found.backward(nm.array(weight))

    def total(changed):
        return inner(weight, evaluate(text, np, changed))

    for name, leaf in leaves.items():
        assert leaf.grad.dtype == leaf.dtype
        numeric = numeric_gradient(total, values, name)
        known = np.isfinite(numeric)  # a NaN that was given stays one
        assert_close(leaf.grad.numpy()[known], numeric[known], table=DIFFERENCES)


@pytest.mark.parametrize("text", ALL)
def test_compiled_gradients_are_the_eager_ones(text):
    names = names_in(text)

    def total(*arrays):
        out = evaluate(text, nm, dict(zip(names, arrays, strict=True)))
        weight = nm.array(weight_of(out.shape, out.dtype))
        return nm.sum(nm.real(nm.conj(weight) * out))

    function = nm.value_and_grad(total, tuple(range(len(names))))
    arrays = [nm.array(VALUES[name]) for name in names]
    with nm.config(engine="kernels"):
        value, gradients = function(*arrays)
    compiled = nm.jit(function)
    for _ in range(3):
        again, found = compiled(*arrays)
    np.testing.assert_array_equal(again.numpy(), value.numpy(), strict=True)
    for f, g in zip(found, gradients, strict=True):
        np.testing.assert_array_equal(f.numpy(), g.numpy(), strict=True)


# ------------------------------------------------------------ PyTorch

TORCH = (
    *(("z + w", "z + w"), ("z * w", "z * w"), ("r * z", "r * z"), ("r / z", "r / z")),
    *(("z - r", "z - r"), ("z / w", "z / w"), ("-z", "-z"), ("z ** 2", "z ** 2")),
    *(("z ** 3", "z ** 3"), ("z ** w", "z ** w"), ("r ** z", "r ** z"), ("z ** r", "z ** r")),
    *(("2 ** z", "2 ** z"), ("z ** 0.5", "z ** 0.5"), ("1 / z", "1 / z")),
    *(("np.exp(z)", "z.exp()"), ("np.expm1(z)", "z.expm1()"), ("np.log(z)", "z.log()")),
    *(("np.log2(z)", "z.log2()"), ("np.log10(z)", "z.log10()"), ("np.log1p(z)", "z.log1p()")),
    *(("np.sqrt(z)", "z.sqrt()"), ("np.square(z)", "z.square()"), ("np.sin(z)", "z.sin()")),
    *(("np.reciprocal(z)", "z.reciprocal()"), ("np.cos(z)", "z.cos()"), ("np.tan(z)", "z.tan()")),
    *(("np.arcsin(z)", "z.asin()"), ("np.arccos(z)", "z.acos()"), ("np.arctan(z)", "z.atan()")),
    *(("np.sinh(z)", "z.sinh()"), ("np.cosh(z)", "z.cosh()"), ("np.tanh(z)", "z.tanh()")),
    *(("np.arcsinh(z)", "z.asinh()"), ("np.arccosh(z)", "z.acosh()")),
    *(("np.arctanh(z)", "z.atanh()"), ("np.sign(z)", "z.sgn()"), ("np.abs(z)", "z.abs()")),
    *(("np.angle(z)", "z.angle()"), ("np.real(z)", "z.real"), ("np.imag(z)", "z.imag")),
    *(("np.conj(z)", "z.conj()"), ("np.where(mask, z, w)", "torch.where(mask, z, w)")),
    *(("np.sum(z)", "z.sum()"), ("np.sum(z, axis=0)", "z.sum(0)"), ("np.mean(z)", "z.mean()")),
    *(("np.mean(z, axis=1)", "z.mean(1)"), ("np.prod(z)", "z.prod()")),
    *(("np.prod(z, axis=0)", "z.prod(0)"), ("np.cumsum(z, axis=1)", "z.cumsum(1)")),
    *(("np.cumprod(z, axis=0)", "z.cumprod(0)"), ("np.var(z)", "z.var(correction=0)")),
    *(("np.var(z, axis=0, ddof=1)", "z.var(0)"), ("np.std(z, axis=1)", "z.std(1, correction=0)")),
    *(("z @ S", "z @ S"), ("S @ z[0]", "S @ z[0]"), ("np.vdot(v, u)", "torch.vdot(v, u)")),
    *(("np.dot(v, u)", "torch.dot(v, u)"), ("np.outer(v, u)", "torch.outer(v, u)")),
    *(("np.einsum('ij,jk->ik', z, S)", "torch.einsum('ij,jk->ik', z, S)"),),
    *(("np.einsum('ij,ij->', z, w)", "torch.einsum('ij,ij->', z, w)"),),
    *(("np.kron(z, w)", "torch.kron(z, w)"), ("np.tensordot(z, S, 1)", "torch.tensordot(z, S, 1)")),
    *(("np.inner(z, w)", "torch.inner(z, w)"), ("np.vecdot(z, w)", "torch.linalg.vecdot(z, w)")),
    *(("np.trace(S)", "S.trace()"), ("z[:, ::2]", "z[:, ::2]"), ("z[rows]", "z[rows]")),
    *(("np.concatenate([z, w])", "torch.cat([z, w])"), ("np.stack([z, w])", "torch.stack([z, w])")),
    *(("np.tril(S)", "S.tril()"), ("np.diag(v)", "torch.diag(v)"), ("np.flip(v)", "v.flip(0)")),
    *(("np.roll(v, 2)", "v.roll(2)"), ("np.diff(v)", "torch.diff(v)"), ("z.T", "z.T")),
    *(("r.astype(complex)", "r.to(torch.complex128)"), ("np.sinc(z)", "torch.sinc(z)")),
    *(("z.view(float)", "torch.view_as_real(z).reshape(3, 8)"),),
    *(
        ("np.trapezoid(v)", "torch.trapezoid(v)"),
        ("np.pad(v, 2)", "torch.nn.functional.pad(v, (2, 2))"),
    ),
    *(("np.linalg.norm(z)", "torch.linalg.vector_norm(z)"),),
)


@pytest.mark.parametrize(("text", "theirs"), TORCH, ids=[a for a, _ in TORCH])
def test_gradients_are_pytorchs(text, theirs):
    torch = pytest.importorskip("torch")
    values = {name: VALUES[name] for name in names_in(text)}
    leaves = {name: nm.array(a, requires_grad=True) for name, a in values.items()}
    tensors = {name: torch.tensor(a, requires_grad=True) for name, a in values.items()}
    found = evaluate(text, nm, leaves)
    constants = {name: torch.tensor(a) for name, a in CONSTANTS.items()}
    expected = eval(theirs, {"torch": torch, **constants, **tensors})
    weight = weight_of(found.shape, found.dtype)
    found.backward(nm.array(weight))
    expected.backward(torch.tensor(weight))
    for name, leaf in leaves.items():
        assert_close(leaf.grad.numpy(), tensors[name].grad.resolve_conj().numpy(), 10)


# ------------------------------------------------------------ closed forms


def test_a_square_and_its_gradients():
    # L = |z|^2 has gradient 2 z; L = |z|^4 has 4 |z|^2 z, and along t 8 Re(conj(z) t) z + 4 |z|^2 t
    z, t = nm.array([1 + 2j, -0.5j]), np.array([0.3 - 1j, 2.0])
    square = nm.grad(lambda a: (nm.abs(a) ** 2).sum())
    np.testing.assert_allclose(square(z).numpy(), 2 * z.numpy())

    def along(a):
        slope = nm.grad(lambda b: (nm.real(b * nm.conj(b)) ** 2).sum())(a)
        return nm.real(slope * nm.array(t.conj())).sum()

    a = z.numpy()
    size = np.abs(a) ** 2
    expected = 8 * (a.conj() * t).real * a + 4 * size * t
    np.testing.assert_allclose(nm.grad(along)(z).numpy(), expected)


def test_the_parts_of_an_analytic_function():
    # Re f has gradient conj(f'), Im f has i conj(f')
    z = nm.array([0.3 + 1j, -1 - 0.2j])
    slope = np.conj(np.exp(z.numpy()))
    across = nm.grad(lambda a: nm.exp(a).real.sum())(z)
    up = nm.grad(lambda a: nm.exp(a).imag.sum())(z)
    np.testing.assert_allclose(across.numpy(), slope)
    np.testing.assert_allclose(up.numpy(), 1j * slope)


@pytest.mark.parametrize("function", [nm.abs, nm.sign], ids=["abs", "sign"])
def test_nothing_comes_back_at_the_origin(function):
    z = nm.array([0j, 3 + 4j], requires_grad=True)
    function(z).backward(nm.array([1.0, 0.0]))
    assert z.grad.tolist() == [0, 0]


def test_powers_of_zero():
    z = nm.array([0j, 0j, 1j], requires_grad=True)
    (z**3 + z**1 + z**0).backward(nm.array([1, 1j, 1]))
    assert z.grad.tolist() == [1, 1j, -2]
    k = nm.array([2.0, 3.0], requires_grad=True)
    (nm.array([0j, 1j]) ** k).backward(nm.array([1.0, 1.0]))
    np.testing.assert_allclose(k.grad.numpy(), [0, np.pi / 2], atol=1e-15)  # i**3 log(i)


def test_a_real_argument_gets_the_real_part():
    x = nm.array([1.0, 2.0], requires_grad=True)
    y = x * nm.array([1 + 1j, 2 - 3j]) + 1j * x
    y.backward(nm.array([1.0, 1j]))
    # conj(1 + 2j) and conj(2 - 2j) i
    assert x.grad.dtype == np.float64
    assert x.grad.tolist() == [1.0, -2.0]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_gradients_have_the_dtype_of_the_leaf(dtype):
    z = nm.array([1 + 2j, 3j], dtype=dtype, requires_grad=True)
    x = nm.array([1.0, 2.0], dtype="float32", requires_grad=True)
    for _ in range(2):
        nm.abs(z * x).sum().backward()
    assert z.grad.dtype == dtype
    assert x.grad.dtype == np.float32
    size = np.abs(z.detach().numpy())
    np.testing.assert_allclose(x.grad.numpy(), 2 * size, rtol=1e-6)
    np.testing.assert_allclose(z.grad.numpy(), [2 * (1 + 2j) / 5**0.5, 4j], rtol=1e-6)


def test_casts_between_real_and_complex():
    x = nm.array([1.0, 2.0], requires_grad=True)
    x.astype(np.complex64).backward(nm.array([1 + 2j, 3 + 4j]))
    assert x.grad.tolist() == [1.0, 3.0]
    z = nm.array([1 + 2j], requires_grad=True)
    with pytest.warns(np.exceptions.ComplexWarning):
        y = z.astype(np.float32)  # NumPy's warning of the value, none of the gradient
    y.backward(nm.array([3.0]))
    assert z.grad.tolist() == [3 + 0j]


# ------------------------------------------------------------ writes and views


def test_writes_through_the_parts():
    z = nm.array([1 + 2j, 3 + 4j], requires_grad=True)
    x = nm.array([5.0, 6.0], requires_grad=True)
    y = z * 1j
    y.real = x  # y = x + i Re z
    y.imag[0] *= 2
    assert y.tolist() == [5 + 2j, 6 + 3j]
    y.backward(nm.array([1 + 10j, 2 + 20j]))
    assert x.grad.tolist() == [1.0, 2.0]
    assert z.grad.tolist() == [20 + 0j, 20 + 0j]


def test_real_values_written_into_complex_arrays():
    x = nm.array([1.0, 2.0], requires_grad=True)
    z = nm.zeros(3, dtype=complex)
    z[:2] = x
    z[np.array([2, 0])] = x * 1j
    z *= 1 + 1j
    z.backward(nm.array([1.0, 1.0, 1.0]))
    # z = (i x1, x1, i x0) (1 + i): Re = (-x1, x1, -x0)
    assert x.grad.tolist() == [-1.0, 0.0]


def test_views_of_the_parts_share_the_gradient():
    z = nm.array([1 + 2j, 3 + 4j], requires_grad=True)
    (z.real * z.imag).sum().backward()
    assert z.grad.tolist() == [2 + 1j, 4 + 3j]


# ------------------------------------------------------------ what starts and what comes out


def test_cotangents_of_any_direction():
    z = nm.array([1 + 2j, 3j])
    value, pull = nm.vjp(lambda a: a * a, z)
    assert value.tolist() == (z.numpy() ** 2).tolist()
    (g,) = pull(nm.array([1j, 1]))
    np.testing.assert_allclose(g.numpy(), np.array([1j, 1]) * 2 * z.numpy().conj())
    (g,) = pull(np.array([1.0, 2.0]))  # a real cotangent is a complex one
    assert g.dtype == np.complex128
    (g,) = nm.vjp(lambda a: a, z)[1](np.array([1.0, 2.0]))
    assert g.dtype == np.complex128


def test_gradients_by_mixed_arguments():
    f = nm.value_and_grad(lambda z, x: nm.abs(z * x).sum(), (0, 1))
    value, (gz, gx) = f(nm.array([3 + 4j]), nm.array([2.0]))
    assert float(value) == 10.0
    np.testing.assert_allclose(gz.numpy(), [2 * (0.6 + 0.8j)])
    assert gx.tolist() == [5.0]


def test_a_complex_result_starts_no_gradient():
    z = nm.array([1 + 2j], requires_grad=True)
    with pytest.raises(GradientError, match="real element"):
        (z * z).backward()
    with pytest.raises(GradientError, match="real array of one element"):
        nm.grad(lambda a: (a * a).sum())(nm.array([1 + 2j]))
    with pytest.raises(GradientError, match="complex cotangent"):
        nm.abs(z).backward(nm.array([1j]))


def test_descent_along_the_gradient():
    # the least squares problem |A x - b|^2 with complex unknowns
    a, b = nm.array(VALUES["T"].reshape(6, 4)), nm.array(around(6))
    x = nm.zeros(4, dtype=complex)
    slope = nm.grad(lambda x: (nm.abs(a @ x - b) ** 2).sum())
    step = 1 / (2 * np.linalg.norm(a.numpy(), 2) ** 2)
    for _ in range(3000):
        x = x - step * slope(x)
    exact = np.linalg.lstsq(a.numpy(), b.numpy(), rcond=None)[0]
    np.testing.assert_allclose(x.numpy(), exact, atol=1e-5)
