"""The array API standard's answers about numen: devices, dtypes, capabilities.

`numen.__array_namespace_info__()` returns an Info; the functions of the standard are NumPy's names
in the files beside this one. Source: https://data-apis.org/array-api, 2024.12 and 2025.12.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2024.12"
"""The version of the standard that the namespace follows by default."""

_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
_ALL = _KINDS["bool"] + _KINDS["numeric"]


class Info:
    """What the standard's inspection functions say of numen.

    Examples
    --------
    >>> import numen as nm
    >>> nm.__array_namespace_info__().default_device()
    'cpu'
    """

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and data-dependent shapes are there; the most axes an array has."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of new arrays."""
        return "cpu"

    def devices(self) -> list[str]:
        """The devices that arrays can live on."""
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[Any]]:
        """The dtypes of new arrays where none is given."""
        _check_device(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.intp),
            "indexing": np.dtype(np.intp),
        }

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """The standard's dtypes by name, of one or several kinds.

        Raises
        ------
        ValueError
            If a kind or the device is unknown.
        """
        _check_device(device)
        if kind is None:
            names: list[str] = list(_ALL)
        else:
            names = []
            for k in kind if isinstance(kind, tuple) else (kind,):
                if k not in _KINDS:
                    raise ValueError(f"dtypes: unsupported kind {k!r}; expected {sorted(_KINDS)}")
                names += [n for n in _KINDS[k] if n not in names]
        return {name: np.dtype(name) for name in names}


def __array_namespace_info__() -> Info:
    """What the array API standard's inspection functions say of numen."""
    return Info()


def _check_device(device: str | None) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"device: expected 'cpu' or None, got {device!r}")
