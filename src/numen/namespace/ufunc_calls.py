"""How a ufunc's general call runs: `out=`, `where=`, `dtype=` and everything that is not plain.

NumPy's ufunc computes on the memory where no gradient, trace or kernel is concerned; else the row
(or composition) computes, and results are written as `dispatch/views.py` writes. Called by
`ufunc_class.py`. Next: `output.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from numen.dispatch import core, modes, views
from numen.dispatch.convert import as_array, operands
from numen.dispatch.core import ArrayCore, is_differentiable
from numen.dispatch.fast import MISSING
from numen.errors import GradientError, describe
from numen.namespace.calling import REFUSALS, on_backend, raw, recorded, refusal, run_host
from numen.namespace.devices import together
from numen.namespace.output import (
    masked,
    operand_copy,
    write_directly,
    write_out,
    writes_directly,
)
from numen.ops import table
from numen.ops.dtypes import kind_of

if TYPE_CHECKING:
    from numen.namespace.ufunc_class import ufunc

CORE_OPTIONS = ("axes", "axis", "keepdims")
LOOP_OPTIONS = ("dtype", "signature", "sig", "casting")
OPTIONS = {*CORE_OPTIONS, *LOOP_OPTIONS, "out", "where", "order", "subok"}


def call(f: ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a ufunc with arguments of any form."""
    if args and args[-1] is MISSING:
        args = tuple([a for a in args if a is not MISSING])
    if kwargs and kwargs.get("out") is ...:
        return arrays_of(call(f, args, {k: v for k, v in kwargs.items() if k != "out"}))
    if len(args) > f.nin and any([a is ... for a in args[f.nin :]]):
        raise TypeError(f"{f.__name__}: out=... is only allowed as a keyword argument.")
    if f.composition is None:
        return _host(f, args, kwargs)
    if not kwargs and len(args) == f.nin:
        return _plain(f, args)
    form = _form(f, args, kwargs)
    if form is None:
        return _host(f, args, kwargs)
    target = form.outs[0]
    if (
        f.row is not None
        and not form.options
        and form.where is True
        and isinstance(target, ArrayCore)
        and target._v is not core.SCALAR
        and writes_directly(f.row, target, form.inputs)
    ):
        write_directly(f.row, target, [raw(a) for a in form.inputs])
        return target
    if not (_only_rows(f, args, kwargs) or _for_kernel(f, form)):
        return _host(f, args, kwargs)
    try:
        result = _recorded(f, form)
    except REFUSALS as error:
        if f.numpy_ufunc is None:
            raise
        outs = {} if target is None and f.nout == 1 else {"out": form.outs}
        where = {} if form.where is True else {"where": form.where}
        options = {**form.options, **outs, **where}
        refused = refusal(f.numpy_ufunc, f.__name__, form.inputs, options)
        if refused is not None or on_backend(args, kwargs):
            raise refused or error from None
        result = NotImplemented
    return _host(f, args, kwargs) if result is NotImplemented else result


def arrays_of(result: Any) -> Any:
    """Results as `out=...` asks for them: 0-d arrays in place of scalars."""
    if type(result) is tuple:
        return tuple([arrays_of(r) for r in result])
    if isinstance(result, ArrayCore):
        return table["reshape"](result, shape=()) if result._v is core.SCALAR else result
    return as_array(result)


def _plain(f: ufunc, args: tuple[Any, ...]) -> Any:
    """A call without options."""
    assert f.composition is not None
    arrays = any([isinstance(a, ArrayCore) for a in args])
    if not _only_rows(f, args, {}) and (f.row is None or not (arrays or _large(args))):
        return _host(f, args, {})
    if any([_overrides(a) for a in args]):
        return _host(f, args, {})
    taken = operands(*args)
    if modes.ACTIVE:
        taken = together(args, taken)
    if not numeric(taken):
        return _host(f, args, {})
    result = f.composition(*taken)
    return _host(f, args, {}) if result is NotImplemented else result


