"""Every row runs on the strict backend, which is NumPy's memory behind CuPy's narrower interface.

So nothing in a row or a rule needs more than CuPy has. What can't run is listed with its reason,
and must keep failing, so that the list stays true.
"""

import numpy as np
import pytest
from tests.tolerances import assert_same

from numen.backends import strict
from numen.dispatch.backward import backward
from numen.dispatch.core import Leaf
from numen.errors import BackendError
from numen.namespace.array import Array
from numen.ops import table

REFUSED = {
    "isnat": "CuPy has no dates",
}
"""Rows that CuPy's interface does not carry, with the reason."""
INTEGERS = {"gcd", "lcm", "left_shift", "right_shift", "invert", "bitwise_count", "ldexp"} | {
    f"bitwise_{name}" for name in ("and", "or", "xor")
}
"""Rows without floating loops."""


def samples(name, dtype="float64"):
    rng = np.random.default_rng(list(name.encode()))
    return table[name].samples(rng, np.dtype(dtype))


def on_device(value):
    return Array(strict.from_host(value)) if isinstance(value, np.ndarray) else value


def on_host(value):
    return Array(value.copy()) if isinstance(value, np.ndarray) else value


def quiet(function, *args, **params):
    with np.errstate(all="ignore"):
        return function(*args, **params)


@pytest.mark.parametrize("name", sorted(set(table) - set(REFUSED)))
def test_rows_have_the_hosts_values(name):
    for args, params in samples(name, "int64" if name in INTEGERS else "float64"):
        expected = quiet(table[name], *[on_host(a) for a in args], **params)
        result = quiet(table[name], *[on_device(a) for a in args], **params)
        if not any(isinstance(a, np.ndarray) for a in args):
            continue
        assert isinstance(result._d, strict.StrictArray)
        assert_same(result.numpy(), np.asarray(expected._d))


@pytest.mark.parametrize(
    "name", [n for n in sorted(set(table) - set(REFUSED)) if table[n].vjp is not None]
)
def test_gradients_are_the_hosts(name):
    for args, params in samples(name):
        found = []
        for place in (on_host, on_device):
            inputs, leaves = [], []
            for a in args:
                x = place(a)
                if isinstance(a, np.ndarray) and a.dtype.kind == "f":
                    x._n = Leaf(a.shape, a.dtype)
                    leaves.append(x)
                inputs.append(x)
            out = quiet(table[name], *inputs, **params)
            if not leaves or out._n is None:
                break
            seed = np.arange(1.0, out.size + 1).reshape(out.shape).astype(out.dtype)
            found.append(
                quiet(backward, [out], [place(np.asarray(seed))], wrt=[x._n for x in leaves])
            )
        if len(found) < 2:
            continue
        for host, device in zip(*found, strict=True):
            if host is None or device is None:
                assert host is None and device is None
                continue
            data = device._d if isinstance(device, Array) else device
            assert isinstance(data, strict.StrictArray)
            raw = host._d if isinstance(host, Array) else host
            np.testing.assert_allclose(data.get(), raw, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_rows_still_are(name):
    (args, params), *_ = table[name].samples(np.random.default_rng(0), np.dtype("M8[D]"))
    with pytest.raises(BackendError):
        table[name](*[on_device(a) for a in args], **params)


def test_a_function_that_cupy_lacks_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(table["spacing"], "substitute", None)
    with pytest.raises(BackendError, match=r"spacing: .* has no such function"):
        table["spacing"](on_device(np.ones(2)))


def test_the_strict_array_refuses_what_cupy_refuses():
    x = strict.from_host(np.ones((2, 3)))
    for refused in (
        lambda: np.sin(x),
        lambda: np.concatenate([x, x]),
        lambda: np.asarray(x),
        lambda: x + np.ones(3),
        lambda: x[np.array([0])],
        lambda: strict.module.sum(x, where=x > 0),
        lambda: strict.module.add(x, x, where=x > 0),
        lambda: strict.from_host(np.array(["a"])),
        lambda: strict.from_host(np.array([None])),
        lambda: strict.from_host(np.ones(2, np.longdouble)),
        lambda: strict.module.sum(x, None, None, None, False, 0),
        lambda: strict.module.add(x, [1.0, 2.0, 3.0]),
        lambda: strict.module.zeros_like(x, subok=True),
        lambda: x.item(0),
        lambda: x.__setitem__(0, [1.0, 2.0, 3.0]),
    ):
        with pytest.raises(BackendError):
            refused()
    for missing in (
        lambda: strict.module.insert(x, 1, 1),
        lambda: strict.module.maximum.reduce(x),
        lambda: strict.module.multiply.at(x, 0, 2),
        lambda: x.flags.writeable,
        lambda: x.__array_interface__,
    ):
        with pytest.raises(AttributeError):
            missing()


def test_mixed_devices_are_refused_and_numbers_are_not():
    x = Array(strict.from_host(np.ones(3)))
    with pytest.raises(BackendError, match="devices"):
        x + Array(np.ones(3))
    assert (x + 1 + np.float64(2)).numpy().tolist() == [4, 4, 4]


def test_views_and_writes_on_the_device():
    x = Array(strict.from_host(np.arange(6.0).reshape(2, 3)))
    row = x[1]
    assert row.base is x
    row += 10
    x[0] = 7
    assert x.numpy().tolist() == [[7, 7, 7], [13, 14, 15]]
    assert x.device == "strict" and x.to_device("cpu").device == "cpu"
