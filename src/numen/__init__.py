"""numen: one array for the whole road.

NumPy's exact semantics, define-by-run gradients and compiled programs, in pure Python. This file
only gathers public names: NumPy's from `namespace`, transforms from `transforms`, `jit` from
`tracing`. Read docs/architecture.md first.
"""

import importlib
from typing import Any

from numen import interop, linalg, namespace, nn, optim, profile, random
from numen.dispatch.modes import enable_grad, no_grad, set_grad_enabled
from numen.errors import (
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
)
from numen.namespace import *  # noqa: F403
from numen.namespace.array_api import __array_api_version__, __array_namespace_info__
from numen.random import manual_seed
from numen.settings import config
from numen.tracing import explain, jit, verify
from numen.transforms import grad, value_and_grad, vjp

__version__ = "0.1.0"

__all__ = ["nn", "optim", "profile", "random", "manual_seed", "config"]
__all__ += ["fft", "interop", "lib", "linalg", "polynomial"]  # noqa: F405 (some are lazy)
__all__ += ["__array_api_version__", "__array_namespace_info__"]
__all__ += namespace.__all__
__all__ += ["grad", "value_and_grad", "vjp", "no_grad", "enable_grad", "set_grad_enabled"]
__all__ += ["jit", "explain", "verify"]
__all__ += ["NumenError", "ShapeError", "DTypeError", "IndexRangeError", "GradientError"]
__all__ += ["LeafWriteError", "CompileError", "CacheError", "FormatError", "TraceError"]
__all__ += ["BackendError", "InternalError"]

LAZY = (
    *("char", "ctypeslib", "dtypes", "emath", "exceptions", "fft", "lib"),
    *("ma", "polynomial", "rec", "strings", "testing", "typing"),
)
"""Modules that load when they are first named: each imports its part of NumPy."""


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return importlib.import_module(f"numen.{name}")
    raise AttributeError(f"module 'numen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *LAZY})
