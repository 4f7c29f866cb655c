"""checkpoint_sequential: a chain of layers run in segments, each of which is computed again in the
backward pass. See `numen.checkpoint`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from numen.transforms.checkpointing import checkpoint

__all__ = ["checkpoint_sequential"]


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Apply functions one after the other and keep only the input of each segment.

    The last segment is not computed again, as its backward pass comes right after it.

    Parameters
    ----------
    functions : Sequential, or iterable of callables
        Each takes the result of the one before.
    segments : int
        How many parts the chain is cut into; the first ones are of equal length.
    input : array_like
        What the first function gets.
    use_reentrant, preserve_rng_state
        As in `numen.checkpoint`.

    Raises
    ------
    ValueError
        If there are more segments than functions, or none.

    Examples
    --------
    >>> import numen as nm
    >>> net = nm.nn.Sequential(nm.nn.Linear(3, 4), nm.nn.ReLU(), nm.nn.Linear(4, 1))
    >>> out = nm.nn.utils.checkpoint_sequential(net, 2, nm.ones((5, 3), nm.float32))
    >>> out.shape
    (5, 1)
    """
    chain = list(functions)
    if not 1 <= segments <= len(chain):
        raise ValueError(
            f"checkpoint_sequential: expected 1 to {len(chain)} segments for {len(chain)} "
            f"functions, got {segments}"
        )
    length = len(chain) // segments
    for start in range(0, length * (segments - 1), length):
        input = checkpoint(
            _chained(chain[start : start + length]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return _chained(chain[length * (segments - 1) :])(input)


def _chained(functions: list[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run