def _only_rows(f: ufunc, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether rows must compute: something is recorded, on another device, or numen's alone."""
    return recorded(args, kwargs) or on_backend(args, kwargs) or f.numpy_ufunc is None


def numeric(values: Sequence[Any]) -> bool:
    """Whether rows compute these operands: numbers, not text, dates, objects or records."""
    for v in values:
        if isinstance(v, ArrayCore):
            dtype = v._d.dtype
            if dtype.kind not in "biufc" and not is_differentiable(dtype):
                return False
    return True


def _overrides(value: Any) -> bool:
    """Whether an operand of another library wants to compute the call itself."""
    if isinstance(value, (ArrayCore, np.ndarray, np.generic, int, float, complex, list, tuple)):
        return type(value) is not np.ndarray and isinstance(value, np.ndarray)
    return hasattr(type(value), "__array_ufunc__")


class Form(NamedTuple):
    """A call taken apart: inputs, one output or None each, where, options that choose the loop and
    the core axes."""

    inputs: tuple[Any, ...]
    outs: tuple[Any, ...]
    where: Any
    options: dict[str, Any]


def _form(f: ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form | None:
    """The parts of a call; None for one that NumPy refuses, so that it says why."""
    if not f.nin <= len(args) <= f.nargs or not OPTIONS.issuperset(kwargs):
        return None
    if len(args) > f.nin and "out" in kwargs:
        return None
    outs = args[f.nin :] if len(args) > f.nin else kwargs.get("out")
    if outs is None and (f.nout == 1 or "out" not in kwargs):
        outs = (None,) * f.nout
    elif type(outs) is not tuple:
        if f.nout > 1 and len(args) == f.nin:
            return None
        outs = (outs,)
    if len(args) > f.nin:
        outs += (None,) * (f.nout - len(outs))
    if len(outs) != f.nout:
        return None
    options = {
        k: v
        for k, v in kwargs.items()
        if k in (*CORE_OPTIONS, *LOOP_OPTIONS) and v is not None and v is not np._NoValue
    }
    if options.get("casting") == "same_kind":
        del options["casting"]
    if f.signature is None and any([k in options for k in CORE_OPTIONS]):
        return None
    return Form(args[: f.nin], outs, kwargs.get("where", True), options)


def _large(args: Sequence[Any]) -> bool:
    """Whether an operand is large enough for a compiled kernel."""
    return any([getattr(core.unwrap(a), "size", 0) >= modes.LIMIT for a in args])


def _for_kernel(f: ufunc, form: Form) -> bool:
    """Whether kernels define the bits of a call without gradients."""
    return f.row is not None and not f.row.exact and _large(form.inputs)


# ------------------------------------------------------------ NumPy computes


def _host(f: ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    function = f.numpy_ufunc
    if function is None:
        raise TypeError(
            f"{f.__name__}: no loop for these arguments; got {describe(*args)}"
            + (f" and {sorted(kwargs)}" if kwargs else "")
        )
    form = _form(f, args, kwargs)
    if form is not None and any([o is not None for o in form.outs]):
        args = form.inputs
        kwargs = {**kwargs, "out": form.outs}
    if (
        form is not None
        and form.where is not True
        and any([o is None for o in form.outs])
        and not any([_overrides(a) for a in (*form.inputs, form.where)])
    ):
        zeros = _zeros(f, form)
        if zeros is not None:
            made = on_host(function, f.__name__, form.inputs, {**kwargs, "out": zeros})
            results = [
                _element(z) if given is None else given
                for z, given in zip(_tuple(made), form.outs, strict=True)
            ]
            return results[0] if f.nout == 1 else tuple(results)
    return on_host(function, f.__name__, args, kwargs)


_WRITTEN = (ArrayCore, np.ndarray, type(None))
"""What NumPy writes and gives back; any other class decides the call by `__array_ufunc__`."""


def on_host(
    function: Callable[..., Any],
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    writes: Sequence[int] = (),
) -> Any:
    """Run a ufunc (or a method of it) of NumPy's; what is written comes back itself.

    Raises
    ------
    GradientError
        If a gradient would be lost in an ndarray that is written.
    """
    outs = _tuple(kwargs.get("out"))
    written = [o for o in (*outs, *[args[i] for i in writes if i < len(args)]) if o is not None]
    if any([isinstance(o, np.ndarray) for o in written]):
        refuse_lost_gradient(name, args)
    try:
        result = run_host(function, name, args, kwargs, writes)
    except TypeError as error:
        if not _refused(error, args):
            raise
        result = _by_other_class(function, args, kwargs)
        if result is NotImplemented:
            raise
        return result
    if any([o is not None for o in outs]) and all([isinstance(o, _WRITTEN) for o in outs]):
        results = [r if o is None else o for r, o in zip(_tuple(result), outs, strict=True)]
        return results[0] if len(results) == 1 else tuple(results)
    return result


def operator_on_host(
    symbol: Callable[..., Any], name: str, args: tuple[Any, ...], out: tuple[Any, ...] = ()
) -> Any:
    """Run an operator of NumPy's, in place where `out` is its first operand; a class that refuses
    ndarrays gets the Arrays."""
    try:
        return run_host(symbol, name, args, {}, writes=(0,) if out else ())
    except TypeError as error:
        if not _refused(error, args):
            raise
        result = _by_other_class(getattr(np, name, symbol), args, {"out": out} if out else {})
        if result is NotImplemented:
            raise
        return result


def _refused(error: TypeError, args: tuple[Any, ...]) -> bool:
    """Whether an operand's `__array_ufunc__` refused the memory of Arrays."""
    return "NotImplemented" in str(error) and any([isinstance(a, ArrayCore) for a in args])


def _by_other_class(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What an operand's `__array_ufunc__` makes of the Arrays themselves, after it refused their
    memory; NotImplemented if none computes."""
    plain = isinstance(function, np.ufunc)
    numpy_ufunc = function if plain else getattr(function, "__self__", None)
    outs = tuple([o for o in _tuple(kwargs.get("out")) if o is not None])
    if not isinstance(numpy_ufunc, np.ufunc) or not any([_overrides(x) for x in (*args, *outs)]):
        return NotImplemented
    if outs:
        kwargs = {**kwargs, "out": _tuple(kwargs["out"])}
    for x in (*args, *outs):
        if _overrides(x) and type(x).__array_ufunc__ is not None:
            method = "__call__" if plain else function.__name__
            result = x.__array_ufunc__(numpy_ufunc, method, *args, **kwargs)
            if result is not NotImplemented:
                return result
    return NotImplemented


def refuse_lost_gradient(name: str, args: Sequence[Any]) -> None:
    """Raise where an operand carries a gradient that an ndarray can't hold."""
    if modes.NO_GRAD and not modes.state.grad:
        return
    carrying = [a for a in args if isinstance(a, ArrayCore) and a._n is not None]
    if carrying:
        raise GradientError(
            f"{name}: an ndarray as output would lose the gradient of {describe(*carrying)}. "
            "Hint: detach() it, or give an Array"
        )


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def _zeros(f: ufunc, form: Form) -> tuple[Any, ...] | None:
    """Outputs of zeros where none is given: what `where` skips is 0 (in NumPy it is undefined).

    None where NumPy will refuse the call.
    """
    inputs = [raw(a) for a in form.inputs]
    try:
        shapes = [np.shape(a) for a in (*inputs, raw(form.where))]
        shape = np.broadcast_shapes(
            *shapes, *[np.shape(raw(o)) for o in form.outs if o is not None]
        )
        kinds = [kind_of(a) for a in inputs]
        if all([isinstance(k, type) for k in kinds]):
            kinds = [np.asarray(a).dtype for a in inputs]
        dtypes = _resolved(f, kinds, form.options)[f.nin :]
    except Exception:
        return None
    return tuple(
        [
            core.ARRAY(np.zeros(shape, d)) if o is None else o
            for o, d in zip(form.outs, dtypes, strict=True)
        ]
    )


def _element(result: Any) -> Any:
    """A 0-d result as the scalar that NumPy makes of it."""
    return core.wrap(result._d[()]) if not result._d.ndim else result


# ------------------------------------------------------------ rows compute


def _recorded(f: ufunc, form: Form) -> Any:
    """The call by rows; NotImplemented where they don't cover it."""
    assert f.composition is not None
    if any([isinstance(o, np.ndarray) for o in form.outs]):
        refuse_lost_gradient(f.__name__, form.inputs)
        return NotImplemented
    if any([_overrides(a) for a in form.inputs]):
        return NotImplemented
    if not all([o is None or isinstance(o, ArrayCore) for o in form.outs]):
        return NotImplemented
    taken = operands(*form.inputs)
    if modes.ACTIVE:
        taken = together(form.inputs, taken)
    if not numeric(taken):
        return NotImplemented
    if any([k in form.options for k in LOOP_OPTIONS]):
        if f.numpy_ufunc is None:
            dtype = form.options.get("dtype")
            taken = (as_array(taken[0], dtype),)
        else:
            dtypes = _resolved(f, [kind_of(a) for a in taken], form.options)
            if not all([d.kind in "biufc" or is_differentiable(d) for d in dtypes]):
                return NotImplemented
            taken = tuple([as_array(a, d) for a, d in zip(taken, dtypes, strict=False)])
    if f.row is not None and form.outs[0] is not None:
        (out,) = form.outs
        taken = tuple([operand_copy(a, f.row) if views.share_memory(a, out) else a for a in taken])
    mask = None
    if form.where is not True:
        mask = as_array(form.where)
        if mask._d.dtype != np.bool_:
            return NotImplemented
        taken = tuple([masked(a, mask) for a in taken])
    core_options = {k: v for k, v in form.options.items() if k in CORE_OPTIONS}
    made = f.composition(*taken, **core_options)
    if made is NotImplemented:
        return NotImplemented
    casting = form.options.get("casting", "same_kind")
    results = [
        write_out(r, o, mask, f.__name__, casting)
        for r, o in zip(_tuple(made), form.outs, strict=True)
    ]
    return results[0] if f.nout == 1 else tuple(results)


def _resolved(f: ufunc, kinds: Sequence[Any], options: dict[str, Any]) -> tuple[Any, ...]:
    """The dtypes of all arguments that `dtype=`, `signature=` and `casting=` choose."""
    signature = options.get("signature", options.get("sig"))
    if "dtype" in options:
        signature = (None,) * f.nin + (np.dtype(options["dtype"]),) * f.nout
    chosen: dict[str, Any] = {"casting": options.get("casting", "same_kind")}
    if signature is not None:
        chosen["signature"] = signature
    return f.resolve_dtypes((*kinds, *(None,) * f.nout), **chosen)
