"""Places that upper folders fill once at import, so that dispatch can use ops without importing
them.

`ops` fills the primitives that the backward pass and view bookkeeping need; `namespace` needs none
of this.
"""

from __future__ import annotations

import sys
from typing import Any

from numen.errors import InternalError

_primitives: dict[str, Any] = {}


def fill(**primitives: Any) -> None:
    """Register primitives under their names."""
    _primitives.update(primitives)


def primitive(name: str) -> Any:
    """The primitive called `name`.

    Raises
    ------
    InternalError
        If `ops` has no row of that name.
    """
    try:
        return _primitives[name]
    except KeyError:
        raise InternalError(f"no primitive named {name!r} is registered") from None


def functions() -> Any:
    """The module of the public functions, for rules that compute on a transform's raw values."""
    return sys.modules["numen"]


def names() -> list[str]:
    """The names of all registered primitives."""
    return sorted(_primitives)
