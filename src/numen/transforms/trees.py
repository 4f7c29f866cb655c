"""Nested containers of arrays: flattened into leaves, and built again from them.

Tuples, named tuples, lists and dicts (also OrderedDict and defaultdict) are nodes, None is a node
without leaves, everything else is a leaf. Dicts keep their own order. Used by every transform.
Next: `batching.py`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from numen.errors import describe


class Structure:
    """The shape of a nested container: what `flatten` took apart.

    Examples
    --------
    >>> from numen.transforms.trees import flatten
    >>> leaves, structure = flatten({"w": [1, 2], "b": 3})
    >>> leaves, structure.count
    ([1, 2, 3], 3)
    >>> structure.unflatten([10, 20, 30])
    {'w': [10, 20], 'b': 30}
    """

    __slots__ = ("children", "count", "kind", "parts")

    count: int

    def __init__(self, kind: Any, parts: Any, children: tuple[Structure, ...]) -> None:
        self.kind = kind
        self.parts = parts
        self.children = children
        self.count = 1 if kind is _LEAF else sum([c.count for c in children])

    def unflatten(self, leaves: Any) -> Any:
        """The container with these leaves.

        Raises
        ------
        ValueError
            If their number differs from `count`.
        """
        leaves = list(leaves)
        if len(leaves) != self.count:
            raise ValueError(f"unflatten: expected {self.count} leaves, got {len(leaves)}")
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> Any:
        if self.kind is _LEAF:
            return next(leaves)
        if self.kind is None:
            return None
        values = [child._build(leaves) for child in self.children]
        if self.parts is None:
            return self.kind(*values) if hasattr(self.kind, "_fields") else self.kind(values)
        keys, factory = self.parts
        pairs = zip(keys, values, strict=True)
        return self.kind(factory, pairs) if self.kind is defaultdict else self.kind(pairs)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Structure)
            and self.kind is other.kind
            and (self.parts is None) == (other.parts is None)
            and (self.parts is None or self.parts[0] == other.parts[0])
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.count))

    def __repr__(self) -> str:
        return f"Structure({self.unflatten(['*'] * self.count)!r})"


class _Leaf:
    """The kind of a structure that is one leaf."""


_LEAF = _Leaf
_ONE = Structure(_LEAF, None, ())
_NOTHING = Structure(None, None, ())


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves of a nested container in order, and its structure."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[Any]) -> Structure:
    kind = type(tree)
    if kind is tuple or kind is list or (isinstance(tree, tuple) and hasattr(kind, "_fields")):
        return Structure(kind, None, tuple([_flatten(x, leaves) for x in tree]))
    if kind is dict or kind is OrderedDict or kind is defaultdict:
        factory = tree.default_factory if kind is defaultdict else None
        children = tuple([_flatten(x, leaves) for x in tree.values()])
        return Structure(kind, (tuple(tree), factory), children)
    if tree is None:
        return _NOTHING
    leaves.append(tree)
    return _ONE


def map_leaves(function: Callable[..., Any], tree: Any) -> Any:
    """The container with `function(leaf)` in place of every leaf."""
    leaves, structure = flatten(tree)
    return structure.unflatten([function(leaf) for leaf in leaves])


def spread_prefix(prefix: Any, tree: Any, what: str) -> list[Any]:
    """One entry of `prefix` for each leaf of `tree`: an entry stands for all leaves below it.

    Entries are ints or None, as in `in_axes` and `out_axes`.

    Raises
    ------
    ValueError
        If the two do not fit.
    """
    if prefix is None or not isinstance(prefix, (tuple, list, dict)):
        return [prefix] * flatten(tree)[1].count
    if isinstance(prefix, dict):
        if not isinstance(tree, dict) or set(prefix) != set(tree):
            raise ValueError(f"{what}: {prefix!r} does not fit {_kind_of(tree)}")
        pairs = [(prefix[key], tree[key]) for key in tree]
    else:
        if not isinstance(tree, (tuple, list)) or len(prefix) != len(tree):
            raise ValueError(f"{what}: {prefix!r} does not fit {_kind_of(tree)}")
        pairs = list(zip(prefix, tree, strict=True))
    return [entry for p, t in pairs for entry in spread_prefix(p, t, what)]


def _kind_of(tree: Any) -> str:
    if isinstance(tree, dict):
        return f"a dict with the keys {list(tree)}"
    if isinstance(tree, (tuple, list)):
        return f"a {type(tree).__name__} of {len(tree)}"
    return describe(tree)
