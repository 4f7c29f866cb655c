"""The public names of numen, pinned: a name that comes or goes changes this list on purpose."""

import importlib
import pkgutil
import subprocess
import sys
import types

import numpy as np
import pytest

import numen

NAMES = [
    "Array", "CacheError", "CompileError", "DTypeError", "FormatError", "GradientError",
    "IndexRangeError", "InternalError", "LeafWriteError", "NumenError", "ShapeError",
    "TraceError", "abs", "absolute", "add", "amax", "amin", "arange", "argmax", "array",
    "array_equal", "asarray", "bfloat16", "bool", "bool_", "broadcast_to", "complex128",
    "complex64", "concatenate", "config", "divide", "dot", "double", "dtype", "e", "empty",
    "empty_like", "enable_grad", "equal", "euler_gamma", "exp", "expand_dims", "explain", "eye",
    "finfo", "float16", "float32", "float64", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "full", "full_like", "grad", "greater", "greater_equal", "iinfo", "inf", "int16", "int32",
    "int64", "int8", "int_", "intp", "jit", "less", "less_equal", "linspace", "log",
    "manual_seed", "matmul", "max", "maximum", "mean", "min", "minimum", "multiply", "nan",
    "negative", "newaxis", "nn", "no_grad", "not_equal", "ones", "ones_like", "optim", "pi",
    "pow", "power", "profile", "random", "ravel", "relu", "reshape", "result_type", "scatter_add",
    "set_grad_enabled", "single", "sqrt", "squeeze", "stack", "subtract", "sum", "swapaxes",
    "take", "tanh", "transpose", "true_divide", "uint", "uint16", "uint32", "uint64", "uint8",
    "uintp", "value_and_grad", "verify", "vjp", "where", "zeros", "zeros_like",
]  # fmt: skip

FOLDERS = [
    "compiler", "dispatch", "errors", "formats", "graph", "namespace", "nn", "ops", "optim",
    "profile", "random", "runtime", "settings", "tracing", "transforms",
]  # fmt: skip


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_names_are_these():
    assert public(numen.__all__) == set(NAMES)
    assert len(numen.__all__) == len(set(numen.__all__))
    assert public(dir(numen)) - set(FOLDERS) == set(NAMES) - set(FOLDERS)


def test_names_that_numpy_has_mean_the_same():
    different = {"array", "asarray", "abs", "absolute"}
    for name in set(NAMES) & set(np.__all__) - different:
        ours, theirs = getattr(numen, name), getattr(np, name)
        if isinstance(theirs, (type, float, types.NoneType)) and name not in ("finfo", "iinfo"):
            assert ours is theirs or ours == theirs or ours != ours, name
        elif name not in ("random", "finfo", "iinfo", "e", "pi"):
            assert callable(ours), name


def test_no_submodule_replaces_a_public_name():
    before = {name: getattr(numen, name) for name in NAMES}
    for module in pkgutil.walk_packages(numen.__path__, "numen."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name, value in before.items():
        assert getattr(numen, name) is value, name
        if isinstance(value, types.ModuleType):
            assert name in ("nn", "optim", "profile", "random"), name


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
