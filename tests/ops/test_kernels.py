"""Kernels against NumPy, op by op: exact rows equal, rounded ones within their bound."""

import numpy as np
import pytest
from cases import ROWS, numpy_meaning, quiet, samples, wrapped

from numen.compiler import lower
from numen.compiler.host import host_function
from numen.dispatch import modes
from numen.dispatch.core import SCALAR
from numen.namespace.array import Array
from numen.ops import kernels, table
from numen.settings import config
from tolerances import assert_same

KERNEL_DTYPES = ["bool", "int8", "int64", "uint64", "float32", "float64"]
COMPUTED = [name for name in ROWS if name in lower.ELEMENTWISE or name in kernels.OTHERS]
FLOATING = [n for n in COMPUTED if n in kernels.OTHERS or "float64" in lower.ELEMENTWISE[n].dtypes]
NO_KERNEL = [name for name in ROWS if name not in COMPUTED]
EPS = {"float32": 2.0**-23, "float64": 2.0**-52}


def bound(name, args, params, expected):
    """How far a kernel's rounded result may lie from NumPy's, elementwise."""
    eps = EPS.get(np.asarray(expected).dtype.name, 0.0)
    if name in ("sum", "mean"):
        magnitudes = quiet(numpy_meaning(name), np.abs(args[0]), **params)
        return 2 * args[0].size * eps * np.abs(magnitudes)
    if name == "matmul":
        terms = np.matmul(np.abs(args[0]), np.abs(args[1]))
        return 2 * args[0].shape[-1] * eps * terms
    return 4 * eps * np.abs(expected)


def check(name, args, params):
    """Compare a kernel's result, if there is a kernel, with NumPy's; say whether there was one."""
    result = kernels.run(table[name], args, params)
    if result is None:
        return False
    expected = quiet(numpy_meaning(name), *args, **params)
    assert isinstance(result, np.generic) == isinstance(expected, np.generic)
    found, expected = np.asarray(result), np.asarray(expected)
    if table[name].exact or found.dtype.kind != "f":
        assert_same(found, expected)
    else:
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        assert (np.abs(found - expected) <= bound(name, args, params, expected)).all()
    return True


@pytest.mark.parametrize("dtype", KERNEL_DTYPES)
@pytest.mark.parametrize("name", COMPUTED)
def test_kernels_agree_with_numpy(name, dtype):
    chosen = samples(name, dtype)
    for args, params in chosen if dtype.startswith("float") else chosen[:4]:
        try:
            quiet(numpy_meaning(name), *args, **params)
        except Exception:
            assert kernels.run(table[name], args, params) is None
            continue
        check(name, args, params)


@pytest.mark.parametrize("name", FLOATING)
def test_float64_has_a_kernel(name):
    ran = [check(name, args, params) for args, params in samples(name)]
    assert any(ran)


@pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128"])
@pytest.mark.parametrize("name", COMPUTED)
def test_other_dtypes_have_none(name, dtype):
    for args, params in samples(name, dtype):
        computed = dict(params)
        if any(isinstance(a, np.ndarray) and a.dtype == dtype and a.size for a in args):
            assert kernels.run(table[name], args, computed) is None


@pytest.mark.parametrize("name", NO_KERNEL)
def test_moves_are_numpys(name):
    for args, params in samples(name):
        assert kernels.run(table[name], args, params) is None


def base():
    return np.random.default_rng(0).uniform(0.5, 2.0, (6, 5, 4))


