"""Checkpoints: all that a training run needs to go on bit for bit, in one safetensors file.

`save_checkpoint` takes models, optimisers, schedules and loaders (whatever has `state_dict`) and
plain values by name; `load_checkpoint` puts them back. The structure is JSON in the file's free
text, the arrays are its data; nothing in a file is run. Writing is atomic. See also `model.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.errors import FormatError, describe
from numen.formats.model import memory_of, read_arrays, write_arrays
from numen.random import default_stream

ENTRY = "checkpoint"
PLAIN = (str, bool, int, float, type(None))


def save_checkpoint(path: str | os.PathLike[str], /, **parts: Any) -> None:
    """Write the state of a training run to a file.

    The position of the default random stream is part of it.

    Parameters
    ----------
    path : str or path-like
        The file; an old one stays whole until the new one is.
    **parts : object
        By name: objects with `state_dict()`, or values made of numbers, text, None, arrays, lists,
        tuples and dicts.

    Raises
    ------
    TypeError
        If a value is made of something else.
    OSError
        The file can't be written; an old one is untouched.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numen as nm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.safetensors"
    >>> net = nm.nn.Linear(3, 2)
    >>> opt = nm.optim.Adam(net.parameters())
    >>> save_checkpoint(path, model=net, optimizer=opt, epoch=3)
    >>> load_checkpoint(path, model=net, optimizer=opt)
    {'epoch': 3}
    """
    arrays: dict[str, Any] = {}
    known: dict[Any, str] = {}
    tree = {}
    for name, part in parts.items():
        stateful = hasattr(part, "state_dict")
        value = part.state_dict() if stateful else part
        tree[name] = ["state" if stateful else "value", _encode(value, name, arrays, known)]
    stream = [default_stream.seed, default_stream.stream, default_stream.position]
    text = json.dumps({"parts": tree, "random": stream}, separators=(",", ":"))
    write_arrays(path, arrays, {ENTRY: text})


def load_checkpoint(path: str | os.PathLike[str], /, **parts: Any) -> dict[str, Any]:
    """Put the state of a training run back.

    Parameters
    ----------
    path : str or path-like
        Written by `save_checkpoint`.
    **parts : object
        Objects with `load_state_dict()`, by the names they were saved under.

    Returns
    -------
    dict
        The plain values, and the states of parts that were not given, by name.

    Raises
    ------
    FormatError
        The file is damaged or is no checkpoint.
    KeyError
        If a part is not in the file.
    StateDictError, ValueError
        If a part's state does not fit the object.
    """
    arrays, text = read_arrays(path)
    try:
        table = json.loads(text[ENTRY])
        seed, stream, position = [int(n) for n in table["random"]]
        states = {name: _decode(tree, arrays) for name, (_, tree) in table["parts"].items()}
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"{os.fspath(path)} is not a checkpoint: {error!r}") from error
    for name in parts:
        if name not in states:
            raise KeyError(
                f"load_checkpoint: {os.fspath(path)} has no part {name!r}; it has "
                f"{', '.join(states)}"
            )
    for name, part in parts.items():
        part.load_state_dict(states[name])
    default_stream.seed, default_stream.stream, default_stream.position = seed, stream, position
    return {name: state for name, state in states.items() if name not in parts}


def _encode(value: Any, place: str, arrays: dict[str, Any], known: dict[Any, str]) -> Any:
    """A value as JSON: plain ones as they are, others as [kind, content]."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, (ArrayCore, np.ndarray, np.generic)):
        memory = memory_of(value)
        if memory is None or memory not in known:
            name = place
            while name in arrays:
                name += "'"
            arrays[name] = value
            known[memory] = name
            return ["array", name]
        return ["array", known[memory]]
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return [kind, [_encode(v, f"{place}.{i}", arrays, known) for i, v in enumerate(value)]]
    if isinstance(value, Mapping):
        pairs = []
        for key, item in value.items():
            if type(key) not in PLAIN:
                raise TypeError(f"save_checkpoint: {place} has the key {describe(key)}")
            pairs.append([key, _encode(item, f"{place}.{key}", arrays, known)])
        return ["dict", pairs]
    raise TypeError(
        f"save_checkpoint: {place} is {describe(value)}; expected numbers, text, None, arrays, "
        "lists, tuples and dicts"
    )


def _decode(tree: Any, arrays: dict[str, Any]) -> Any:
    if not isinstance(tree, list):
        return tree
    kind, content = tree
    if kind == "array":
        return arrays[content]
    if kind == "dict":
        return {key: _decode(item, arrays) for key, item in content}
    items = [_decode(item, arrays) for item in content]
    if kind not in ("list", "tuple"):
        raise ValueError(f"unknown kind {kind!r}")
    return tuple(items) if kind == "tuple" else items
