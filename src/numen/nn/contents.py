"""Contents: how a module's parameters, buffers and submodules are found, named and registered.

They are the attributes of a module, in the order they were set; a shared one is listed once. The
base of `Module` in `module.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from numen.dispatch.convert import as_array
from numen.errors import describe
from numen.nn.parameter import Parameter

if TYPE_CHECKING:
    from numen.nn.module import Module


class Contents:
    """The part of Module that knows what is inside."""

    _buffers: tuple[str, ...] = ()
    _transient_buffers: tuple[str, ...] = ()
    _swapped: frozenset[str] = frozenset()

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the modules directly inside this one, each once."""
        seen: set[int] = set()
        for name, value in self.__dict__.items():
            if isinstance(value, Contents) and id(value) not in seen:
                seen.add(id(value))
                yield name, value  # type: ignore[misc]

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """(dotted name, module) of this module and all inside it, each once or, without
        `remove_duplicate`, under each of its names."""
        seen = set() if memo is None else memo
        if remove_duplicate:
            if self in seen:
                return
            seen.add(self)
        yield prefix, self  # type: ignore[misc]
        for name, value in self.__dict__.items():
            if isinstance(value, Contents):
                yield from value.named_modules(seen, joined(prefix, name), remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all inside it, each once."""
        for _, module in self.named_modules():
            yield module

    def _named(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules: Any = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for where, module in modules:
            for name, value in getattr(module, kind)():
                if id(value) not in seen or not remove_duplicate:
                    seen.add(id(value))
                    yield joined(where, name), value

    def _own_parameters(self) -> list[tuple[str, Parameter]]:
        swapped = self._swapped  # arrays in parameters' places, during `functional_call`
        return [
            (n, v) for n, v in self.__dict__.items() if isinstance(v, Parameter) or n in swapped
        ]

    def _own_buffers(self) -> list[tuple[str, Any]]:
        values = self.__dict__
        return [(n, values[n]) for n in self._buffers if values.get(n) is not None]

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter) of this module and, with `recurse`, of all inside it; a shared
        one once unless `remove_duplicate` is off."""
        return self._named("_own_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, as `named_parameters`."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(dotted name, array) of the registered buffers."""
        return self._named("_own_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """The registered buffers."""
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    # ------------------------------------------------------------ one by its name
    def get_submodule(self, target: str) -> Module:
        """The module of a dotted name; "" is this one.

        Raises
        ------
        AttributeError
            If there is none of that name.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            inner = getattr(module, name, None)
            if not isinstance(inner, Contents):
                raise AttributeError(
                    f"{type(module).__name__} has no module {name!r} (of {target!r})"
                )
            module = inner
        return module  # type: ignore[no-any-return]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name.

        Raises
        ------
        AttributeError
            If there is none of that name.
        """
        where, _, name = target.rpartition(".")
        value = getattr(self.get_submodule(where), name, None)
        if not isinstance(value, Parameter):
            raise AttributeError(f"{type(self).__name__} has no parameter {target!r}")
        return value

    def get_buffer(self, target: str) -> Any:
        """The buffer of a dotted name.

        Raises
        ------
        AttributeError
            If there is none of that name.
        """
        where, _, name = target.rpartition(".")
        module = self.get_submodule(where)
        if name not in module._buffers:
            raise AttributeError(f"{type(self).__name__} has no buffer {target!r}")
        return getattr(module, name)

    def set_submodule(self, target: str, module: Module) -> None:
        """Put a module in the place of a dotted name.

        Raises
        ------
        AttributeError
            If the module that should hold it does not exist.
        """
        where, _, name = target.rpartition(".")
        setattr(self.get_submodule(where), name, module)

    # ------------------------------------------------------------ registering
    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Set an attribute that belongs to the module's state without being trained.

        Parameters
        ----------
        name : str
            The attribute.
        tensor : array_like or None
            Its value; None reserves the name.
        persistent : bool
            Whether `state_dict` holds it.

        Raises
        ------
        KeyError
            If the module has an attribute of that name which is no buffer.
        """
        if name not in self._buffers:
            self._check_name("register_buffer", name)
            self._buffers = (*self._buffers, name)
        transient = [n for n in self._transient_buffers if n != name]
        self._transient_buffers = (*transient,) if persistent else (*transient, name)
        setattr(self, name, None if tensor is None else as_array(tensor))

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Set an attribute that is a parameter; None reserves its place.

        Raises
        ------
        KeyError
            If there is an attribute of that name which is no parameter.
        TypeError
            If it is no Parameter.
        """
        if not isinstance(self.__dict__.get(name), Parameter):
            self._check_name("register_parameter", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"register_parameter: expected a Parameter, got {describe(param)}")
        setattr(self, name, param)

    def register_module(self, name: str, module: Module | None) -> None:
        """Set an attribute that is a module; None reserves its place.

        Raises
        ------
        KeyError
            If there is an attribute of that name which is no module.
        TypeError
            If it is no Module.
        """
        if not isinstance(self.__dict__.get(name), Contents):
            self._check_name("register_module", name)
        if module is not None and not isinstance(module, Contents):
            raise TypeError(f"register_module: expected a Module, got {describe(module)}")
        setattr(self, name, module)

    add_module = register_module

    def _check_name(self, op: str, name: str) -> None:
        if not name or "." in name:
            raise KeyError(f"{op}: expected a name without a dot, got {name!r}")
        if hasattr(self, name):
            raise KeyError(f"{op}: attribute {name!r} already exists")


def joined(prefix: str, name: str) -> str:
    """A dotted name."""
    return f"{prefix}.{name}" if prefix else name
