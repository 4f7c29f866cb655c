"""Module: the base of layers and networks.

A module's attributes are its contents: Parameters, Modules and registered buffers are found among
them in the order they were set, and named as PyTorch names them. Next: `layers.py`,
`containers.py`; `optim` updates the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from numen.dispatch import modes, views
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import NumenError, describe
from numen.namespace.dtypes import bfloat16
from numen.nn import hooks, moving
from numen.nn.contents import Contents
from numen.nn.hooks import Hook, RemovableHandle
from numen.nn.naming import name_layer
from numen.nn.parameter import Parameter
from numen.tracing.snapshot import follow


class StateDictError(NumenError, RuntimeError):
    """A state dict does not fit the module: keys that are missing or unexpected, or shapes that
    differ."""


class KeyMismatch(NamedTuple):
    """What `load_state_dict(strict=False)` left out."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module(Contents):
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

    training: bool = True
    forward: Callable[..., Any]
    _form: str = ""
    _hooked: bool = False
    _pre_hooks: tuple[Any, ...] = ()
    _post_hooks: tuple[Any, ...] = ()
    _backward_pre_hooks: tuple[Any, ...] = ()
    _backward_hooks: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self.training = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._hooked:
                return hooks.call(self, args, kwargs)
            return self.forward(*args, **kwargs)
        except Exception as error:
            name_layer(self, error)
            raise

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

    # ------------------------------------------------------------ state
    def state_dict(self, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name, as arrays that share the module's
        memory (with `keep_vars` the parameters themselves).

        Names, order and layouts are PyTorch's, so files go both ways. A shared parameter appears
        under each name. What `get_extra_state` returns, where a class defines it, is under
        "_extra_state".
        """
        state: dict[str, Any] = {}
        for name, value in self._own_state():
            state[prefix + name] = value if keep_vars else value.detach()
        if hasattr(self, "get_extra_state"):
            state[prefix + EXTRA] = self.get_extra_state()
        for name, value in self.__dict__.items():
            if isinstance(value, Module):
                state.update(value.state_dict(f"{prefix}{name}.", keep_vars))
        return state

    def _own_state(self) -> list[tuple[str, Any]]:
        transient = self._transient_buffers
        return [*self._own_parameters(), *[b for b in self._own_buffers() if b[0] not in transient]]

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
        extra = {n: state_dict[n] for n in own if n in state_dict and _is_extra(n)}
        values = {n: as_array(state_dict[n]) for n in own if n in state_dict and n not in extra}
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
        for name, state in extra.items():
            module: Any = self.get_submodule(name.rpartition(".")[0])
            module.set_extra_state(state)
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

    # ------------------------------------------------------------ dtype and device
    def to(self, *args: Any, device: Any = None, dtype: Any = None) -> Self:
        """Give the arrays another device, dtype or both, in place; returns the module.

        Parameters are the same objects afterwards, so an optimizer that has them goes on; make its
        state after a change of dtype. The dtype holds for what is floating.

        Parameters
        ----------
        *args : device, dtype, both in this order, or an Array that has them
            A device is a string.

        Raises
        ------
        DTypeError
            If the dtype is not floating.
        ValueError
            If there is no such device.

        Examples
        --------
        >>> import numen as nm
        >>> nm.nn.Linear(2, 1).to(nm.float64).weight.dtype
        dtype('float64')
        """
        device, dtype = moving.target_of(args, device, dtype)
        moved = [p for p in self.parameters() if moving.convert_parameter(p, device, dtype)]
        changed = {id(p) for p in moved}
        done: dict[int, Any] = {}
        for module in self.modules():
            for name, buffer in module._own_buffers():
                if id(buffer) not in done:
                    done[id(buffer)] = (buffer, moving.converted(buffer, device, dtype))
                setattr(module, name, done[id(buffer)][1])
            own = module._own_parameters()
            if any([id(p) in changed for _, p in own]):
                # what compiled programs are keyed by, as the parameters are the same objects
                module._form = " ".join([f"{p.dtype} {p.device}" for _, p in own])
        return self

    def float(self) -> Self:
        """Floating arrays as float32."""
        return self.to(np.float32)

    def double(self) -> Self:
        """Floating arrays as float64."""
        return self.to(np.float64)

    def half(self) -> Self:
        """Floating arrays as float16."""
        return self.to(np.float16)

    def bfloat16(self) -> Self:
        """Floating arrays as bfloat16."""
        return self.to(bfloat16)

    def type(self, dst_type: Any) -> Self:
        """Floating arrays as another dtype."""
        return self.to(dtype=dst_type)

    def cpu(self) -> Self:
        """Arrays in the host's memory."""
        return self.to("cpu")

    def cuda(self) -> Self:
        """Arrays on the GPU."""
        return self.to("cuda")

    # ------------------------------------------------------------ hooks
    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args) before `forward`; what it returns, if not None, replaces the
        arguments. With `with_kwargs`: hook(module, args, kwargs) -> (args, kwargs) or None."""
        return hooks.register(self, "_pre_hooks", hook, with_kwargs, prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args, output) after `forward`; what it returns, if not None, replaces
        the output. With `with_kwargs`: hook(module, args, kwargs, output).

        Examples
        --------
        >>> import numen as nm
        >>> layer, shapes = nm.nn.Linear(3, 2), []
        >>> handle = layer.register_forward_hook(lambda m, args, out: shapes.append(out.shape))
        >>> _ = layer(nm.ones((5, 3))); handle.remove(); _ = layer(nm.ones((1, 3)))
        >>> shapes
        [(5, 2)]
        """
        return hooks.register(self, "_post_hooks", hook, with_kwargs, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when the gradients of a call's positional
        arguments are known; both are tuples, None where there is none.

        What it returns, if not None, replaces grad_input where one argument has a gradient. A
        traced function that gets here runs eagerly.
        """
        return hooks.register(self, "_backward_hooks", hook, False, prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) before the backward pass enters a call; what it returns,
        if not None, replaces grad_output."""
        return hooks.register(self, "_backward_pre_hooks", hook, False, prepend)

    # ------------------------------------------------------------ text
    def extra_repr(self) -> str:
        """What the module's line in the text says between its parentheses."""
        return ""

    def _lines(self) -> list[str]:
        """The text of the modules inside, each with its name."""
        return [
            f"({name}): " + repr(value).replace("\n", "\n  ")
            for name, value in self.__dict__.items()
            if isinstance(value, Module)
        ]

    def __repr__(self) -> str:
        extra, lines = self.extra_repr(), self._lines()
        if not lines:
            return f"{type(self).__name__}({extra})"
        first = [extra] if extra else []
        return f"{type(self).__name__}(\n  " + "\n  ".join([*first, *lines]) + "\n)"


EXTRA = "_extra_state"


def _is_extra(name: str) -> bool:
    return name.rpartition(".")[2] == EXTRA


follow(Module)
