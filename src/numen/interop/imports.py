"""Waits for another library's module and then imports numen's companion of it.

So einops learns numen's arrays whichever of the two is imported first, and `import numen` stays
light.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

# importlib.abc's base classes are not needed, and importing them takes 10 ms.


def when_imported(module: str, companion: str) -> None:
    """Import `companion` now if `module` is loaded, else right after it is."""
    if module in sys.modules:
        importlib.import_module(companion)
    else:
        sys.meta_path.insert(0, _Waiting(module, companion))


class _Waiting:
    """Finds one module as Python would, with a loader that imports the companion behind it."""

    def __init__(self, module: str, companion: str) -> None:
        self.module = module
        self.companion = companion

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Following(spec.loader, self.companion)  # type: ignore[assignment]
        return spec


class _Following:
    """Another loader, and the import of the companion when it is done."""

    def __init__(self, loader: Any, companion: str) -> None:
        self.loader = loader
        self.companion = companion

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        importlib.import_module(self.companion)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)
