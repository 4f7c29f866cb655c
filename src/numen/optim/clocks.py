"""Clocked: an optimiser whose parameters count their steps, with counts shared where they agree.

Counts are 0-d arrays written in place, so a traced step is the same instructions at every step.
Parameters that always step together hold the same arrays: what depends on the count alone is then
computed once a step. The base of `adam.py`, `rmsprop.py` and `adagrad.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numen.optim.optimizer import Optimizer


class Clocked(Optimizer):
    """An optimiser that calls `_tick` once a clock and step, then `_update` for each parameter."""

    clock: tuple[str, ...] = ("step",)
    """Names of the 0-d arrays in a parameter's state that make up its clock."""

    def _tick(self, state: dict[str, Any], group: dict[str, Any]) -> Any:
        """Advance a clock; what the updates need of it."""
        raise NotImplementedError

    def _update(
        self, p: Any, g: Any, group: dict[str, Any], state: dict[str, Any], factors: Any
    ) -> None:
        """Update one parameter and its state, in place; all have at least one axis and the
        gradient has the state's dtype."""
        raise NotImplementedError

    def _step(self) -> None:
        position = 0
        for group in self.param_groups:
            moving: list[tuple[Any, Any, dict[str, Any]]] = []
            idle: list[dict[str, Any]] = []
            for p in group["params"]:
                state = self.state[position]
                position += 1
                if p.grad is None:
                    idle.append(state)
                else:
                    moving.append((p, self._gradient(p, group), state))
            if idle:
                self._leave_behind([state for _, _, state in moving], idle)
            factors: dict[int, Any] = {}
            for p, g, state in moving:
                clock = id(state["step"])
                if clock not in factors:
                    factors[clock] = self._tick(state, group)
                if not p.ndim:  # what an op computes from 0-d arrays is a scalar: no write into it
                    p, g = p.reshape(1), g.reshape(1)
                    state = {
                        name: value if name in self.clock else value.reshape(1)
                        for name, value in state.items()
                    }
                dtype = self._state_dtype(state)
                if g.dtype != dtype:
                    g = g.astype(dtype)
                if p.dtype.kind != "c":
                    self._update(p, g, group, state, factors[clock])
                else:  # either part is a number of its own
                    for part in ("real", "imag"):
                        halves = {
                            name: value if name in self.clock else getattr(value, part)
                            for name, value in state.items()
                        }
                        args = (getattr(p, part), getattr(g, part), group, halves)
                        self._update(*args, factors[clock])

    def _state_dtype(self, state: dict[str, Any]) -> Any:
        """The dtype in which a parameter is updated: float32 at least."""
        return next(value.dtype for name, value in state.items() if name not in self.clock)

    # ------------------------------------------------------------ sharing
    def add_param_group(self, group: dict[str, Any]) -> None:
        super().add_param_group(group)
        self._share_clocks()

    def _share_clocks(self) -> None:
        """Let parameters of a group that have made equal steps hold the same clock arrays."""
        position = 0
        for group in self.param_groups:
            known: dict[tuple[float, ...], dict[str, Any]] = {}
            for _ in group["params"]:
                state = self.state[position]
                first = known.setdefault(tuple([float(state[n]) for n in self.clock]), state)
                state.update({name: first[name] for name in self.clock})
                position += 1

    def _leave_behind(self, states: list[dict[str, Any]], idle: list[dict[str, Any]]) -> None:
        """Give parameters that step a clock of their own where they share one with parameters that
        do not."""
        stopped = {id(state["step"]) for state in idle}
        copies: dict[int, dict[str, Any]] = {}
        for state in states:
            clock = id(state["step"])
            if clock in stopped:
                if clock not in copies:
                    copies[clock] = {name: state[name].copy() for name in self.clock}
                state.update(copies[clock])

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        for state in self.state.values():
            state.update({name: state[name].copy() for name in self.clock})
        try:
            super().load_state_dict(state_dict)
        finally:
            self._share_clocks()
