"""The package as a whole: it imports lightly, its public names are pinned, one of each works."""

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import numen as nm

ROOT = Path(__file__).parents[1]


def fresh(code):
    """Run code in a new interpreter and give what it printed."""
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return done.stdout.split()


def submodules():
    found = pkgutil.walk_packages(nm.__path__, "numen.")
    return sorted(module.name for module in found)


@pytest.mark.parametrize("name", submodules())
def test_every_module_says_what_it_is_for(name):
    assert (importlib.import_module(name).__doc__ or "").strip()


def test_public_functions_have_docstrings():
    for name in nm.__all__:
        value = getattr(nm, name)
        ours = getattr(value, "__module__", "").startswith("numen")
        if ours and (inspect.isfunction(value) or inspect.isclass(value)):
            assert value.__doc__, name


def test_import_loads_nothing_heavy():
    heavy = {"llvmlite", "torch", "hypothesis", "importlib.metadata", "numpy.testing"}
    loaded = fresh("import sys, numen; print(*sys.modules)")
    assert not heavy & set(loaded)


def test_version_is_the_projects():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert nm.__version__ == project["version"]


def test_required_dependencies_are_three():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {text.split(">")[0] for text in project["dependencies"]}
    assert names == {"numpy", "llvmlite", "ml_dtypes"}


def test_the_package_is_typed():
    assert (Path(nm.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize(
    ("error", "numpys"),
    [
        (nm.ShapeError, ValueError),
        (nm.DTypeError, TypeError),
        (nm.IndexRangeError, IndexError),
        (nm.FormatError, ValueError),
    ],
)
def test_errors_are_what_numpy_raises(error, numpys):
    assert issubclass(error, numpys)
    assert issubclass(error, nm.NumenError)


def test_arrays_views_and_gradients():
    x = nm.linspace(0, 1, 5)
    x[1:3] *= 2
    np.testing.assert_array_equal(x.numpy(), [0, 0.5, 1, 0.75, 1])
    w = nm.array([1.0, 2.0], requires_grad=True)
    (w**2).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [2, 4])
    np.testing.assert_allclose(nm.grad(lambda v: nm.tanh(v).sum())(x)[0].item(), 1)


def test_a_model_learns_the_same_with_and_without_jit():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(64, 2)).astype(np.float32)
    labels = (points[:, 0] * points[:, 1] > 0).astype(np.int64)

    def train(wrap):
        nm.manual_seed(0)
        net = nm.nn.Sequential(nm.nn.Linear(2, 16), nm.nn.ReLU(), nm.nn.Linear(16, 2))
        optimizer = nm.optim.Adam(net.parameters(), lr=0.02)

        def step(points, labels):
            optimizer.zero_grad()
            loss = nm.nn.functional.cross_entropy(net(points), labels)
            loss.backward()
            optimizer.step()
            return loss.item()

        step = wrap(step)
        return [step(nm.array(points), nm.array(labels)) for _ in range(40)]

    with nm.config(engine="kernels"):
        eager = train(lambda step: step)
    compiled = train(nm.jit)
    assert compiled == eager
    assert eager[-1] < 0.7 * eager[0]
