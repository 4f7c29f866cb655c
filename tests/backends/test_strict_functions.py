"""NumPy code means the same on the strict device as in NumPy: values, dtypes, errors, gradients.

The texts are those of `tests/against_numpy`, and `forms.py`. Arrays are made on the device; what
can't run there is listed with its reason and must keep failing, so that the list stays true.
"""

from __future__ import annotations

import functools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.against_numpy.exceptions import PLAIN
from tests.against_numpy.expressions import EXPRESSIONS
from tests.against_numpy.inputs import scope
from tests.against_numpy.judge import compare, outcome
from tests.against_numpy.programs import PROGRAMS
from tests.backends import forms

import numen as nm
from numen.dispatch.core import ArrayCore
from numen.errors import BackendError, GradientError

TEXTS = {
    family: {**{text: text for text in EXPRESSIONS.get(family, ())}, **PROGRAMS.get(family, {})}
    for family in {**EXPRESSIONS, **PROGRAMS}
}
ALL = {name: text for texts in TEXTS.values() for name, text in texts.items()}

NO_DTYPE = "CuPy has numbers only"
HOST_READS = "the host reads the memory, which needs an explicit copy"

REFUSED = {
    "np.array(['a', 'bc'])": NO_DTYPE,
    "np.char.upper(np.array(['a', 'bc']))": NO_DTYPE,
    "np.array([(1, 2.0)], dtype=[('x', 'i4'), ('y', 'f8')])['x']": NO_DTYPE,
    "np.array([1, None], dtype=object)": NO_DTYPE,
    "np.array(['2020-01-01'], dtype='M8[D]')": NO_DTYPE,
    "np.nditer(b) and 1": "NumPy's iterator walks memory of the host",
    "np.ma.masked_array(v, v > 3).sum()": "masked arrays are NumPy's own, on the host",
    "writeable": "CuPy has no read-only arrays",
    "buffer": HOST_READS,
    "array_iface": HOST_READS,
    "dlpack": HOST_READS,
    "np_asarray": HOST_READS,
}
"""Texts that can't run on the device, with the reason."""

MADE_ON_HOST = """np.tri( np.identity np.logspace np.geomspace np.mgrid np.ogrid np.r_[1:4
np.indices np.tril_indices np.diag_indices np.unravel_index np.ravel_multi_index np.fromfunction
np.hanning np.hamming np.blackman np.bartlett np.kaiser np.busday_count np.random save_load"""
"""How texts begin whose results are of the host: nothing in them is on the device, and NumPy's
signature has no `device=`; or they are read from a file."""


class OnDevice:
    """numen as a module whose arrays are made on the strict device."""

    MAKE = ("array", "asarray", "arange", "empty", "eye", "full", "linspace", "ones", "zeros")
    MAKE_FREQUENCIES = ("fftfreq", "rfftfreq")

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if value is nm.fft:
            return OnDevice(value)
        makes = name in (*self.MAKE, *self.MAKE_FREQUENCIES)
        return functools.partial(value, device="strict") if makes else value


STRICT = OnDevice(nm)


def arrays_of(value):
    """The Arrays in a result."""
    if isinstance(value, ArrayCore):
        return [value]
    return [a for v in value for a in arrays_of(v)] if isinstance(value, (list, tuple)) else []


def on_host(value):
    """A result with its Arrays moved to the host."""
    if isinstance(value, ArrayCore):
        return value.to_device("cpu")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(on_host, value))
    return type(value)(map(on_host, value)) if type(value) in (list, tuple) else value


# ------------------------------------------------------------ values


def test_the_tables_name_texts():
    assert set(REFUSED) <= set(ALL) and len(ALL) == 499
    for start in MADE_ON_HOST.split():
        assert any(name.startswith(start) for name in ALL), start


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in ALL if n not in REFUSED and n not in PLAIN])
def test_texts_mean_the_same(name):
    result = outcome(ALL[name], STRICT)
    if not isinstance(result, Exception):
        device = "cpu" if name.startswith(tuple(MADE_ON_HOST.split())) else "strict"
        assert [a.device for a in arrays_of(result)] == [device] * len(arrays_of(result))
        result = on_host(result)
    verdict = compare(result, outcome(ALL[name], np))
    assert verdict.exact, f"{ALL[name]}: {verdict.why}"


@pytest.mark.parametrize("name", REFUSED)
def test_refused_texts_still_are(name):
    result = outcome(ALL[name], STRICT)
    assert isinstance(result, (BackendError, AttributeError, TypeError)), result


