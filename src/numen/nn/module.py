"""Module: the base of layers and networks.

A module's attributes are its contents: Parameters, Modules and registered buffers are found among
them in the order they were set, and named as PyTorch names them. Next: `layers.py`,
`containers.py`; `optim` updates the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from numen.dispatch import modes, views
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import NumenError, describe
from numen.nn.parameter import Parameter
from numen.tracing.snapshot import follow


class StateDictError(NumenError, RuntimeError):
    """A state dict does not fit the module: keys that are missing or unexpected, or shapes that
    differ."""


class KeyMismatch(NamedTuple):
    """What `load_state_dict(strict=False)` left out."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """A part of a network: parameters, submodules and a `forward` function.

    Attributes
    ----------
    training : bool
        Whether layers that differ between training and evaluation are in training mode.

    Examples
    --------
    >>> import numen as nm
    >>> class Scale(nm.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nm.nn.Parameter(nm.array(2.0))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> net = Scale()
    >>> net(nm.array([1.0, 2.0])).tolist(), [name for name, _ in net.named_parameters()]
    ([2.0, 4.0], ['factor'])
    """

    training: bool
    forward: Callable[..., Any]
    _buffers: tuple[str, ...] = ()
    _transient_buffers: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.training = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        present = self.__dict__.get(name)
        if (
            isinstance(present, Parameter)
            and isinstance(value, ArrayCore)
            and not isinstance(value, Parameter)
        ):
            raise TypeError(
                f"{type(self).__name__}.{name} is a Parameter and can't become a "
                f"{describe(value)}. "
                "Hint: write into it under no_grad(), or wrap the value in Parameter()"
            )
        object.__setattr__(self, name, value)

    # ------------------------------------------------------------ contents
    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the modules directly inside this one, each once."""
        seen: set[int] = set()
        for name, value in self.__dict__.items():
            if isinstance(value, Module) and id(value) not in seen:
                seen.add(id(value))
                yield name, value

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, prefix: str = "", _seen: set[int] | None = None
    ) -> Iterator[tuple[str, Module]]:
        """(dotted name, module) of this module and all inside it, each once."""
        seen = set() if _seen is None else _seen
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, module in self.named_children():
            yield from module.named_modules(_joined(prefix, name), seen)

    def modules(self) -> Iterator[Module]:
        """This module and all inside it."""
        for _, module in self.named_modules():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter) of this module and, with `recurse`, of all inside it; a shared
        one once."""
        seen: set[int] = set()
        for where, module in self.named_modules(prefix) if recurse else [(prefix, self)]:
            for name, value in module.__dict__.items():
                if isinstance(value, Parameter) and id(value) not in seen:
                    seen.add(id(value))
                    yield _joined(where, name), value

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, as `named_parameters`."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def register_buffer(self, name: str, value: Any, persistent: bool = True) -> None:
        """Set an attribute that belongs to the module's state without being trained.

        Parameters
        ----------
        name : str
            The attribute.
        value : array_like or None
            Its value; None reserves the name.
        persistent : bool
            Whether `state_dict` holds it.

        Raises
        ------
        KeyError
            If the module has an attribute of that name which is no buffer.
        """
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"register_buffer: attribute {name!r} already exists")
        if name not in self._buffers:
            self._buffers = (*self._buffers, name)
        transient = [n for n in self._transient_buffers if n != name]
        self._transient_buffers = (*transient,) if persistent else (*transient, name)
        setattr(self, name, None if value is None else as_array(value))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        """(dotted name, array) of the registered buffers."""
        for where, module in self.named_modules(prefix) if recurse else [(prefix, self)]:
            for name in module._buffers:
                value = module.__dict__.get(name)
                if value is not None:
                    yield _joined(where, name), value

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """The registered buffers."""
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    # ------------------------------------------------------------ state
    def state_dict(self, prefix: str = "") -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name, as arrays that share the module's
        memory.

        Names, order and layouts are PyTorch's, so files go both ways. A shared parameter appears
        under each name.
        """
        state: dict[str, Any] = {}
        for name, value in self._own_state():
            state[prefix + name] = value.detach()
        for name, value in self.__dict__.items():
            if isinstance(value, Module):
                state.update(value.state_dict(f"{prefix}{name}."))
        return state

    def _own_state(self) -> list[tuple[str, Any]]:
        values = self.__dict__
        parameters = [(n, v) for n, v in values.items() if isinstance(v, Parameter)]
        buffers = [(n, values[n]) for n in self._buffers if n not in self._transient_buffers]
        return [*parameters, *[(n, v) for n, v in buffers if v is not None]]

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> KeyMismatch:
        """Copy values into the parameters and buffers, in place; nothing is written unless all of
        it fits.

        Parameters
        ----------
        state_dict : mapping
            Arrays or ndarrays by dotted name; cast to what the module holds.
        strict : bool
            Whether the names must match exactly.

        Raises
        ------
        StateDictError
            If names are missing or unexpected (with `strict`), or shapes differ.
        """
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        values = {name: as_array(state_dict[name]) for name in own if name in state_dict}
        faults = [
            f"{name}: expected shape {own[name].shape}, got {describe(value)}"
            for name, value in values.items()
            if value.shape != own[name].shape
        ]
        if strict and missing:
            faults.append(f"missing keys: {', '.join(missing)}")
        if strict and unexpected:
            faults.append(f"unexpected keys: {', '.join(unexpected)}")
        if faults:
            raise StateDictError(
                f"load_state_dict: {type(self).__name__} does not fit: {'; '.join(faults)}"
            )
        with modes.no_grad():
            for name, value in values.items():
                views.write(own[name], value, "load_state_dict", casting="unsafe")
        return KeyMismatch(missing, unexpected)

    # ------------------------------------------------------------ modes
    def train(self, mode: bool = True) -> Self:
        """Set training mode in this module and all inside it; returns the module."""
        for module in self.modules():
            module.training = bool(mode)
        return self

    def eval(self) -> Self:
        """Leave training mode; returns the module."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for (or stop) gradients of all parameters; returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients, or with `set_to_none=False` fill them with zeros."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.fill(0)

    def apply(self, function: Callable[[Module], Any]) -> Self:
        """Call `function` on all modules inside, then on this one; returns the module."""
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    # ------------------------------------------------------------ text
    def extra_repr(self) -> str:
        """What the module's line in the text says between its parentheses."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = []
        for name, value in self.__dict__.items():
            if isinstance(value, Module):
                lines.append(f"({name}): " + repr(value).replace("\n", "\n  "))
        if not lines:
            return f"{type(self).__name__}({extra})"
        first = [extra] if extra else []
        return f"{type(self).__name__}(\n  " + "\n  ".join([*first, *lines]) + "\n)"


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


follow(Module)
