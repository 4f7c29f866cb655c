"""Sequential: modules applied one after another.

Its modules are attributes named "0", "1" ... or by the keys of a dict, so `module.py` finds and
names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self, overload

from numen.errors import describe
from numen.nn.module import Module


class Sequential(Module):
    """A chain of modules.

    Parameters
    ----------
    *modules : Module, or one mapping of str to Module
        In the order they are applied.

    Raises
    ------
    TypeError
        If one of them is no Module.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Sequential(nm.nn.Linear(4, 2), nm.nn.ReLU())
    Sequential(
      (0): Linear(in_features=4, out_features=2, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, child in modules[0].items():
                self._add(name, child)
        else:
            for module in modules:
                self.append(module)

    def _add(self, name: str, module: Any) -> None:
        if not isinstance(module, Module):
            raise TypeError(f"Sequential: expected modules, got {describe(module)}")
        if hasattr(self, name):
            raise KeyError(f"Sequential: attribute {name!r} already exists")
        setattr(self, name, module)

    def append(self, module: Any) -> Self:
        """Add a module at the end, named by its position."""
        self._add(str(len(self)), module)
        return self

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x

    def __iter__(self) -> Iterator[Module]:
        return iter([value for value in self.__dict__.values() if isinstance(value, Module)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module:
        """A module by position, or a chain of some of them.

        Raises
        ------
        IndexError
            If there is no such position.
        """
        items = [
            (name, value) for name, value in self.__dict__.items() if isinstance(value, Module)
        ]
        if isinstance(index, slice):
            return Sequential(dict(items[index]))
        try:
            return items[index][1]
        except IndexError:
            raise IndexError(
                f"Sequential: index {index} is out of range for {len(items)} modules"
            ) from None
