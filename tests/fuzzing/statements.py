"""Templates of the statements that every program is made of: operators, views, writes, state.

`words.py` says what the keys stand for; `surface.py` has the templates of NumPy's functions. A
statement that raises is left out of programs that are compiled.
"""

from __future__ import annotations

import random
from typing import Any

from tests.fuzzing import surface
from tests.fuzzing.words import Words

OPERATORS = (
    *("{new} = {x} {arithmetic} {y}",) * 4,
    "{new} = {x} {arithmetic} {c}",
    "{new} = {c} {arithmetic} {x}",
    "{new} = {integers} {whole} {yc}",
    "{new} = {x} {whole} {yc}",
    "{new} = {integers} {bitwise} {yc}",
    "{new} = {integers} {shift} 1",
    "{new} = ~{integers}",
    "{new} = ({x} {compare} {yc}) {bitwise} ({y} {compare} {c})",
    "{new} = abs({x})",
    "{new} = -{x}",
    "{new} = divmod({x}, {yc})[{item}]",
    "{new} = nm.relu({x})",
    "{new} = nm.tanh({x}) * 0.5",
    "{new} = {x} @ {y}",
    "{new} = {x}.T @ {y}",
    "{new} = {x} @ {y}.T",
    "{new} = {x} @ {x}.T",
    "{new} = {x}.astype('{dtype}')",
)

VIEWS = (
    "{new} = {x}[{index}]",
    "{new} = {x}[{index}]",
    "{new} = {x}.reshape({folded})",
    "{new} = {x}.T",
    "{new} = {x}.T.reshape(-1)",
    "{new} = {x}[None]",
    "{new} = {x}.copy()",
    "{new} = {x}.transpose({order})",
    "{new} = {x}[{index}].T[{slice}]",
    "{new} = {x}.reshape(-1)[{slice}][None]",
    "{new} = {x}.detach()[{index}]",
    "{new} = {x}.T.reshape(-1, 1) + {x}.reshape(-1)[:1]",
    "{new} = {x}[n % 2:]",
)

WRITES = (
    "{x}[{index}] = {yc}",
    "{x}[{index}] = {yc}",
    "{x}[{index}] {sign}= {yc}",
    "{x}[{index}] {sign}= {yc}",
    "{x} {sign}= {yc}",
    "{x} {sign}= {yc}",
    "{integers} {whole}= {yc}",
    "{integers} {bitwise}= {yc}",
    "{x}.reshape({folded})[{slice}] {sign}= {yc}",
    "{x}.T[{slice}] = {yc}",
    "nm.{binary}({x}, {yc}, out={z})",
    "nm.{unary}({x}, out={z})",
    "{new} = nm.{binary}({x}, {y}, where={z} > 0)",
    "nm.{binary}({x}, {yc}, out={z}, where={x} < {yc})",
    "{x}.sum(axis={axis}, out={z})",
    "{x}[{index}] = {number}",
    "{x}[{index}] += {number}",
    "{x}[{index}] *= {number}",
    "{x}[{there}] = {yc}",
    "{x}[{there}] += {yc}",
    "{x}[{there}] += n",
    "with nm.no_grad(): {x}[{index}] = {yc}",
)

STATE = (
    "s.items[{item}] = {x}.detach()",
    "s.items[0], s.items[1] = s.items[1], {x}.detach() * 1",
    "{new} = s.items[{item}] {sign} {x}",
    "{new} = s.items[{item}] {sign} {c}",
    "s.losses.append({x}.sum().item())",
    "{new} = (lambda t, u: t * u + {yc})({x}, {yc})",
    "{new} = {x} {sign} ({number})",
    "{new} = ({number}) {sign} {x}",
    "{new} = {x} if {number} > {c} else {x} * 2",
    "{new} = {x} * ({y}.sum().item() * 0.5)",
    "{new} = {x} * 2 if nm.sum({y}) > {c} else {x} - 1",
    "{new} = nm.scatter_add({x}, {there}, {c})",
    "{new} = nm.scatter_add({x}, {there}, k)",
    "w.grad = None; nm.sum(nm.tanh({x} * p)).backward(retain_graph=True); {new} = w.grad * 1",
)

FAMILIES = (
    (5, OPERATORS),
    (3, VIEWS),
    (4, WRITES),
    (2, STATE),
    (3, surface.ELEMENTWISE),
    (3, surface.REDUCTIONS),
    (1, surface.ORDER),
    (3, surface.SHAPES),
    (1, surface.PRODUCTS),
    (2, surface.PICKS),
)
"""How often a statement comes from each family."""

BY_VALUE = 0.004
"""The share of statements that a compiled function can't hold: what they give depends on values."""


class _Statement(Words):
    """The words with those for names of functions."""

    def unary(self) -> str:
        return self._pick.choice(surface.UNARY)

    def binary(self) -> str:
        return self._pick.choice(surface.BINARY)

    def bits(self) -> str:
        return self._pick.choice(surface.BITS)

    def reduction(self) -> str:
        return self._pick.choice(surface.REDUCING)

    def masked(self) -> str:
        return self._pick.choice(surface.MASKED)

    def running(self) -> str:
        return self._pick.choice(surface.RUNNING)


def statement(pick: random.Random, names: dict[str, Any], new: str) -> str:
    """A random statement over the arrays `names`; it assigns `new` or writes in place."""
    weights = [weight for weight, _ in FAMILIES]
    family = pick.choices([templates for _, templates in FAMILIES], weights)[0]
    if pick.random() < BY_VALUE:
        family = surface.BY_VALUE
    return pick.choice(family).format_map(_Statement(pick, names, new))
