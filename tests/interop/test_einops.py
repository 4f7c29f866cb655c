"""einops on Arrays: values, gradients, and whichever library is imported first."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numen as nm

einops = pytest.importorskip("einops")

DATA = np.arange(24.0).reshape(2, 3, 4)
CALLS = """
rearrange(x, "a b c -> (c a) b")
rearrange(x, "a b (c d) -> d a (b c)", c=2)
rearrange([x[0], x[1]], "n b c -> b (n c)")
rearrange(x, "a b c -> a 1 b c")
reduce(x, "a b c -> b", "sum")
reduce(x, "a b (c d) -> a c", "max", d=2)
reduce(x, "a b c -> a 1 c", "mean")
reduce(x, "a b c -> c", "prod")
repeat(x, "a b c -> a (b k) c", k=2)
repeat(x[0], "b c -> n b c", n=3)
einsum(x, x, "a b c, a d c -> a b d")
pack([x, x[:, 0]], "a * c")[0]
""".strip().splitlines()


@pytest.mark.parametrize("text", CALLS)
def test_the_values_of_numpy(text):
    actual = eval(text, {**vars(einops), "x": nm.asarray(DATA)})
    expected = eval(text, {**vars(einops), "x": DATA})
    assert type(actual) is nm.Array
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual.numpy(), expected)


@pytest.mark.parametrize("text", CALLS)
def test_gradients(text):
    def loss(x):
        y = eval(text, {**vars(einops), "x": x})
        return (y * nm.cos(nm.arange(y.size).reshape(y.shape))).sum()

    x = nm.asarray(np.cos(DATA))
    direction = nm.asarray(np.sin(3 * DATA))
    slope = (nm.grad(loss)(x) * direction).sum()
    step = 1e-6
    difference = (loss(x + step * direction) - loss(x - step * direction)) / (2 * step)
    assert abs(float(slope) - float(difference)) < 1e-6 * (1 + abs(float(difference)))


def test_by_the_array_api():
    api = pytest.importorskip("einops.array_api")
    x = nm.asarray(DATA)
    assert api.rearrange(x, "a b c -> c (a b)").shape == (4, 6)
    assert api.reduce(x, "a b c -> a", "sum").tolist() == DATA.sum(axis=(1, 2)).tolist()
    assert api.repeat(x, "a b c -> a b c k", k=2).shape == (2, 3, 4, 2)
    packed, shapes = api.pack([x, x], "* b c")
    assert [p.shape for p in api.unpack(packed, shapes, "* b c")] == [(2, 3, 4), (2, 3, 4)]
    x = nm.array(DATA, requires_grad=True)
    api.reduce(x, "a b c -> b", "mean").sum().backward()
    assert x.grad.tolist() == np.full((2, 3, 4), 1 / 8).tolist()


def test_inside_a_compiled_function():
    def f(x):
        return nm.exp(einops.rearrange(x, "a b c -> c (a b)")) * 2

    x = nm.asarray(np.cos(DATA))
    assert nm.jit(f)(x).tolist() == f(x).tolist()


@pytest.mark.parametrize("order", ["import einops, numen", "import numen, einops"])
def test_either_library_may_be_imported_first(order):
    code = f"{order}; print(einops.rearrange(numen.ones((2, 3)), 'a b -> b a').shape)"
    path = str(Path(nm.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"],
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "(3, 2)", run.stderr


def test_importing_numen_imports_no_einops():
    code = "import sys, numen; print('einops' in sys.modules)"
    path = str(Path(nm.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"],
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "False", run.stderr
