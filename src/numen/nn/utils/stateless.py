"""functional_call: a module as a function of its parameters; stack_module_state: many modules'
parameters with an axis for the modules, for `vmap`.

So `grad`, `vmap`, `jvp` and the rest apply to networks.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from numen.dispatch import core
from numen.dispatch.core import ArrayCore
from numen.errors import describe
from numen.namespace import stack
from numen.nn.contents import Contents, joined
from numen.nn.module import Module, StateDictError
from numen.nn.parameter import Parameter

__all__ = ["functional_call", "stack_module_state"]

_locks: weakref.WeakKeyDictionary[Module, Any] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers than its own.

    Parameters
    ----------
    module : Module
    parameter_and_buffer_dicts : dict or sequence of dicts
        Arrays by dotted name, as in `dict(module.named_parameters())`. Those that are not named are
        the module's own; names that it does not have are passed over.
    args : tuple or anything else
        The positional arguments; what is no tuple is the one argument.
    kwargs : dict, optional
    tie_weights : bool
        An array given for a shared parameter holds under all its names.
    strict : bool
        The names must be exactly the module's.

    Raises
    ------
    StateDictError
        With `strict`, if names are missing or unexpected.
    ValueError
        If two dicts have a name in common, or one shared parameter gets different arrays.

    Notes
    -----
    The arrays take the places of the module's own until the call ends, also by an exception. Calls
    with one module take turns; another thread that uses the module itself meanwhile, or a part of
    it that another module shares, sees the arrays too.

    Examples
    --------
    >>> import numen as nm
    >>> layer = nm.nn.Linear(2, 1)
    >>> weights = {"weight": nm.array([[1.0, 10.0]]), "bias": nm.array([0.5])}
    >>> nm.nn.functional_call(layer, weights, nm.array([[2.0, 3.0]]))
    array([[32.5]])
    >>> def loss(weights, x):
    ...     return nm.nn.functional_call(layer, weights, (x,)).sum()
    >>> nm.grad(loss)(weights, nm.array([[2.0, 3.0]]))["weight"]
    array([[2., 3.]])
    """
    if not isinstance(module, Contents):
        raise TypeError(f"functional_call: expected a Module, got {describe(module)}")
    given = _one_dict(parameter_and_buffer_dicts)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _lock_of(module), _swapped(module, given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def _lock_of(module: Module) -> Any:
    with _making:
        lock = _locks.get(module)
        if lock is None:
            lock = _locks[module] = threading.RLock()
        return lock


def _one_dict(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence) or not all([isinstance(d, Mapping) for d in dicts]):
        raise TypeError(
            f"functional_call: expected a dict or a sequence of dicts, got {describe(dicts)}"
        )
    joint: dict[str, Any] = {}
    for one in dicts:
        twice = sorted(set(one) & set(joint))
        if twice:
            raise ValueError(f"functional_call: {twice} are in more than one dict")
        joint.update(one)
    return joint


def _places(module: Module) -> dict[str, tuple[Any, str, Any]]:
    """(module, attribute, array) of every array that can be swapped, by dotted name, also under the
    other names of what is shared."""
    return {
        joined(where, name): (part, name, value)
        for where, part in module.named_modules(remove_duplicate=False)
        for name, value in vars(part).items()
        if isinstance(value, ArrayCore) or name in part._buffers
    }


@contextmanager
def _swapped(
    module: Module, given: Mapping[str, Any], tie_weights: bool, strict: bool
) -> Iterator[None]:
    """The module with other arrays in its places."""
    places = _places(module)
    if strict:
        _check_names(module, given, tie_weights)
    chosen = {name: value for name, value in given.items() if name in places}
    if tie_weights:
        chosen = _tied(places, chosen)
    before = []
    for name in chosen:
        part, attribute, own = places[name]
        before.append((part, attribute, own, part._swapped))
    try:
        for name, value in chosen.items():
            part, attribute, own = places[name]
            part.__dict__[attribute] = value
            if isinstance(own, Parameter) and not isinstance(value, Parameter):
                part.__dict__["_swapped"] = part._swapped | {attribute}
        yield
    finally:
        for part, attribute, own, swapped in reversed(before):
            part.__dict__[attribute] = own
            if swapped:
                part.__dict__["_swapped"] = swapped
            else:
                part.__dict__.pop("_swapped", None)


def _tied(places: Mapping[str, tuple[Any, str, Any]], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The chosen arrays under all names of the parameters they stand for.

    Raises
    ------
    ValueError
        If the names of one parameter get different arrays.
    """
    names: dict[int, list[str]] = {}
    for name, (_, _, own) in places.items():
        if own is not None:
            names.setdefault(id(own), []).append(name)
    tied = dict(chosen)
    for name, value in chosen.items():
        for other in names.get(id(places[name][2]), ()):
            if other in chosen and chosen[other] is not value:
                raise ValueError(
                    f"functional_call: {name!r} and {other!r} are one parameter, but get different "
                    "arrays. Hint: give one of them, or tie_weights=False"
                )
            tied[other] = value
    return tied


def _check_names(module: Module, given: Mapping[str, Any], tie_weights: bool) -> None:
    """Raise where the names are not the module's.

    Raises
    ------
    StateDictError
        If some are missing or unexpected.
    """
    every = dict(module.named_parameters(remove_duplicate=False))
    every.update(module.named_buffers(remove_duplicate=False))
    covered = {id(every[name]) for name in given if name in every} if tie_weights else set()
    missing = [n for n, own in every.items() if n not in given and id(own) not in covered]
    unexpected = [n for n in given if n not in every]
    if missing or unexpected:
        raise StateDictError(
            f"functional_call: {type(module).__name__} has other names; missing {missing}, "
            f"unexpected {unexpected}"
        )


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of equal modules, stacked along a new first axis.

    Parameters
    ----------
    models : sequence of Module
        Of one class and mode, with equal names and shapes.

    Returns
    -------
    params, buffers : dict
        Arrays by dotted name; the parameters are leaves, which require a gradient where the
        modules' do.

    Raises
    ------
    ValueError
        If there are no models, or they differ.

    Examples
    --------
    >>> import numen as nm
    >>> models = [nm.nn.Linear(3, 2) for _ in range(4)]
    >>> params, buffers = nm.nn.stack_module_state(models)
    >>> params["weight"].shape
    (4, 2, 3)
    >>> def run(p, x):
    ...     return nm.nn.functional_call(models[0], p, (x,))
    >>> nm.vmap(run, (0, None))(params, nm.ones(3, nm.float32)).shape
    (4, 2)
    """
    models = list(models)
    if not models:
        raise ValueError("stack_module_state: expected at least one module")
    kinds = {type(m) for m in models}
    if len(kinds) > 1:
        names = sorted([kind.__name__ for kind in kinds])
        raise ValueError(f"stack_module_state: the modules are of different classes: {names}")
    if len({m.training for m in models}) > 1:
        raise ValueError("stack_module_state: some modules are in training mode, others are not")
    params = _stacked([dict(m.named_parameters()) for m in models], "parameters")
    for name, own in models[0].named_parameters():
        params[name].requires_grad_(own.requires_grad)
    return params, _stacked([dict(m.named_buffers()) for m in models], "buffers")


def _stacked(states: Sequence[dict[str, Any]], what: str) -> dict[str, Any]:
    names = list(states[0])
    if any([list(state) != names for state in states]):
        raise ValueError(f"stack_module_state: the modules have different {what}")
    return {name: stack([core.ARRAY.detach(s[name]) for s in states]) for name in names}
