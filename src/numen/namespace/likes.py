"""`like=`: an array of another library's class says what a function of creation makes.

`from_like` is asked where `like=` is given (NEP 35): None, Arrays and NumPy's own arrays leave the
call to numen; any other class decides through its `__array_function__`, with numen's function or,
where it does not know that, NumPy's. Called by `creation.py` and the files after it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore

LEAVE: Any = NotImplemented
"""The answer that leaves the call to numen."""


def from_like(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """What the class of `like` makes of a call whose parameters are `given` by name.

    Raises
    ------
    TypeError
        If `like` has no `__array_function__`, or that does not know the function.
    """
    given = dict(given)
    like = given.pop("like")
    if not overrides(like):
        return LEAVE
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in given:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            kwargs.update(given[name])
        elif parameter.default is parameter.empty:
            args.append(given[name])
        elif given[name] is not parameter.default:
            kwargs[name] = given[name]
    return ask(function, getattr(np, function.__name__), like, args, kwargs)


def overrides(like: Any) -> bool:
    """Whether `like` is of a class that makes its own arrays."""
    if like is None or isinstance(like, ArrayCore):
        return False
    method = getattr(type(like), "__array_function__", None)
    if method is None and not isinstance(like, np.generic):
        raise TypeError(
            "The `like` argument must be an array-like that implements the "
            "`__array_function__` protocol."
        )
    return method is not None and method is not np.ndarray.__array_function__


def ask(ours: Any, theirs: Any, like: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call `like.__array_function__` with numen's function, then with NumPy's."""
    for function in (ours, theirs):
        result = like.__array_function__(function, (type(like),), tuple(args), dict(kwargs))
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for 'numpy.{theirs.__name__}' on types that implement "
        f"__array_function__: [{type(like)!r}]"
    )
