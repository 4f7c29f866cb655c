"""checkpoint: save a function's arguments instead of what it computes, and compute that again.

The first run's graph is dropped once it has told which nodes it leads to: the arguments' and those
of captured arrays, such as a module's parameters. These become the parents of one node, whose
backward step is in `rerunning.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numen.dispatch import core, modes
from numen.dispatch.frames import level_of
from numen.transforms import draws, packs
from numen.transforms.rerunning import Again, Leaves, alias, boundary, carries_gradient, hang
from numen.transforms.trees import flatten


def checkpoint(
    function: Callable[..., Any] | None = None,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function and keep only its arguments for the backward pass, which runs it again.

    With arguments it is PyTorch's `checkpoint(function, *args)`; without, as in JAX, it returns
    such a function, so it is also a decorator.

    Parameters
    ----------
    function : callable
        Takes and returns arrays, or tuples, lists and dicts of them, and anything else. It may use
        captured arrays that require gradients, as a module's parameters; they get theirs.
    use_reentrant : bool
        Ignored: there is one way.
    preserve_rng_state : bool
        Whether the second run draws the same random numbers, as dropout has to.

    Raises
    ------
    GradientError
        In the backward pass, if an argument was written in place since, or the second run comes to
        other arrays than the first.

    Notes
    -----
    Captured arrays must not be written between the two runs. Inside `vmap` and `jvp` a function
    whose own arguments carry no gradient is called as it is.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([1.0, 2.0], requires_grad=True)
    >>> y = nm.checkpoint(lambda v: nm.sin(nm.exp(v)), x)
    >>> y.sum().backward()
    >>> nm.allclose(x.grad, nm.cos(nm.exp(x)) * nm.exp(x))
    True
    """
    if function is None:
        return functools.partial(
            checkpoint, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    if args or kwargs:
        return _checkpointed(function, args, kwargs, preserve_rng_state)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _checkpointed(function, args, kwargs, preserve_rng_state)

    return wrapped


remat = checkpoint


def _checkpointed(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], preserve: bool
) -> Any:
    leaves, structure = flatten((args, kwargs))
    depth = max([level_of(a) for a in leaves], default=0)
    needs = [carries_gradient(a, depth) for a in leaves]
    if not modes.grad_enabled() or (depth and not any(needs)):
        return function(*args, **kwargs)
    name = f"checkpoint of {getattr(function, '__name__', type(function).__name__)}"
    shape: list[Any] = []

    def flat(inner: Leaves) -> Leaves:
        more_args, more_kwargs = structure.unflatten(inner)
        outs, out_structure = flatten(function(*more_args, **more_kwargs))
        shape[:] = [out_structure]
        return outs

    start = core.next_stamp()
    inputs = [alias(a, False) if need else a for a, need in zip(leaves, needs, strict=True)]
    before = draws.snapshot() if preserve else []
    outs = flat(inputs)
    out_structure = shape[0]
    own = {a._n: i for i, a in enumerate(inputs) if needs[i]}
    recorded = [i for i, o in enumerate(outs) if carries_gradient(o, depth)]
    found = boundary([outs[i]._n for i in recorded], start, own)
    captured = [n for n in found if n not in own]
    originals = {id(a): leaf for a, leaf in zip(inputs, leaves, strict=True)}
    values = [outs[i] for i in recorded]
    shared = [v._n in found or packs.shares(v, inputs) for v in values]
    shown = [None if i in recorded else originals.get(id(o), o) for i, o in enumerate(outs)]
    del outs  # see packs.with_node
    again = Again(name, flat, recorded, draws.used(before), values)
    parents = [a._n if need else None for a, need in zip(leaves, needs, strict=True)]
    arrays = hang(again, leaves, [*parents, *captured], values, shared)
    for i, array in zip(recorded, arrays, strict=True):
        shown[i] = array
    return out_structure.unflatten(shown)