LAYOUTS = {
    "contiguous": lambda a: a,
    "fortran": np.asfortranarray,
    "transposed": lambda a: a.transpose(2, 0, 1),
    "strided": lambda a: a[::2, 1:, ::3],
    "reversed": lambda a: a[::-1, :, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:, :1], a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read(layout):
    a = LAYOUTS[layout](base())
    assert check("add", (a, a), {})
    assert check("multiply", (a, 2), {})
    assert check("exp", (a,), {})
    assert check("less", (a, 1.0), {})
    for axis in ((0,), (1, 2), (0, 1, 2)):
        assert check("sum", (a,), {"axis": axis, "keepdims": False})
        assert check("max", (a,), {"axis": axis, "keepdims": True})
    assert check("matmul", (a, a.swapaxes(1, 2)), {})


@pytest.mark.parametrize("layout", ["contiguous", "fortran", "transposed"])
def test_results_have_numpys_memory_order(layout):
    a = LAYOUTS[layout](base())
    for name, args, params in [
        ("add", (a, a), {}),
        ("exp", (a,), {}),
        ("sum", (a,), {"axis": (1,), "keepdims": False}),
    ]:
        expected = np.asarray(numpy_meaning(name)(*args, **params))
        assert kernels.run(table[name], args, params).strides == expected.strides


def test_what_kernels_cannot_read_goes_to_numpy():
    swapped = np.ones(3, ">f8")
    unaligned = np.frombuffer(bytes(25), np.uint8)[1:].view(np.float64)
    for a in (swapped, unaligned, np.ones(0), np.array([None]), np.array(["x"])):
        assert kernels.run(table["add"], (a, a), {}) is None
    with pytest.raises(OverflowError):
        table["add"](Array(np.ones(100_000, np.uint8)), 300)
    big = Array(np.zeros(100_000, np.uint8))
    assert not table["equal"](big, 300)._d.any()
    assert not table["equal"](big, 1 << 70)._d.any()


def test_weak_scalars_are_arguments_of_one_program():
    a = np.linspace(-1, 1, 7, dtype=np.float32)
    for scalar in (0.1, 3, True, -2.5):
        assert check("multiply", (a, scalar), {})
    assert check("add", (np.arange(5, dtype=np.int8), 100), {})


def test_mixed_dtypes_are_cast_in_the_kernel():
    a, b = np.arange(6, dtype=np.int32), np.linspace(0, 1, 6, dtype=np.float32)
    assert check("multiply", (a, b), {})
    assert check("where", (a, b, a), {})
    assert check("sum", (np.ones((3, 4), np.int8),), {"axis": (0,), "keepdims": False})
    assert check("mean", (np.arange(12, dtype=np.uint8),), {"axis": (0,), "keepdims": False})


def test_large_eager_arrays_run_kernels_and_keep_their_gradient(monkeypatch):
    seen = []
    run = kernels.run

    def spy(prim, raw, params):
        result = run(prim, raw, params)
        seen.append((prim.name, result is not None))
        return result

    monkeypatch.setattr("numen.dispatch.primitive.run_kernel", spy)
    data = np.random.default_rng(1).standard_normal(modes.KERNEL_THRESHOLD).astype(np.float32)
    x = Array(data).requires_grad_()
    total = table["tanh"](x * 2.0).sum()
    total.backward()
    assert ("tanh", True) in seen
    assert ("sum", True) in seen
    assert total._v is SCALAR
    assert x.grad.dtype == np.float32
    np.testing.assert_allclose(x.grad._d, 2 / np.cosh(2 * data.astype(float)) ** 2, atol=1e-6)


def test_engine_kernels_computes_small_rounded_ops_with_kernels():
    a = np.linspace(0.1, 5, 11, dtype=np.float32)
    with config(engine="kernels"):
        found = table["exp"](Array(a))._d
    assert_same(found, kernels.run(table["exp"], (a,), {}))


@pytest.mark.parametrize("name", ROWS)
def test_host_calls_are_the_rows(name):
    for args, params in samples(name):
        expected = np.asarray(quiet(table[name], *wrapped(args), **params)._d)
        if name == "setitem":
            path = tuple((step.name, tuple(p.items())) for step, p in params["path"])
            params = {"path": path}
        assert_same(quiet(host_function(name), *args, **params), expected)
