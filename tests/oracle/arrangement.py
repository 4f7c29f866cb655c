"""Operations that reshape arrays and view them: torch's name to numen's function. Next:
`joining.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.oracle.counterparts import refuses, scalar, sizes

import numen as nm

F = nm.nn.functional


# ------------------------------------------------------------ shapes


def reshape(x: Any, *shape: Any) -> Any:
    return nm.reshape(x, sizes(shape))


def expand(x: Any, *shape: Any) -> Any:
    shape = sizes(shape)
    lead = len(shape) - x.ndim
    full = [x.shape[i - lead] if s == -1 else s for i, s in enumerate(shape)]
    return nm.broadcast_to(x, tuple(full))


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    if x.ndim == 0:
        return nm.reshape(x, (1,))
    return F.flatten(x, start_dim, end_dim)


def unflatten(x: Any, dim: int, shape: Any) -> Any:
    dim %= x.ndim
    return nm.reshape(x, (*x.shape[:dim], *shape, *x.shape[dim + 1 :]))


def squeeze(x: Any, dim: Any = None) -> Any:
    """torch leaves an axis alone that is not of length 1; NumPy raises."""
    if dim is None:
        return nm.squeeze(x)
    dims = [dim] if isinstance(dim, int) else list(dim)
    if x.ndim == 0:
        return x[...]
    return nm.squeeze(x, tuple([d % x.ndim for d in dims if x.shape[d] == 1]))


def permute(x: Any, *dims: Any) -> Any:
    return nm.permute_dims(x, sizes(dims))


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    return nm.swapaxes(x, dim0, dim1) if x.ndim else x[...]


def repeat(x: Any, *reps: Any) -> Any:
    return nm.tile(x, sizes(reps))


def tile(x: Any, *dims: Any) -> Any:
    return nm.tile(x, sizes(dims))


def roll(x: Any, shifts: Any, dims: Any = None) -> Any:
    if isinstance(dims, (list, tuple)) and not dims:
        dims = None
    return nm.roll(x, shifts, dims)


def rot90(x: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    return nm.rot90(x, k, dims)


def flip(x: Any, dims: Any) -> Any:
    return nm.flip(x, dims)


def diag(x: Any, diagonal: int = 0) -> Any:
    return nm.diag(x, diagonal)


def diagflat(x: Any, offset: int = 0) -> Any:
    return nm.diagflat(x, offset)


def diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return nm.diagonal(x, offset, dim1, dim2)


def diagonal_scatter(x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    y = nm.copy(x)
    # NumPy's diagonal cannot be written; its places can
    rows, columns = x.shape[dim1], x.shape[dim2]
    count = src.shape[-1]
    i = np.arange(count) - min(offset, 0)
    j = np.arange(count) + max(offset, 0)
    assert rows >= 0 and columns >= 0
    moved = nm.moveaxis(y, (dim1, dim2), (-2, -1))
    moved[..., i, j] = src
    return y


def diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    n = x.shape[-1] + abs(offset)
    made = nm.zeros((*x.shape[:-1], n, n), x.dtype)
    i = np.arange(x.shape[-1])
    made[..., i - min(offset, 0), i + max(offset, 0)] = x
    return nm.moveaxis(made, (-2, -1), (dim1, dim2))


def movedim(x: Any, source: Any, destination: Any) -> Any:
    return nm.moveaxis(x, source, destination)


def tril(x: Any, diagonal: int = 0) -> Any:
    return nm.tril(x, diagonal)


def triu(x: Any, diagonal: int = 0) -> Any:
    return nm.triu(x, diagonal)


def meshgrid(*arrays: Any, indexing: str = "ij") -> Any:
    if len(arrays) == 1 and isinstance(arrays[0], (tuple, list)):
        arrays = tuple(arrays[0])
    return nm.meshgrid(*arrays, indexing=indexing)


def unfold(x: Any, dimension: int, size: int, step: int) -> Any:
    if x.ndim == 0:
        return nm.reshape(x, (1,))[: size or 0]
    windows = nm.lib.stride_tricks.sliding_window_view
    dimension %= x.ndim
    refuses(size == 0, "empty windows")
    every = (slice(None),) * dimension + (slice(None, None, step),)
    return windows(x, size, axis=dimension)[every]


def as_strided(x: Any, size: Any, stride: Any, storage_offset: Any = 0) -> Any:
    strided = nm.lib.stride_tricks.as_strided
    refuses(not x.flags.c_contiguous, "strides below a view")
    flat = x.ravel()[scalar(storage_offset or 0) :]
    return strided(flat, tuple(size), tuple(s * x.itemsize for s in stride))


def view_as_complex(x: Any) -> Any:
    unit = 1j if x.dtype == np.float64 else np.complex64(1j)
    return x[..., 0] + unit * x[..., 1]


def sum_to_size(x: Any, *shape: Any) -> Any:
    shape = sizes(shape)
    lead = x.ndim - len(shape)
    x = nm.sum(x, axis=tuple(range(lead)))
    kept = tuple(i for i, s in enumerate(shape) if s == 1 and x.shape[i] != 1)
    return nm.sum(x, axis=kept, keepdims=True)


def broadcast_shapes(*shapes: Any) -> Any:
    return nm.broadcast_shapes(*shapes)


def pixel_shuffle(x: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    *lead, c, h, w = x.shape
    y = nm.reshape(x, (*lead, c // r**2, r, r, h, w))
    n = len(lead)
    y = nm.permute_dims(y, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return nm.reshape(y, (*lead, c // r**2, h * r, w * r))


def pixel_unshuffle(x: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    *lead, c, h, w = x.shape
    y = nm.reshape(x, (*lead, c, h // r, r, w // r, r))
    n = len(lead)
    y = nm.permute_dims(y, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return nm.reshape(y, (*lead, c * r**2, h // r, w // r))


def channel_shuffle(x: Any, groups: int) -> Any:
    n, c, *rest = x.shape
    y = nm.swapaxes(nm.reshape(x, (n, groups, c // groups, *rest)), 1, 2)
    return nm.reshape(y, (n, c, *rest))


ARRANGEMENT: dict[str, Any] = {
    "broadcast_to": nm.broadcast_to,
    "broadcast_tensors": nm.broadcast_arrays,
    "broadcast_shapes": broadcast_shapes,
    "expand": expand,
    "expand_copy": expand,
    "expand_as": lambda x, other: nm.broadcast_to(x, other.shape),
    "reshape": reshape,
    "view": reshape,
    "view_copy": reshape,
    "reshape_as": lambda x, other: nm.reshape(x, other.shape),
    "view_as": lambda x, other: nm.reshape(x, other.shape),
    "ravel": nm.ravel,
    "flatten": flatten,
    "unflatten": unflatten,
    "squeeze": squeeze,
    "squeeze.multiple": squeeze,
    "squeeze_copy": squeeze,
    "unsqueeze": nm.expand_dims,
    "unsqueeze_copy": nm.expand_dims,
    "permute": permute,
    "permute_copy": permute,
    "transpose": transpose,
    "transpose_copy": transpose,
    "t": nm.transpose,
    "t_copy": nm.transpose,
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "H": lambda x: nm.conj(x.T),
    "mH": lambda x: nm.conj(x.mT),
    "movedim": movedim,
    "repeat": repeat,
    "tile": tile,
    "repeat_interleave": lambda x, repeats, dim=None, **more: nm.repeat(x, repeats, dim),
    "roll": roll,
    "rot90": rot90,
    "flip": flip,
    "fliplr": nm.fliplr,
    "flipud": nm.flipud,
    "diag": diag,
    "diag_embed": diag_embed,
    "diagflat": diagflat,
    "diagonal": diagonal,
    "diagonal_copy": diagonal,
    "diagonal_scatter": diagonal_scatter,
    "linalg.diagonal": lambda x, *, offset=0, dim1=-2, dim2=-1: nm.diagonal(x, offset, dim1, dim2),
    "tril": tril,
    "triu": triu,
    "meshgrid.variadic_tensors": meshgrid,
    "meshgrid.list_of_tensors": meshgrid,
    "unfold": unfold,
    "unfold_copy": unfold,
    "as_strided": as_strided,
    "as_strided_copy": as_strided,
    "as_strided.partial_views": as_strided,
    "alias_copy": nm.copy,
    "view_as_real": lambda x: nm.stack([nm.real(x), nm.imag(x)], -1),
    "view_as_complex": view_as_complex,
    "sum_to_size": sum_to_size,
    "nn.functional.pixel_shuffle": pixel_shuffle,
    "nn.functional.pixel_unshuffle": pixel_unshuffle,
    "nn.functional.channel_shuffle": channel_shuffle,
}
