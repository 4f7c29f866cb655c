"""Containers: Sequential applies modules one after another; ModuleList and ModuleDict hold them.

What they hold are attributes named "0", "1" ... or by key, so `contents.py` finds and names them.
`parameter_containers.py` has the same for parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import index as as_index
from typing import Any, Self

from numen.errors import describe
from numen.nn.module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Row(Module):
    """Modules by position, named by it."""

    def _items(self) -> list[tuple[str, Module]]:
        return [(n, v) for n, v in self.__dict__.items() if isinstance(v, Module)]

    def _add(self, name: str, module: Any) -> None:
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__}: expected modules, got {describe(module)}")
        self.register_module(name, module)

    def _put(self, modules: Iterable[Any]) -> None:
        """Hold these modules, named by position, and no others."""
        given = list(modules)
        for name, _ in self._items():
            delattr(self, name)
        for i, module in enumerate(given):
            self._add(str(i), module)

    def _place(self, index: int) -> int:
        count = len(self)
        if not -count <= as_index(index) < count:
            raise IndexError(
                f"{type(self).__name__}: index {index} is out of range for {count} modules"
            )
        return as_index(index) % count

    def append(self, module: Module) -> Self:
        """Add a module at the end, named by its position."""
        self._add(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before position `index`; all are then named by position.

        Raises
        ------
        IndexError
            If there is no such position.
        """
        modules = list(self)
        if not -len(modules) <= as_index(index) <= len(modules):
            raise IndexError(
                f"{type(self).__name__}: index {index} is out of range for {len(modules)} modules"
            )
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__}: expected modules, got {describe(module)}")
        modules.insert(index, module)
        self._put(modules)
        return self

    def pop(self, index: int = -1) -> Module:
        """Take a module out and return it.

        Raises
        ------
        IndexError
            If there is no such position.
        """
        module: Module = list(self)[self._place(index)]
        del self[index]
        return module

    def __iter__(self) -> Iterator[Any]:
        return iter([module for _, module in self._items()])

    def __len__(self) -> int:
        return len(self._items())

    def __getitem__(self, index: int | slice) -> Any:
        """A module by position, or a container of some of them.

        Raises
        ------
        IndexError
            If there is no such position.
        """
        items = self._items()
        if isinstance(index, slice):
            return self._part(items[index])
        return items[self._place(index)][1]

    def _part(self, items: list[tuple[str, Module]]) -> Any:
        return type(self)([module for _, module in items])  # type: ignore[call-arg]

    def __setitem__(self, index: int, module: Module) -> None:
        name = self._items()[self._place(index)][0]
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__}: expected modules, got {describe(module)}")
        setattr(self, name, module)

    def __delitem__(self, index: int | slice) -> None:
        items = self._items()
        gone = items[index] if isinstance(index, slice) else [items[self._place(index)]]
        for name, _ in gone:
            delattr(self, name)
        left = self._items()
        if all([name.isdecimal() for name, _ in left]):
            self._put([module for _, module in left])

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, modules: Iterable[Module]) -> Self:
        joined: Self = self[:]
        return joined.extend(modules)


class Sequential(_Row):
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
                self.append(module)  # type: ignore[arg-type]

    def _part(self, items: list[tuple[str, Module]]) -> Sequential:
        return Sequential(dict(items))

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x


class ModuleList(_Row):
    """A list of modules, which are found like attributes.

    Parameters
    ----------
    modules : iterable of Module, optional

    Raises
    ------
    TypeError
        If one of them is no Module.

    Examples
    --------
    >>> import numen as nm
    >>> layers = nm.nn.ModuleList([nm.nn.Linear(2, 2) for _ in range(3)])
    >>> layers
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __contains__(self, module: object) -> bool:
        return any([module is own for own in self])

    def __repr__(self) -> str:
        runs: list[list[Any]] = []  # [first, last, text] of equal neighbours
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{type(self).__name__}()"
        lines = []
        for first, last, text in runs:
            text = text.replace("\n", "\n  ")
            many = f"({first}-{last}): {last - first + 1} x {text}"
            lines.append(f"({first}): {text}" if first == last else many)
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dict of modules, which are found like attributes.

    Parameters
    ----------
    modules : mapping of str to Module, or iterable of pairs, optional

    Raises
    ------
    TypeError
        If one of them is no Module.
    KeyError
        If a key is the name of one of its attributes.

    Examples
    --------
    >>> import numen as nm
    >>> heads = nm.nn.ModuleDict({"mean": nm.nn.Linear(4, 1), "scale": nm.nn.Linear(4, 1)})
    >>> list(heads), "mean" in heads, heads["mean"](nm.ones((2, 4))).shape
    (['mean', 'scale'], True, (2, 1))
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def _held(self) -> dict[str, Module]:
        return {n: v for n, v in self.__dict__.items() if isinstance(v, Module)}

    def __getitem__(self, key: str) -> Module:
        return self._held()[key]

    def __setitem__(self, key: str, module: Module) -> None:
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__}: expected modules, got {describe(module)}")
        self.register_module(key, module)

    def __delitem__(self, key: str) -> None:
        if key not in self._held():
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._held())

    def __iter__(self) -> Iterator[str]:
        return iter(self._held())

    def __contains__(self, key: object) -> bool:
        return key in self._held()

    def keys(self) -> Iterable[str]:
        """The keys, in the order they were set."""
        return self._held().keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._held().values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """(key, module)."""
        return self._held().items()

    def update(self, modules: Any) -> None:
        """Set modules from a mapping or from pairs."""
        for key, module in dict(modules.items() if hasattr(modules, "items") else modules).items():
            self[key] = module

    def pop(self, key: str) -> Module:
        """Take a module out and return it.

        Raises
        ------
        KeyError
            If there is no such key.
        """
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Take all modules out."""
        for key in self._held():
            delattr(self, key)
