"""Forms at the edges give NumPy's result or error, plain, with a gradient and in a trace."""

import numpy as np
import pytest

import numen as nm
from numen.dispatch.core import SCALAR

FORMS = [
    # NumPy flattens 0-d arrays whatever the axis
    "np.take(z, [0, -1, 0], axis=-1)",
    "np.cumsum(z, axis=0)",
    "np.argsort(z, axis=-1)",
    "np.argpartition(z, 0, axis=0)",
    "np.compress([True], z, axis=0)",
    "np.sum(z, axis=0)",
    "np.max(z, axis=-1, keepdims=True)",
    "np.argmax(z, axis=0)",
    "np.all(z, axis=0)",
    # what NumPy refuses
    "np.sum(z, axis=(0,))",
    "np.mean(z, axis=0)",
    "np.argmax(x, axis=(0,))",
    "np.cumsum(m, axis=(0, 1))",
    "np.concatenate([x, x], axis=(0,))",
    "np.stack([x, x], axis=None)",
    "np.sort(m, axis=(0, 1))",
    "np.repeat(z, 2, axis=())",
    "np.correlate(z, z)",
    "np.average(x, weights=x * 0)",
    "np.average(e, axis=())",
    "np.cov(x, dtype=np.int64)",
    "np.interp(x * 1j, [1.0, 2.0], [0.0, 1.0])",
    "np.insert(u, 0, -1)",
    "np.choose([0, 2], [x, x])",
    # dtypes, layouts, scalars
    "np.choose([0, 1, 0], [2, f])",
    "np.clip(np.array(True), 3, f)",
    "np.vander(f)",
    "np.round(np.array(11), 1)",
    "np.max(u[:0], axis=None, initial=0, where=u[:0] > 0)",
    "np.histogram2d(f, f, bins=2, weights=f)[0]",
    "np.quantile(m, [0.1, 0.9], axis=-1, method='lower').flags.c_contiguous",
    "np.nanmedian(x)",
    "np.nanquantile(m, 0.5, axis=1)",
    "np.cov(e)",
    "np.take(x, [5, -7], mode='wrap')",
    "np.put_along_axis(x * 1, np.array([0]), 1.5, 0)",
]


def results(text, names):
    try:
        found = eval(text, dict(names))
    except Exception as error:
        return type(error)
    return found


def arrays():
    return {
        "z": np.array(2.5),
        "x": np.array([1.5, 2.5, 0.5]),
        "f": np.array([1.5, 2.5, 0.5], np.float32),
        "m": np.arange(6.0).reshape(2, 3),
        "e": np.zeros(0),
        "u": np.arange(3, dtype=np.uint8),
    }


