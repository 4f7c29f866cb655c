"""The array API standard: numen against array_api_strict, function by function."""

import re

import numpy as np
import pytest
from standard_calls import CALLS, MEMBERS, WRITES, samples

import numen as nm

strict = pytest.importorskip("array_api_strict", minversion="2.6")


def plain(value):
    """A result as NumPy's arrays, dtypes and Python's values."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, nm.Array):
        return value.numpy()
    if isinstance(value, type(strict.ones(1))):
        return np.asarray(value)
    if type(value).__module__.startswith("array_api_strict"):
        return getattr(value, "_np_dtype", value)
    return value


def check_same(actual, expected, text):
    if isinstance(expected, list):
        assert len(actual) == len(expected), text
        for a, e in zip(actual, expected, strict=True):
            check_same(a, e, text)
    elif isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype, f"{text}: {actual.dtype} for {expected.dtype}"
        assert actual.shape == expected.shape, f"{text}: {actual.shape} for {expected.shape}"
        np.testing.assert_array_equal(actual, expected, err_msg=text)
    elif isinstance(expected, float):
        assert actual == expected or (actual != actual and expected != expected), text
    else:
        assert actual == expected, text


@pytest.mark.parametrize("text", [*CALLS, *MEMBERS])
def test_the_same_values_dtypes_and_shapes(text):
    results = [plain(eval(text, {"xp": xp, **samples(xp)})) for xp in (nm, strict)]
    check_same(*results, text)


@pytest.mark.parametrize("text", WRITES)
def test_the_same_writes(text):
    results = []
    for xp in (nm, strict):
        scope = {"xp": xp, **samples(xp)}
        exec(text, scope)
        results.append([plain(scope[name]) for name in sorted(samples(xp))])
    check_same(*results, text)


def test_the_calls_cover_the_standard():
    called = set(re.findall(r"xp\.((?:linalg\.|fft\.)?\w+)", "\n".join(CALLS)))
    own = {"Device", "ArrayAPIStrictFlags", "linalg", "fft"}
    names = {n for n in strict.__all__ if "strict" not in n and n[0] != "_"} - own
    for extension in ("linalg", "fft"):
        names |= {f"{extension}.{name}" for name in getattr(strict, extension).__all__}
    assert names <= called


def test_the_members_of_arrays():
    public = [n for n in dir(strict.ones(1)) if n[0] != "_"]
    special = [n for n in vars(type(strict.ones(1))) if n[:2] == "__" and n != "__annotations__"]
    assert [n for n in [*public, *special] if not hasattr(nm.Array, n)] in ([], ["__buffer__"])


def test_what_the_namespace_says_of_itself():
    info, expected = nm.__array_namespace_info__(), strict.__array_namespace_info__()
    assert info.capabilities() == expected.capabilities()
    assert info.default_device() in info.devices()
    assert {k: np.dtype(str(v).split(".")[-1]) for k, v in expected.default_dtypes().items()} == (
        info.default_dtypes(device="cpu")
    )
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating"]
    for kind in [None, *kinds, "complex floating", "numeric", ("bool", "integral")]:
        names = expected.dtypes(kind=kind)
        assert info.dtypes(kind=kind) == {name: np.dtype(name) for name in names}
    with pytest.raises(ValueError, match="unsupported kind 'text'"):
        info.dtypes(kind="text")
    with pytest.raises(ValueError, match="device"):
        info.dtypes(device="gpu")


def test_the_namespace_of_an_array():
    x = nm.ones(2)
    assert x.__array_namespace__() is nm
    for version in ("2021.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is nm
    with pytest.raises(ValueError, match=r"2020\.12"):
        x.__array_namespace__(api_version="2020.12")
    assert nm.__array_api_version__ in ("2024.12", "2025.12")


def test_devices():
    x = nm.ones((2, 3))
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="device"):
        x.to_device("gpu")
    made = [
        nm.asarray([1.0], device="cpu"),
        nm.zeros(2, device="cpu"),
        nm.empty_like(x, device="cpu"),
        nm.full_like(x, 3, device="cpu"),
        nm.eye(2, device="cpu"),
        nm.linspace(0, 1, 3, device="cpu"),
        nm.astype(x, nm.float32, device="cpu"),
        nm.from_dlpack(x, device="cpu", copy=True),
        nm.fft.fftfreq(4, device="cpu"),
    ]
    assert {a.device for a in made} == {"cpu"}
    with pytest.raises(ValueError, match=r"[dD]evice"):
        nm.zeros(2, device="gpu")


def test_gradients_flow_through_the_standards_functions():
    def loss(x):
        rows = nm.unstack(nm.permute_dims(nm.concat([x, 2 * x]), (1, 0)))
        sums = nm.cumulative_sum(rows[0] * rows[1], include_initial=True)
        line = nm.take_along_axis(sums, nm.argsort(sums), axis=0)
        return nm.vecdot(line, nm.pow(line, 2)) + nm.linalg.vector_norm(nm.matrix_transpose(x))

    x = nm.asarray([[1.0, 2.0], [0.5, -1.0]])
    gradient, step = nm.grad(loss)(x), 1e-6
    for place in np.ndindex(2, 2):
        shift = np.zeros((2, 2))
        shift[place] = step
        difference = (loss(x + shift) - loss(x - shift)) / (2 * step)
        assert abs(float(gradient[place]) - float(difference)) < 1e-6
