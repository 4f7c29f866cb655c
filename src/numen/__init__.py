"""numen: one array for the whole road.

NumPy's exact semantics, define-by-run gradients and compiled programs, in pure Python. This file
only gathers public names: NumPy's from `namespace`, transforms from `transforms`; `jit`, `nn` and
the rest load when they are first named. Read docs/architecture.md first.
"""

import importlib
from typing import Any

from numen import interop, linalg, namespace, profile
from numen.dispatch.modes import enable_grad, no_grad, set_grad_enabled
from numen.errors import (
    AnomalyError,
    BackendError,
    CacheError,
    CompileError,
    DTypeError,
    FormatError,
    GradientError,
    IndexRangeError,
    InternalError,
    LeafWriteError,
    NumenError,
    ShapeError,
    TraceError,
    TransformError,
)
from numen.namespace import *  # noqa: F403
from numen.namespace.array_api import __array_api_version__, __array_namespace_info__
from numen.settings import config
from numen.transforms import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)

__version__ = "0.1.0"

__all__ = ["nn", "optim", "profile", "random", "manual_seed", "config"]  # noqa: F405
__all__ += ["fft", "interop", "lib", "linalg", "polynomial"]  # noqa: F405 (some are lazy)
__all__ += ["__array_api_version__", "__array_namespace_info__"]
__all__ += namespace.__all__
__all__ += ["grad", "value_and_grad", "vjp", "no_grad", "enable_grad", "set_grad_enabled"]
__all__ += ["hessian", "hvp", "jacfwd", "jacrev", "jvp", "linearize", "vmap"]
__all__ += ["Function", "checkpoint", "custom_jvp", "custom_vjp"]  # noqa: F405
__all__ += ["implicit", "once_differentiable", "remat"]  # noqa: F405
__all__ += ["jit", "explain", "verify"]  # noqa: F405
__all__ += ["NumenError", "ShapeError", "DTypeError", "IndexRangeError", "GradientError"]
__all__ += ["LeafWriteError", "CompileError", "CacheError", "FormatError", "TraceError"]
__all__ += ["AnomalyError", "BackendError", "InternalError", "TransformError"]
__all__ += ["detect_anomaly", "set_detect_anomaly"]  # noqa: F405
__all__ += ["data", "train", "fit", "save_model", "load_model"]  # noqa: F405
__all__ += ["save_checkpoint", "load_checkpoint"]  # noqa: F405

LAZY = (
    *("char", "ctypeslib", "dtypes", "emath", "exceptions", "fft", "lib"),
    *("ma", "polynomial", "rec", "strings", "testing", "typing"),
    *("implicit", "random", "nn", "optim", "data", "train"),
)
"""Modules that load when they are first named."""

LAZY_FUNCTIONS = {
    "manual_seed": "numen.random",
    "detect_anomaly": "numen.transforms.anomaly",
    "set_detect_anomaly": "numen.transforms.anomaly",
    "custom_jvp": "numen.transforms.custom_forward",
    "custom_vjp": "numen.transforms.custom_reverse",
    "Function": "numen.transforms.function",
    "once_differentiable": "numen.transforms.function",
    "checkpoint": "numen.transforms.checkpointing",
    "remat": "numen.transforms.checkpointing",
    "jit": "numen.tracing",
    "explain": "numen.tracing",
    "verify": "numen.tracing",
    "fit": "numen.train",
    "save_model": "numen.formats.model",
    "load_model": "numen.formats.model",
    "save_checkpoint": "numen.formats.checkpoint",
    "load_checkpoint": "numen.formats.checkpoint",
}
"""Functions of such modules: name to module."""


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return importlib.import_module(f"numen.{name}")
    if name in LAZY_FUNCTIONS:
        value = globals()[name] = getattr(importlib.import_module(LAZY_FUNCTIONS[name]), name)
        return value
    raise AttributeError(f"module 'numen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *LAZY, *LAZY_FUNCTIONS})
