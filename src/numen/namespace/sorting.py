"""Sorting, searching and partitions.

Called by Array's methods too. `sort_in_place` and `partition_in_place` are the methods' forms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import views
from numen.namespace.calling import host

__all__ = ["sort", "argsort", "partition", "argpartition", "searchsorted"]

sort = host(np.sort)
argsort = host(np.argsort)
partition = host(np.partition)
argpartition = host(np.argpartition)
searchsorted = host(np.searchsorted)


def sort_in_place(x: Any, axis: Any, kind: Any, order: Any, *, stable: Any = None) -> None:
    """Sort x along an axis, in its own memory."""
    views.write(x, sort(x, axis, kind, order, stable=stable), "sort")


def partition_in_place(x: Any, kth: Any, axis: Any, kind: str, order: Any) -> None:
    """Partition x along an axis, in its own memory."""
    views.write(x, partition(x, kth, axis, kind, order), "partition")
