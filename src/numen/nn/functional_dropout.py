"""Dropout of elements and of whole channels.

The masks come from a Philox stream of their own, whose position is an array written in place: a
compiled program draws others at each call, and `nm.manual_seed` restarts it. Called by
`dropout.py`; `functional.py` re-exports `__all__`.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from numen.dispatch import backends, core, frames, modes
from numen.errors import ShapeError, describe
from numen.namespace import where
from numen.nn.arguments import floating, in_place
from numen.ops.draws import philox_uniform
from numen.random.stream import default_stream, restarts
from numen.transforms import draws

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d"]
__all__ += ["feature_alpha_dropout"]

STREAM = 1
"""Weights are drawn from stream 0."""

SELU_FLOOR = -1.7580993408473766
"""What selu tends to: - scale * alpha."""

mask_state = core.ARRAY(np.array([default_stream.seed, 0], np.uint64))
"""Seed and position of the masks' stream; save and restore it with a checkpoint to repeat masks."""

_lock = threading.Lock()


def _restart(seed: int) -> None:
    mask_state[0] = seed
    mask_state[1] = 0


restarts.append(_restart)


def _version() -> int:
    return core.NEVER_WRITTEN if mask_state._v is None else int(mask_state._v.t)


def _saved() -> Any:
    with modes.no_grad():
        return mask_state.copy()


def _restore(state: Any) -> None:
    with _lock, modes.no_grad():
        mask_state[:] = state


draws.states.append(draws.RandomState(_version, _saved, _restore))


def uniform(shape: tuple[int, ...], like: Any) -> Any:
    """The next random numbers in [0, 1), float32, on the device of `like`."""
    levels = frames.differing("dropout") if modes.state.level else []
    shape = (*[level.size for level in levels], *shape)
    count = 1
    for n in shape:
        count *= n
    with _lock, modes.no_grad():
        drawn = philox_uniform(mask_state, shape=shape, stream=STREAM)
        position = mask_state[1:]
        position += count
    if backends.in_use() and not isinstance(like._d, np.ndarray):
        drawn = core.ARRAY(backends.placed_like(drawn._d, like._d))
    return frames.spread_draws(drawn, levels)


def _checked(p: float, op: str) -> float:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{op}: expected a probability p in [0, 1], got {p!r}")
    return float(p)


def _drop(x: Any, p: float, shape: tuple[int, ...]) -> Any:
    """x / (1 - p) where a number drawn for it is p or more, else exactly 0."""
    kept = uniform(shape, x) >= p
    return where(kept, x * (1.0 / (1.0 - p) if p < 1 else 1.0), 0.0)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero each element with probability p and scale the others by 1 / (1 - p).

    Parameters
    ----------
    input : array_like
        Floating, of any shape.
    p : float
        How likely an element is dropped.
    training : bool
        False returns the input.
    inplace : bool
        Whether the result is written into the input.

    Raises
    ------
    ValueError
        If p is no probability.
    DTypeError
        If the input is not floating.

    Examples
    --------
    >>> import numen as nm
    >>> _ = nm.manual_seed(0)
    >>> sorted(set(nm.nn.functional.dropout(nm.ones(100), 0.5).tolist()))
    [0.0, 2.0]
    """
    p, x = _checked(p, "dropout"), floating(input, "dropout")
    if not training or not p:
        return x
    return in_place(x, _drop(x, p, x.shape), inplace, "dropout")


def _channels(op: str, rank: int, input: Any, p: float, training: bool, inplace: bool) -> Any:
    p, x = _checked(p, op), floating(input, op)
    if x.ndim not in (rank + 1, rank + 2):
        raise ShapeError(
            f"{op}: expected input of shape (N, C, *spatial) or (C, *spatial) with {rank} spatial "
            f"axes; got {describe(x)}"
        )
    if not training or not p:
        return x
    shape = (*x.shape[: x.ndim - rank], *(1,) * rank)
    return in_place(x, _drop(x, p, shape), inplace, op)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels of (N, C, L)."""
    return _channels("dropout1d", 1, input, p, training, inplace)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels of (N, C, H, W)."""
    return _channels("dropout2d", 2, input, p, training, inplace)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`dropout` of whole channels of (N, C, D, H, W)."""
    return _channels("dropout3d", 3, input, p, training, inplace)


def _alpha(op: str, input: Any, p: float, training: bool, inplace: bool, channels: bool) -> Any:
    p, x = _checked(p, op), floating(input, op)
    if not training or not p:
        return x
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2)) if channels else x.shape
    kept = uniform(shape, x) >= p
    if p == 1:
        return in_place(x, where(kept, x, 0.0), inplace, op)
    scale = ((1 - p) * (1 + p * SELU_FLOOR**2)) ** -0.5
    out = where(kept, x, SELU_FLOOR) * scale + -scale * SELU_FLOOR * p
    return in_place(x, out, inplace, op)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean 0 and variance 1 behind selu (Klambauer et al., 2017)."""
    return _alpha("alpha_dropout", input, p, training, inplace, False)


def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """`alpha_dropout` of whole channels of (N, C, ...)."""
    return _alpha("feature_alpha_dropout", input, p, training, inplace, True)
