"""Optimizer: parameter groups, state and their storage; the base of all optimisers.

State is made when parameters are added and afterwards only written in place, so nothing in Python
changes from step to step and a traced training step compiles. Options are Python numbers in
`param_groups`, read at each step. Next: `clocks.py`, `sgd.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from numen.dispatch import modes, views
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import describe
from numen.namespace import zeros
from numen.namespace.devices import moved
from numen.tracing.snapshot import follow

NOT_NEGATIVE = ("lr", "weight_decay", "momentum", "eps", "lr_decay", "alpha")


class Optimizer:
    """What all optimisers share.

    Parameters
    ----------
    params : iterable of Array, or of dict
        Leaves to update; or groups, each a dict with "params" and its own options.
    defaults : dict
        Options of groups that do not name them.

    Attributes
    ----------
    param_groups : list of dict
        "params" and options, as in PyTorch; change an option (the learning rate) at any time.
    state : dict
        By position of the parameter, over all groups: its arrays by name.

    Raises
    ------
    TypeError
        If a parameter is no Array.
    ValueError
        If there are none, one is given twice, or one was computed by an op.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[int, dict[str, Any]] = {}
        given: list[Any] = [params] if isinstance(params, ArrayCore) else list(params)
        if not given:
            raise ValueError(f"{type(self).__name__}: got an empty parameter list")
        if not isinstance(given[0], dict):
            given = [{"params": given}]
        for group in given:
            self.add_param_group(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with their own options."""
        name = type(self).__name__
        params = group["params"]
        params = [params] if isinstance(params, ArrayCore) else list(params)
        known = {id(p) for other in self.param_groups for p in other["params"]}
        for p in params:
            if not isinstance(p, ArrayCore):
                raise TypeError(f"{name}: expected Arrays to optimise, got {describe(p)}")
            if not p.is_leaf:  # type: ignore[attr-defined]
                raise ValueError(
                    f"{name}: can't optimise what an op computed; got {describe(p)}. Hint: detach()"
                )
            if id(p) in known:
                raise ValueError(f"{name}: a parameter appears more than once; got {describe(p)}")
            known.add(id(p))
        complete = {
            "params": params,
            **self.defaults,
            **{k: v for k, v in group.items() if k != "params"},
        }
        self._check(complete)
        self.param_groups.append(complete)
        for p in params:
            self.state[len(self.state)] = self._new_state(p, complete)

    def _check(self, group: dict[str, Any]) -> None:
        """Refuse options that make no sense."""
        for option in NOT_NEGATIVE:
            if not group.get(option, 0.0) >= 0.0:
                raise ValueError(
                    f"{type(self).__name__}: {option} must not be negative, got {group[option]}"
                )

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        """The arrays kept for a parameter."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient, in place.

        Parameters
        ----------
        closure : callable, optional
            Evaluates the model anew, calls `backward` and returns the loss.

        Returns
        -------
        object
            What the closure returned, else None.
        """
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        with modes.no_grad():
            self._step()
        return loss

    def _step(self) -> None:
        """The update itself; gradients are off."""
        raise NotImplementedError

    def _gradient(self, p: Any, group: dict[str, Any]) -> Any:
        """The gradient to descend along: turned round where the group maximizes."""
        return -p.grad if group.get("maximize") else p.grad

    @property
    def lr(self) -> float:
        """The learning rate of the first group; setting it sets that of all groups."""
        return self.param_groups[0]["lr"]  # type: ignore[no-any-return]

    @lr.setter
    def lr(self, value: float) -> None:
        for group in self.param_groups:
            group["lr"] = value

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients, or with `set_to_none=False` fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.fill(0)

    # ------------------------------------------------------------ storage
    def state_dict(self) -> dict[str, Any]:
        """State and options in PyTorch's form: {"state": by position, "param_groups": with
        positions}.

        The arrays are copies: they keep the values of this moment.
        """
        groups, at = [], 0
        for group in self.param_groups:
            positions = list(range(at, at + len(group["params"])))
            at += len(positions)
            groups.append(
                {**{k: _plain(v) for k, v in group.items() if k != "params"}, "params": positions}
            )
        state = {
            i: {name: value.copy() for name, value in arrays.items()}
            for i, arrays in self.state.items()
            if arrays
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave, so that training goes on bit for bit; nothing is
        written unless it fits.

        Raises
        ------
        ValueError
            If groups, parameter counts, names or shapes differ.
        """
        name = type(self).__name__
        groups = state_dict["param_groups"]
        have = [len(g["params"]) for g in self.param_groups]
        if [len(g["params"]) for g in groups] != have:
            raise ValueError(
                f"{name}.load_state_dict: expected groups of {have} parameters, got "
                f"{[len(g['params']) for g in groups]}"
            )
        saved = state_dict["state"]
        positions = [i for g in groups for i in g["params"]]
        writes = []
        for (i, arrays), position in zip(self.state.items(), positions, strict=True):
            stored = saved.get(position, saved.get(str(position)))
            given = self._restored(stored or self._new_state_of(i), i)
            for key, array in arrays.items():
                if key not in given:
                    raise ValueError(f"{name}.load_state_dict: parameter {position} has no {key!r}")
                value = as_array(given[key])
                if value.shape != array.shape:
                    raise ValueError(
                        f"{name}.load_state_dict: {key!r} of parameter {position}: "
                        f"expected shape {array.shape}, got {describe(value)}"
                    )
                writes.append((array, moved(value, array.device)))
        options = [
            {**group, **{k: v for k, v in other.items() if k != "params"}}
            for group, other in zip(self.param_groups, groups, strict=True)
        ]
        for group in options:
            self._check(group)
        for group, new in zip(self.param_groups, options, strict=True):
            group.update(new)
        with modes.no_grad():
            for array, value in writes:
                views.write(array, value, "load_state_dict", casting="unsafe")

    def _new_state_of(self, position: int) -> dict[str, Any]:
        """The state of a parameter that has made no step."""
        group, at = self._group_of(position)
        return self._new_state(group["params"][at], group)

    def _group_of(self, position: int) -> tuple[dict[str, Any], int]:
        """The group of the parameter at a position over all groups, and its place there."""
        for group in self.param_groups:
            if position < len(group["params"]):
                return group, position
            position -= len(group["params"])
        raise IndexError(f"{type(self).__name__}: no parameter at position {position}")

    def _restored(self, saved: Mapping[str, Any], position: int) -> Mapping[str, Any]:
        """Saved arrays of one parameter, completed where another library stores less."""
        return saved

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _plain(option: Any) -> Any:
    """An option as it is stored: the list that is written in place as a tuple."""
    return tuple(option) if isinstance(option, list) else option


def zeros_for(p: Any) -> Any:
    """Zeros of a parameter's shape on its device, in its dtype or float32 for smaller floats."""
    return moved(zeros(p.shape, p.dtype if p.dtype.itemsize >= 4 else np.float32), p.device)


follow(Optimizer)
