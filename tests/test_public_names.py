"""The public names of numen, pinned: a name that comes or goes changes this list on purpose."""

import importlib
import pkgutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import numen

NAMES = (Path(__file__).parent / "public_names.txt").read_text().split()
"""All public names of `numen`, one list."""

MODULES = {"fft", "implicit", "interop", "lib", "linalg", "polynomial", "profile", "random"}
MODULES |= {"data", "nn", "optim", "train"}
"""Those that are modules."""

UNLISTED = {*numen.LAZY, *(m.name for m in pkgutil.iter_modules(numen.__path__))}
UNLISTED |= {"LAZY", "LAZY_FUNCTIONS"}
"""Attributes of the package that are no part of the list: its folders and lazy modules."""


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_names_are_these():
    assert public(numen.__all__) == set(NAMES)
    assert len(numen.__all__) == len(set(numen.__all__))
    assert sorted(NAMES, key=lambda name: (name,)) == NAMES
    plumbing = {"Any", "importlib"}
    assert public(dir(numen)) - UNLISTED - plumbing == set(NAMES) - UNLISTED


def test_names_that_numpy_has_mean_the_same():
    classes = {"finfo", "iinfo", "ufunc", "ndarray", "flatiter", "vectorize", "nditer", "ndindex"}
    classes |= {"ndenumerate", "broadcast", "memmap", "poly1d", "busdaycalendar", "matrix"}
    for name in set(NAMES) & set(np.__all__) - classes:
        ours, theirs = getattr(numen, name), getattr(np, name)
        if isinstance(theirs, (type, float, types.NoneType)):
            assert ours is theirs or ours == theirs or ours != ours, name
        elif callable(theirs):
            assert callable(ours), name


def test_no_submodule_replaces_a_public_name():
    before = {name: getattr(numen, name) for name in NAMES}
    for module in pkgutil.walk_packages(numen.__path__, "numen."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name, value in before.items():
        assert getattr(numen, name) is value, name
        assert isinstance(value, types.ModuleType) == (name in MODULES), name


@pytest.mark.parametrize("package", ["numen.nn", "numen.optim", "numen.random"])
def test_packages_list_their_names(package):
    module = importlib.import_module(package)
    submodules = {m.name for m in pkgutil.iter_modules(module.__path__)}
    assert public(dir(module)) - submodules == set(module.__all__) - submodules
    assert all(hasattr(module, name) for name in module.__all__)


def test_numpy_s_spelling_of_the_generator():
    from numen.random import default_rng

    assert default_rng is numen.random.default_rng


def test_importing_loads_nothing_heavy():
    code = "import sys, numen; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(result.stdout.split())
    assert {"numen", "numpy", "ml_dtypes"} <= loaded
    assert not loaded & {
        "llvmlite",
        "torch",
        "safetensors",
        "PIL",
        "tqdm",
        "asyncio",
        "unittest",
        "multiprocessing",
    }
