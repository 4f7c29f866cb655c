"""What `custom_vjp` and `custom_jvp` share: the function, its arguments by position, containers.

Arguments and results may be tuples, lists and dicts of arrays. `rules.py` evaluates and records the
calls. Next: `custom_reverse.py`, `custom_forward.py`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any, cast

from numen.errors import GradientError
from numen.transforms import recording, rules
from numen.transforms.rules import Leaves
from numen.transforms.trees import _LEAF, Structure, flatten


class Custom:
    """What both kinds share: the function, and which arguments are not differentiated."""

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), what: str = ""
    ) -> None:
        functools.update_wrapper(cast(Any, self), fun)
        self.fun = fun
        given = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        self.nondiff_argnums = given
        self.name = f"{what} {getattr(fun, '__name__', type(fun).__name__)}"
        self.row = recording.row_of(self.name)
        self._signature: inspect.Signature | None = None
        self._count = -1
        try:
            self._signature = inspect.signature(fun)
        except (TypeError, ValueError):
            return
        kinds = [p.kind for p in self._signature.parameters.values()]
        if all([kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD) for kind in kinds]):
            self._count = len(kinds)  # so many by position need no binding

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(cast(Any, self), instance)

    def positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in."""
        if self._signature is None:
            if kwargs:
                raise TypeError(f"{self.name}: has no signature, so it takes no keyword arguments")
            return args
        if not kwargs and len(args) == self._count:
            return args
        bound = self._signature.bind(*args, **kwargs)
        if bound.kwargs:
            raise TypeError(
                f"{self.name}: keyword-only arguments {sorted(bound.kwargs)} have no position"
            )
        bound.apply_defaults()
        return bound.args

    def split(self, args: tuple[Any, ...]) -> tuple[list[Any], list[int]]:
        """The arguments that are not differentiated, and the positions of the others."""
        count = len(args)
        fixed = []
        for i in self.nondiff_argnums:
            if not -count <= i < count:
                raise TypeError(
                    f"{self.name}: nondiff_argnums {self.nondiff_argnums} for {count} arguments"
                )
            fixed.append(i % count)
        return [args[i] for i in fixed], [i for i in range(count) if i not in fixed]


class TreeRule(rules.Rule):
    """A rule of a function of containers: flattens what goes in and out."""

    def __init__(self, custom: Custom, args: tuple[Any, ...]) -> None:
        self.custom = custom
        self.name = custom.name
        self.prim = custom.row
        self.fixed, self.positions = custom.split(args)
        self.args = [None if i in self.positions else a for i, a in enumerate(args)]
        self.structure: Any = None
        self.out_structure: Any = None

    def run(self, args: tuple[Any, ...]) -> Any:
        """The results for these arguments, which the rule does not keep."""
        leaves, self.structure = flatten(tuple([args[i] for i in self.positions]))
        outs = rules.call(self, leaves)
        return self.out_structure.unflatten(outs)

    def all_args(self, leaves: Leaves) -> list[Any]:
        """All arguments, with these leaves in the differentiated ones."""
        args = list(self.args)
        for i, value in zip(self.positions, self.structure.unflatten(leaves), strict=True):
            args[i] = value
        return args

    def results(self, out: Any, what: str) -> Leaves:
        """The flat results of the function or one of its rules.

        Raises
        ------
        GradientError
            If their form is not that of an earlier run.
        """
        leaves, structure = flatten(out)
        if self.out_structure is not None and structure != self.out_structure:
            raise GradientError(
                f"{self.name}: {what} gave {structure!r}; expected {self.out_structure!r}"
            )
        self.out_structure = structure
        self.metas = rules.metas_of(leaves)
        return leaves

    def primal(self, leaves: Leaves) -> Leaves:
        return self.results(self.custom.fun(*self.all_args(leaves)), "the function")

    def full(self, cotangents: Leaves) -> Any:
        """The cotangents of all results, zeros where there is none."""
        filled = [
            None if meta is None else rules.zeros(meta) if c is None else c
            for c, meta in zip(cotangents, self.metas, strict=True)
        ]
        return self.out_structure.unflatten(filled)


def matched(structure: Structure, tree: Any, what: str) -> Leaves:
    """The leaves of `tree`, None for each leaf of `structure` that a None in it stands for.

    Raises
    ------
    GradientError
        If the two do not fit.
    """
    if tree is None:
        return [None] * structure.count
    if structure.kind is _LEAF:
        if isinstance(tree, (tuple, list, dict)):
            raise GradientError(f"{what} gave a {type(tree).__name__} for an array")
        return [tree]
    if structure.kind is None:
        return []
    keys = structure.parts[0] if structure.parts is not None else None
    if keys is not None:
        fits = isinstance(tree, dict) and set(tree) == set(keys)
        values = [tree[key] for key in keys] if fits else []
    else:
        fits = isinstance(tree, (tuple, list)) and len(tree) == len(structure.children)
        values = list(tree) if fits else []
    if not fits:
        raise GradientError(f"{what} gave {flatten(tree)[1]!r}; expected {structure!r}")
    return [
        leaf
        for child, value in zip(structure.children, values, strict=True)
        for leaf in matched(child, value, what)
    ]
