"""Join samples into a batch: arrays are stacked, tuples, lists and dicts joined part by part.

Called by `fetching.py` for each batch, and by users' own collate functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.core import ArrayCore
from numen.errors import DTypeError, ShapeError, describe
from numen.namespace import stack


def default_collate(batch: Sequence[Any]) -> Any:
    """Join samples along a new first axis.

    Parameters
    ----------
    batch : sequence
        Samples of one structure: Arrays, ndarrays, numbers, text, and tuples, lists and dicts of
        those.

    Returns
    -------
    object
        The same structure; Arrays where the samples have arrays or numbers, lists of text.

    Raises
    ------
    ShapeError
        If arrays have different shapes, or tuples different lengths.
    DTypeError
        If a sample is of a type that can't be joined.

    Examples
    --------
    >>> import numen as nm
    >>> nm.data.default_collate([(nm.zeros(2), 3, "a"), (nm.ones(2), 4, "b")])
    (array([[0., 0.], [1., 1.]]), array([3, 4]), ['a', 'b'])
    """
    if not batch:
        raise ShapeError("collate: expected at least one sample, got none")
    first = batch[0]
    if isinstance(first, ArrayCore):
        _same_shapes(batch)
        return stack(list(batch))
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind not in "OSU":
        _same_shapes(batch)
        return core.ARRAY(np.stack(batch))
    if isinstance(first, (bool, int, float, complex)):
        return core.ARRAY(np.array(batch))
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        joined = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return joined if type(first) is dict else type(first)(joined)  # type: ignore[call-arg]
    if isinstance(first, (tuple, list)):
        if len({len(sample) for sample in batch}) > 1:
            raise ShapeError(
                f"collate: samples have different numbers of parts: {[len(s) for s in batch]}"
            )
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        if hasattr(first, "_fields"):  # a named tuple
            return type(first)(*parts)
        return type(first)(parts)
    raise DTypeError(
        f"collate: can't join samples of {describe(first)}. Hint: pass a collate_fn to the loader"
    )


def _same_shapes(batch: Sequence[Any]) -> None:
    shape = batch[0].shape
    for place, sample in enumerate(batch):
        if getattr(sample, "shape", None) != shape:
            raise ShapeError(
                f"collate: sample 0 of the batch is a {describe(batch[0])}, sample {place} is a "
                f"{describe(sample)}; can't stack them. Hint: pad them in a collate_fn"
            )
