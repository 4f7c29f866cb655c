"""The words of random statements: each `{key}` of a template becomes a random piece of source text.

`Words` is the mapping that `str.format_map` reads: `x`, `y` and `z` name arrays, `axis` and `index`
fit x, `new` is the name to assign. Used by `statements.py` and `surface.py`, whose templates list
what there is.
"""

from __future__ import annotations

import random
from typing import Any

RARE = ("int8", "int16", "uint32", "uint64", "float16", "complex64")
DTYPES = ("float32", "float32", "float64", "float64", "int32", "int64", "bool", "uint8")

CHOICES = {
    "c": ("2", "0.5", "-1", "3", "1.25", "True", "0"),
    "sign": ("+", "-", "*"),
    "arithmetic": ("+", "-", "*", "/"),
    "whole": ("//", "%", "**"),
    "bitwise": ("&", "|", "^"),
    "shift": ("<<", ">>"),
    "compare": ("<", ">=", "==", "!="),
    "equality": ("==", "!="),
    "keep": (", keepdims=True", ""),
    "number": ("k", "n", "k * 2 + n", "n // 2", "1 / n", "-k", "n % 3", "0.9 ** n", "-n * 100"),
    "there": ("nm.array([0, -1, 0])",),
    "join": ("0", "-1", "None"),
    "item": ("0", "1"),
    "slice": ("1:", ":-1", "::2", "::-1", "1:3", "0", "-1", "None", "...", ":"),
    "shift_by": ("1", "-2", "(1, 2)"),
    "kth": ("0", "-1", "1"),
    "width": ("1", "(1, 0)", "((0, 2),)"),
    "padding": ("constant", "edge", "wrap", "reflect", "symmetric"),
    "k": ("0", "1", "-1"),
    "level": ("0.25", "0.5", "[0.1, 0.9]"),
    "method": ("linear", "lower", "nearest"),
}
"""What a key stands for where neither the arrays nor other words matter."""


def dtype(pick: random.Random) -> str:
    """A dtype's name, rare ones rarely."""
    return pick.choice(RARE if pick.random() < 0.1 else DTYPES)


class Words:
    """A mapping from the keys of templates to source text.

    names: the arrays there are, by name; `x`, `y` and `z` are chosen once, other words anew each
    time that they occur.
    """

    def __init__(self, pick: random.Random, names: dict[str, Any], new: str) -> None:
        self._pick = pick
        self._names = names
        self._fixed = {"new": new, **{key: pick.choice(list(names)) for key in "xyz"}}

    def __getitem__(self, key: str) -> str:
        if key in self._fixed:
            return self._fixed[key]
        if key in CHOICES:
            return self._pick.choice(CHOICES[key])
        return str(getattr(self, key)())

    @property
    def _rank(self) -> int:
        rank: int = self._names[self._fixed["x"]].ndim
        return rank

    def _some(self, fits: Any) -> str:
        """An array of those that fit, which is x from now on; any where none does."""
        found = [name for name, a in self._names.items() if fits(a)]
        self._fixed["x"] = self._pick.choice(found or list(self._names))
        return self._fixed["x"]

    def integers(self) -> str:
        return self._some(lambda a: a.dtype.kind in "iub")

    def floats(self) -> str:
        return self._some(lambda a: a.dtype.kind == "f")

    def vector(self) -> str:
        return self._some(lambda a: a.ndim == 1)

    def matrix(self) -> str:
        return self._some(lambda a: a.ndim == 2)

    def yc(self) -> str:
        """y or a number."""
        return self._pick.choice((self["y"], self["c"]))

    def dtype(self) -> str:
        return dtype(self._pick)

    def axis(self) -> str:
        """None, an axis of x, or two."""
        if not self._rank or self._pick.random() < 0.3:
            return "None"
        if self._rank > 1 and self._pick.random() < 0.25:
            return str(tuple(sorted(self._pick.sample(range(self._rank), 2))))
        return self.one()

    def line(self) -> str:
        """None or an axis of x."""
        return "None" if self._pick.random() < 0.3 else self.one()

    def one(self) -> str:
        """An axis of x; rarely one that it may not have."""
        if not self._rank or self._pick.random() < 0.02:
            return self._pick.choice(("0", "-1", "1"))
        return str(self._pick.randrange(-self._rank, self._rank))

    def index(self) -> str:
        """Ints, slices, None and an Ellipsis for x."""
        entries = [self["slice"] for _ in range(self._pick.randint(1, max(1, self._rank)))]
        if entries.count("...") > 1:
            entries = ["..."] + [e for e in entries if e != "..."]
        return ", ".join(entries)

    def order(self) -> str:
        """The axes of x in another order."""
        axes = list(range(self._rank))
        self._pick.shuffle(axes)
        return str(tuple(axes))

    def halves(self) -> str:
        """Where to split x along its first axis."""
        return self._pick.choice(("2", "[1]", "[1, 2]", "1"))

    def folded(self) -> str:
        """Another shape for x's elements."""
        size: int = self._names[self._fixed["x"]].size
        return self._pick.choice(("-1", "(1, -1)", "(-1, 1)", "(2, -1)", f"(1, {size}, 1)"))