def same(found, expected):
    if isinstance(expected, type):
        assert isinstance(found, type), f"raises {expected}, gave {found!r}"
        assert issubclass(found, expected)
        return
    assert not isinstance(found, type), f"raised {found}, gives {expected!r}"
    if not isinstance(expected, (np.ndarray, np.generic)):
        assert found == expected
        return
    assert found._d.dtype == expected.dtype
    assert found._d.shape == expected.shape
    assert (found._v is SCALAR) == isinstance(expected, np.generic)
    np.testing.assert_allclose(found._d, expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", FORMS)
def test_every_way_gives_what_numpy_gives(text):
    given = arrays()
    expected = results(text, {"np": np, **given})
    same(results(text, {"np": nm, **{k: nm.array(v) for k, v in given.items()}}), expected)
    leaves = {k: nm.array(v, requires_grad=v.dtype.kind == "f") for k, v in given.items()}
    same(results(text, {"np": nm, **{k: v * 1 for k, v in leaves.items()}}), expected)

    @nm.jit
    def traced(**names):
        return eval(text, {"np": nm, **names})

    for _ in range(3):
        try:
            found = traced(**{k: nm.array(v) for k, v in given.items()})
        except Exception as error:
            found = type(error)
        same(found, expected)


WRITES = [
    "nm.add(y, 1.5, out=i)",
    "nm.minimum(y, x, out=i, where=x > 0)",
    "i.__iadd__(1.5)",
    "i.__iadd__(y)",
    "i.__ior__(y)",
    "nm.sqrt(y, out=i)",
    "nm.add.at(i, [0, 9], 1.5)",
    "nm.putmask(i, i > 0, y)",
    "x.T.__setitem__(7, 2)",
    "nm.broadcast_to(x, (2, 3)).__setitem__(7, 2)",
]


class NumPy:
    def __getattr__(self, name):
        return getattr(np, name)


@pytest.mark.parametrize("text", WRITES)
@pytest.mark.parametrize("engine", ["auto", "numpy", "kernels"])
def test_refused_writes_raise_what_numpy_raises(text, engine):
    def raised(module, gradient):
        x, y = module.array([1.0, 2.0, 3.0]), module.array([0.5, 1.5])
        if gradient:
            y = y.requires_grad_() * 1
        try:
            eval(text, {"nm": module, "x": x, "y": y, "i": module.array([1, 2, 3])})
        except Exception as error:
            return type(error)
        return None

    expected = raised(NumPy(), False)
    assert expected is not None
    for gradient in (False, True):
        with nm.config(engine=engine):
            found = raised(nm, gradient)
        assert found is not None and issubclass(found, (expected, nm.errors.GradientError))


def test_scalars_are_scalars_to_numpys_functions():
    x = nm.array([1.5])[0]
    x.fill(3)
    nm.put(x, [0], 3)
    assert x == 1.5
    with pytest.raises(np.exceptions.AxisError):
        x.sort()
    ints = nm.arange(3)
    nm.putmask(ints, ints > 0, nm.array([2.5])[0])
    assert ints.tolist() == [0, 2, 2]
    for engine in ("auto", "numpy"):
        with nm.config(engine=engine):
            assert nm.array([-np.inf])[0] ** 0.5 == np.float64(-np.inf) ** 0.5
            with pytest.raises(TypeError):
                x @ x


def test_an_output_by_position_is_seen_as_written():
    x = nm.array([1.0, 2.0], requires_grad=True)
    kept = nm.array([3.0, 4.0])
    product = x * kept
    nm.cumsum(nm.array([1.0, 1.0]), 0, None, kept)
    with pytest.raises(nm.errors.GradientError):
        product.sum().backward()


@pytest.mark.parametrize("engine", ["numpy", "kernels"])
def test_places_are_laid_out_in_c_order(engine):
    x = nm.array(np.asfortranarray(np.random.default_rng(0).standard_normal((4, 5, 6))))
    with nm.config(engine=engine):
        for keepdims in (False, True):
            found = x.argmax(axis=0, keepdims=keepdims)
            assert found.flags.c_contiguous


def test_products_of_rows_and_columns_have_numpys_bits():
    rng = np.random.default_rng(0)
    for _ in range(400):
        m, k, n = rng.integers(1, 20, 3)
        a, b = rng.standard_normal((1, k)), rng.standard_normal((n, k)).T
        assert (nm.array(a) @ nm.array(b)).tobytes() == (a @ b).tobytes()
        c = rng.standard_normal((m, k))
        assert (nm.array(c) @ nm.array(a.T)).tobytes() == (c @ a.T).tobytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_floats_are_written_into_ints_as_numpy_does(dtype):
    values = [np.float64(v) for v in (-1.25, 300.5, 1e30, np.nan)]
    for value in [*values, *[v.item() for v in values], np.array(-1.25), np.array([[2.5]])]:
        for shape, key in (((2,), 0), ((2,), slice(None)), ((), ...)):

            def written(module, record, value=value, shape=shape, key=key):
                x, v = module.zeros(shape, dtype), value
                if record:
                    leaf = nm.array(v, requires_grad=True)
                    v = (leaf.reshape(-1) * 1)[0] if isinstance(v, np.generic) else leaf * 1
                    v = value if type(value) is float else v
                try:
                    x[key] = v
                except Exception as error:
                    return type(error)
                return x.tolist()

            assert written(nm, True) == written(np, False), (value, shape, key)