def form(text, module):
    """What a text of `forms.py` gives; for a write, the array."""
    x = module.array(np.arange(12.0).reshape(3, 4))
    names = {"np": module, "x": x, "m": x > 5, "i": x.astype(int)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if text not in forms.WRITES:
            return eval(text, names)
        exec(text, names)
        return x


@pytest.mark.parametrize("text", [*forms.WRITES, *forms.FORMS])
def test_forms_mean_the_same(text):
    verdict = compare(on_host(form(text, STRICT)), form(text, np))
    assert verdict.exact, verdict.why


@pytest.mark.parametrize("text", forms.REFUSED)
def test_refused_forms_still_are(text):
    with pytest.raises((BackendError, AttributeError)):
        form(text, STRICT)


# ------------------------------------------------------------ gradients


def gradients(text, module):
    """The gradients of all that a text computes, by input; None where NumPy code fails."""
    names = scope(module, gradients=True)
    inputs = {name: x for name, x in names.items() if name != "np"}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(text if "\n" in text else f"r = {text}", names)
            for out in arrays_of(names["r"]):
                if out.requires_grad:
                    weights = np.arange(1.0, out.size + 1).reshape(out.shape) / 7
                    out.backward(module.asarray(weights.astype(out.dtype)), retain_graph=True)
        except Exception as error:
            return error
    return {name: x.grad for name, x in inputs.items() if x.grad is not None}


@functools.cache
def compared(family):
    """How many gradients of a family's texts are the host's, and the texts whose are not."""
    count, wrong = 0, []
    for name, text in TEXTS[family].items():
        if name in REFUSED:
            continue
        host, device = gradients(text, nm), gradients(text, STRICT)
        if isinstance(host, Exception) or isinstance(device, Exception):
            if type(host) is not type(device):
                wrong.append((name, host, device))
            continue
        if set(host) != set(device):
            wrong.append((name, set(host), set(device)))
            continue
        for key, expected in host.items():
            count += 1
            if (
                device[key].device != "strict"
                or not compare(on_host(device[key]), expected.numpy()).exact
            ):
                wrong.append((name, expected, device[key]))
    return count, wrong


@pytest.mark.parametrize("family", TEXTS)
def test_gradients_are_the_hosts(family):
    assert not compared(family)[1]


def test_most_texts_have_gradients():
    assert sum(compared(family)[0] for family in TEXTS) > 250


def steps(module):
    """A least-squares fit by in-place gradient steps, with views written on the way."""
    rng = np.random.default_rng(3)
    a, b = module.asarray(rng.normal(size=(8, 3))), module.asarray(rng.normal(size=8))
    w = module.zeros(3, requires_grad=True)
    for _ in range(5):
        fitted = nm.einsum("ij,j->i", a, w)
        residual = fitted - b
        residual[::2] *= 2
        loss = nm.std(residual) + (residual[[0, 3]] ** 2).mean() + nm.linalg.norm(w)
        w.zero_grad()
        (loss + nm.linalg.solve(a.T @ a + nm.diag(w), w).sum()).backward()
        with nm.no_grad():
            w -= 0.05 * w.grad
    return w


def test_a_fit_takes_the_same_steps():
    np.testing.assert_allclose(
        steps(STRICT).detach().numpy(), steps(nm).detach().numpy(), rtol=1e-10
    )


def test_second_order():
    x = STRICT.array([0.5, 1.5], requires_grad=True)
    (nm.sin(x) * x).sum().backward(create_graph=True)
    first, x.grad = x.grad, None
    (first**2).sum().backward()
    assert x.grad.device == "strict"
    sin, cos, at = np.sin([0.5, 1.5]), np.cos([0.5, 1.5]), np.array([0.5, 1.5])
    np.testing.assert_allclose(x.grad.numpy(), 2 * (sin + at * cos) * (2 * cos - at * sin))


# ------------------------------------------------------------ devices


def test_arrays_are_made_on_the_device_and_stay_there():
    x = nm.zeros((2, 3), device="strict")
    same = [nm.zeros_like(x), nm.ones_like(x, dtype=int), nm.full_like(x, 3), nm.empty_like(x)]
    same += [nm.asarray(x), nm.array(x), x.copy(), nm.astype(x, int), nm.full((2, 3), x[0, 0])]
    assert {a.device for a in same} == {"strict"} and {a.shape for a in same} == {(2, 3)}
    assert nm.asarray(x) is x and nm.asarray(x, device="strict") is x
    assert nm.zeros_like(x, device="cpu").device == "cpu"
    assert nm.asarray(np.ones(2), device="strict").numpy().tolist() == [1, 1]
    assert nm.ones(2, device="strict", requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="not understood"):
        nm.zeros(2, device="moon")


def test_nothing_moves_between_devices_unasked():
    x, host = nm.zeros(3, device="strict"), nm.zeros(3)
    for mixed in (
        lambda: x + host,
        lambda: x + np.zeros(3),
        lambda: x.dot(host),
        lambda: nm.where(x > 0, x, host),
        lambda: nm.copyto(x, host),
        lambda: nm.copyto(host, x),
        lambda: nm.add(x, x, out=host),
        lambda: nm.interp(x, host, x),
        lambda: host.__setitem__(slice(None), x),
        lambda: x.__setitem__(slice(None), host),
        lambda: np.asarray(x),
    ):
        with pytest.raises(BackendError):
            mixed()
    with pytest.raises(GradientError, match="between devices"):
        nm.ones(2, device="strict", requires_grad=True).to_device("cpu")


def test_a_traced_function_runs_eagerly_on_the_device():
    captured = nm.ones(2, device="strict")

    @nm.jit
    def f(x):
        y = nm.sin(x) * 2 + (x.sum() > 0)
        y[0] = 7
        return y

    @nm.jit
    def g():
        return captured * 2

    for x in (nm.arange(3.0), nm.arange(3.0, device="strict"), nm.arange(3.0)):
        for _ in range(2):
            assert f(x).device == x.device
            np.testing.assert_allclose(f(x).numpy(), [7, *(2 * np.sin([1, 2]) + 1)], rtol=1e-12)
            assert g().numpy().tolist() == [2, 2] and g().device == "strict"


def test_bits_of_an_array_with_a_gradient_are_not_written():
    x = nm.ones(2, device="strict", requires_grad=True) * 2
    with pytest.raises(ValueError, match="read-only"):
        x.view(nm.int64)[0] = 1
    x.view(nm.float64)[0] = 5
    assert x.detach().numpy().tolist() == [5, 2]


def test_the_page_is_true(capsys):
    page = (Path(__file__).parents[2] / "docs" / "strict.md").read_text()
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == output
    assert f"the {len(ALL)} expressions and programs" in page
    assert f"{len(REFUSED)} are refused" in page
    assert f"{len(forms.WRITES) + len(forms.FORMS)} more forms" in page
