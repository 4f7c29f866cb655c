"""How NumPy's functions run on Arrays: NumPy computes plain calls, rows compute recorded ones.

`host(np.f)` makes the function that always runs NumPy's own. `composes(np.f)` decorates its
composition of rows, which runs where a gradient, a trace or the kernel engine is concerned; where
it returns NotImplemented for a form, NumPy computes the value and a later backward pass raises,
naming the function. Used by every file of functions beside this one. Next: `array.py`.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from numen.dispatch import backends, core, frames, modes, views
from numen.dispatch.core import SCALAR, ArrayCore, Node, is_differentiable
from numen.dispatch.primitive import Primitive
from numen.errors import BackendError, GradientError, TransformError, describe, name_error
from numen.namespace.likes import ask, overrides
from numen.namespace.objects import again
from numen.ops.promotion import FIRST_SMALL
from numen.ops.small_floats import ACCUMULATES, has_small, in_float32

Function = Callable[..., Any]

KEPT_SCALARS = "SUOMmV"
"""Kinds whose NumPy scalars stay NumPy's: text, objects, dates and records have methods of their
own."""


REFUSALS = (TypeError, ValueError, IndexError, ArithmeticError)
"""What a composition raises where NumPy is asked too: it raises an error of its own, with its own
words, or computes what the composition does not."""


def composes(
    numpy_function: Function, *, writes: Sequence[int] = ()
) -> Callable[[Function], Function]:
    """Decorate the composition of rows that means `numpy_function`.

    Parameters
    ----------
    numpy_function : callable
        NumPy's function; computes plain calls, with its own values, errors and warnings.
    writes : sequence of int
        Positions of the arguments that the function writes in place (`out=` needs no mention).

    The composition has NumPy's signature and returns NotImplemented for the forms that it does not
    cover. Its docstring is the public one.
    """

    def decorate(composition: Function) -> Function:
        return _function(numpy_function, composition, tuple(writes), composition)

    return decorate


def host(
    numpy_function: Function,
    doc: str | None = None,
    *,
    writes: Sequence[int] = (),
    name: str | None = None,
) -> Function:
    """Make the function that runs `numpy_function` on the memory of its Arrays.

    Results that could carry a gradient and do not raise GradientError in a backward pass.

    >>> host(np.union1d)([3, 1], [2])
    array([1, 2, 3])
    """
    called = name or numpy_function.__name__

    def like() -> None: ...

    like.__name__ = like.__qualname__ = called
    like.__doc__ = (
        doc or f"NumPy's `{called}` on Arrays; no gradient flows.\n\n    See `numpy.{called}`."
    )
    like.__module__ = __name__
    return _function(numpy_function, None, tuple(writes), like)


def _function(
    numpy_function: Function, composition: Function | None, writes: tuple[int, ...], like: Function
) -> Function:
    name = like.__name__
    at, named = _from_out(composition or numpy_function)

    @functools.wraps(like)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > at and args[at] is not None:  # named, so that the write is seen
            kwargs = {**dict(zip(named, args[at:], strict=False)), **kwargs}
            args = args[:at]
        if (
            (modes.LIMIT if not modes.ACTIVE else modes.numpy_alone())
            and not writes
            and "out" not in kwargs
            and "like" not in kwargs
        ):
            arrays: list[ArrayCore] = []
            plain = [_plain(a, arrays) for a in args]
            more = {k: _plain(v, arrays) for k, v in kwargs.items()} if kwargs else kwargs
            small = any([a._d.dtype.num >= FIRST_SMALL for a in arrays])
            if not small and (
                not any([a._n is not None for a in arrays]) or not modes.grad_enabled()
            ):
                try:
                    result = numpy_function(*plain, **more)
                except Exception as error:
                    _name_error(name, error, arrays)
                    result = again(numpy_function, plain, more, error)
                return wrap_results(result, name, arrays)
        if kwargs and overrides(kwargs.get("like")):
            like = kwargs.pop("like")
            return ask(call, numpy_function, like, args, kwargs)
        if name in ACCUMULATES and has_small(args):
            return in_float32(call, args, kwargs)
        if composition is not None and (recorded(args, kwargs) or on_backend(args, kwargs)):
            try:
                result = composition(*args, **kwargs)
            except TransformError:
                result = NotImplemented if writes else by_example(call, name, args, kwargs)
                if result is NotImplemented:
                    raise
            except REFUSALS:
                if writes or not _numpy_decides(args, kwargs):
                    raise
                result = NotImplemented
            if result is not NotImplemented:
                return result
        return run_host(numpy_function, name, args, kwargs, writes)

    call.__wrapped__ = numpy_function if composition is None else composition  # its signature
    call.numpy_function = numpy_function  # type: ignore[attr-defined]
    call.composition = composition  # type: ignore[attr-defined]
    return call


def _from_out(function: Function) -> tuple[int, tuple[str, ...]]:
    """The position of a function's argument `out`, and the names of the arguments from there on."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    if code is None or "out" not in names or names.index("out") < code.co_posonlyargcount:
        return sys.maxsize, ()
    return names.index("out"), names[names.index("out") :]


def signature_of(function: Function) -> inspect.Signature | None:
    """The signature that documentation shows for a function made here; None where NumPy has
    none."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


# ------------------------------------------------------------ looking at arguments


def arrays_in(args: Sequence[Any], kwargs: dict[str, Any]) -> list[ArrayCore]:
    """The Arrays among arguments, also inside lists, tuples and dicts."""
    found: list[ArrayCore] = []
    for a in args:
        _collect(a, found)
    for a in kwargs.values():
        _collect(a, found)
    return found


def _plain(value: Any, found: list[ArrayCore]) -> Any:
    """`raw(value)`, noting the Arrays that were in it."""
    if isinstance(value, ArrayCore):
        found.append(value)
        return value._d if value._v is not SCALAR else _element(value)
    kind = type(value)
    if kind is list:
        return [_plain(v, found) for v in value]
    if kind is tuple:
        return tuple([_plain(v, found) for v in value])
    if kind is dict:
        return {k: _plain(v, found) for k, v in value.items()}
    return value.value if getattr(kind, "_is_host_scalar", False) else value


def _name_error(name: str, error: Exception, arrays: Sequence[ArrayCore]) -> None:
    if arrays and not isinstance(error, np.exceptions.AxisError):
        name_error(name, error, tuple(arrays))


def _collect(value: Any, found: list[ArrayCore]) -> None:
    if isinstance(value, ArrayCore):
        found.append(value)
    elif type(value) in (list, tuple):
        for v in value:
            _collect(v, found)
    elif type(value) is dict:
        for v in value.values():
            _collect(v, found)


def recorded(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether rows must compute the call: a recorder, the kernel engine, a gradient or a small
    float is concerned."""
    if modes.asks_for_rows():
        return True
    arrays = arrays_in(args, kwargs)
    if modes.NO_GRAD and not modes.state.grad:
        return any([a._d.dtype.num >= FIRST_SMALL for a in arrays])
    return any([a._n is not None or a._d.dtype.num >= FIRST_SMALL for a in arrays])


def _numpy_decides(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether NumPy can run a call whose composition has raised: nothing was written, the memory is
    its own, and no function of the user's would be called once more."""
    given = (*args, *kwargs.values())
    calls = any([callable(v) and not isinstance(v, (type, ArrayCore)) for v in given])
    return kwargs.get("out") is None and not calls and not on_backend(args, kwargs)


def refusal(
    function: Function, name: str, args: Sequence[Any], kwargs: dict[str, Any]
) -> Exception | None:
    """What NumPy's function raises for a call that writes and that rows have refused, tried on
    copies; None where NumPy would compute it."""
    if on_backend(args, kwargs):
        return None
    try:
        with np.errstate(all="ignore"):
            function(*[_copied(a) for a in args], **{k: _copied(v) for k, v in kwargs.items()})
    except Exception as error:
        _name_error(name, error, arrays_in(args, kwargs))
        return error
    return None


def _copied(value: Any) -> Any:
    if isinstance(value, ArrayCore) and value._v is not SCALAR:
        data = value._d.copy()
        data.flags.writeable = core.is_writeable(value._d)
        return data
    if type(value) is tuple:
        return tuple([_copied(v) for v in value])
    return raw(value)


def on_backend(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether an argument lives on another backend than NumPy's: rows are what it is sure to
    have."""
    if not backends.in_use():
        return False
    return backends.backend_of([a._d for a in arrays_in(args, kwargs)]) is not None


def _element(scalar: ArrayCore) -> Any:
    """NumPy's scalar for an Array that stands for one: some functions tell it from a 0-d array."""
    return scalar._d[()] if type(scalar._d) is np.ndarray else scalar._d


def _is_scalar(value: Any) -> bool:
    """Whether an argument to write is a scalar, which NumPy refuses or leaves alone."""
    return isinstance(value, ArrayCore) and value._v is SCALAR


def raw(value: Any) -> Any:
    """The value with every Array in it replaced by its backend array, or by NumPy's scalar."""
    return _plain(value, [])


# ------------------------------------------------------------ NumPy computes


def run_host(
    function: Function,
    name: str,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    writes: Sequence[int] = (),
) -> Any:
    """Run NumPy's function on the memory of its Arrays and wrap what it returns.

    Arguments that come back are returned themselves; results that share an argument's memory are
    views without gradient; what is written in place is stamped.

    Raises
    ------
    GradientError
        If an array that is written, or a value written into it, carries a gradient.
    """
    arrays = arrays_in(args, kwargs)
    if modes.state.level and any([type(a._d) is frames.Frame for a in arrays]):
        return _in_transform(function, name, args, kwargs, writes)
    recorder = modes.state.recorder if modes.ACTIVE else None
    if recorder is not None:
        for a in arrays:
            recorder.leave(a, f"{name}()")
        if any(_traced_scalars(args)) or any(_traced_scalars(list(kwargs.values()))):
            recorder.refuse(f"{name}() of a changing number inside the traced function")
    grad = not modes.NO_GRAD or modes.state.grad
    targets = [args[i] for i in writes if i < len(args) and not _is_scalar(args[i])]
    targets += [t for t in _flat(kwargs.get("out")) if t is not None]
    written = [t for t in targets if isinstance(t, ArrayCore)]
    for t in written:
        if t._v is SCALAR:
            raise TypeError(f"{name}: return arrays must be of ArrayType; got {describe(t)}")
        views.check_writable(t, name)
        if grad and any([a._n is not None for a in arrays]):
            raise GradientError(
                f"{name}: writing in place has no derivative here; got {describe(*arrays)}. "
                "Hint: detach() the arrays, or use an operator or index assignment"
            )
        views.keep_saved_result(t)
    if backends.in_use() and (backend := backends.backend_of([a._d for a in arrays])) is not None:
        function = _on_backend(backend, function, name)
        if any([isinstance(t._d, np.ndarray) for t in written]):
            raise BackendError(
                f"{name}: device {backend.name!r} does not write into memory of the host; got "
                f"{describe(*arrays)}"
            )
        args = [_adopted(backend, a, name) for a in args]
        kwargs = {k: _adopted(backend, v, name) for k, v in kwargs.items()}
    plain, more = [raw(a) for a in args], {k: raw(v) for k, v in kwargs.items()}
    try:
        result = function(*plain, **more)
    except Exception as error:
        _name_error(name, error, arrays)
        result = again(function, plain, more, error)
    for t in written:
        views.wrote(t, None)
    parents = [a for a in arrays if a._n is not None] if grad else []
    result = wrap_results(result, name, arrays, parents)
    if modes.ACTIVE and modes.state.anomaly is not None:
        modes.state.anomaly.look(name, result, args, kwargs)
    return result


def _in_transform(
    function: Function,
    name: str,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    writes: Sequence[int],
) -> Any:
    """`run_host` on the values below those of `vmap` and `jvp`."""
    if writes or any([t is not None for t in _flat(kwargs.get("out"))]):
        raise TransformError(
            f"{name}: writes in place, which has no form inside vmap or jvp; got "
            f"{describe(*arrays_in(args, kwargs))}. Hint: use an operator or index assignment"
        )

    def call(*args: Any, **kwargs: Any) -> Any:
        return run_host(function, name, args, kwargs)

    arrays = arrays_in(args, kwargs)
    depth = max([frames.level_of(a) for a in arrays])
    parents = [a for a in arrays if a._n is not None and frames.level_of(a) == depth]
    result = frames.on_host(call, name, args, kwargs)
    if parents and modes.grad_enabled():
        for found in arrays_in((result,), {}):
            _marked(found, name, parents)
    return result


def by_example(call: Function, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call whose composition asks for values that differ between vmap's examples: one example
    after the other; NotImplemented where this would lose a gradient."""
    arrays = [a for a in arrays_in(args, kwargs) if type(a._d) is frames.Frame]
    if not arrays or any([callable(v) for v in (*args, *kwargs.values()) if type(v) is not type]):
        return NotImplemented
    depth = max([frames.level_of(a) for a in arrays])
    if any([a._n is not None for a in arrays if frames.level_of(a) == depth]):
        if modes.grad_enabled():
            return NotImplemented
    if not any([a._d.mapped for a in arrays if frames.level_of(a) == depth]):
        return NotImplemented
    return frames.on_host(call, name, args, kwargs)


def _on_backend(backend: backends.Backend, function: Function, name: str) -> Function:
    """The backend's function of a NumPy function's name.

    Raises
    ------
    BackendError
        If that backend has no function of the name.
    """
    found = module = backend.module
    try:
        for part in _path_of(function):
            found = getattr(found, part)
    except AttributeError:
        found = module
    if found is module or not callable(found):
        raise BackendError(f"{name}: the library of device {backend.name!r} has no such function")
    return found  # type: ignore[no-any-return]


def _adopted(backend: backends.Backend, value: Any, name: str) -> Any:
    """`value` with the backend's arrays for every Array in it."""
    if isinstance(value, ArrayCore):
        return backends.adopted(backend, value._d, name)
    if type(value) in (list, tuple):
        return type(value)([_adopted(backend, v, name) for v in value])
    return value


def _path_of(function: Function) -> tuple[str, ...]:
    """Where NumPy keeps a function, below the module `numpy`: ("linalg", "norm")."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return (owner.__name__, function.__name__)
    module = getattr(function, "__module__", None) or "numpy"
    return (*module.split(".")[1:], function.__name__)


def wrap_results(
    value: Any, name: str, arrays: Sequence[ArrayCore] = (), parents: Sequence[ArrayCore] = ()
) -> Any:
    """NumPy's result as numen's: ndarrays and numeric scalars become Arrays, also inside
    tuples."""
    if isinstance(value, np.ndarray):
        return _wrap_array(value, name, arrays, parents)
    if backends.in_use() and backends.is_backend_array(value):
        return _wrap_backend_array(value, name, arrays, parents)
    if isinstance(value, np.generic):
        if value.dtype.kind in KEPT_SCALARS and not is_differentiable(value.dtype):
            return value
        return _marked(_noted(core.wrap(value)), name, parents)
    kind = type(value)
    if kind in (list, tuple):
        return kind([wrap_results(v, name, arrays, parents) for v in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*[wrap_results(v, name, arrays, parents) for v in value])
    return value


def _wrap_array(
    value: np.ndarray[Any, Any],
    name: str,
    arrays: Sequence[ArrayCore],
    parents: Sequence[ArrayCore],
) -> Any:
    if type(value) is not np.ndarray:
        if isinstance(value, (np.ma.MaskedArray, np.matrix, np.recarray)):
            if parents:
                raise GradientError(
                    f"{name}: the result is a NumPy {type(value).__name__}, which would lose the "
                    f"gradient of {describe(*parents)}. Hint: detach() it"
                )
            return value  # classes of their own, on host memory
        value = value.view(np.ndarray)
    for a in arrays:
        if a._d is value:
            return a
    result = _marked(core.ARRAY(value), name, parents)
    if value.base is not None:
        for a in arrays:
            if a._v is not SCALAR and np.may_share_memory(value, a._d):
                views.register_detached(result, a)
                return result
    return _noted(result)


def _wrap_backend_array(
    value: Any, name: str, arrays: Sequence[ArrayCore], parents: Sequence[ArrayCore]
) -> Any:
    for a in arrays:
        if a._d is value:
            return a
    result = _marked(core.ARRAY(value, None, None if value.ndim else SCALAR), name, parents)
    for a in arrays:
        if value.base is not None and (value.base is a._d or value.base is a._d.base):
            views.register_detached(result, a)
            break
    return result


def _noted(result: Any) -> Any:
    if modes.ACTIVE:
        core.note_new(result)
    return result


def _marked(result: Any, name: str, parents: Sequence[ArrayCore]) -> Any:
    """The result with a node whose backward pass says that the function has no derivative."""
    if parents and is_differentiable(result._d.dtype):
        nodes = tuple([p._n for p in parents])
        result._n = Node(_refusing(name), nodes, (None,) * len(nodes), {}, None, result._d)
    return result


@functools.cache
def _refusing(name: str) -> Primitive:
    def impl(*args: Any, **params: Any) -> NoReturn:
        raise GradientError(f"{name}: has no row")

    def vjp(needs: Sequence[bool], g: Any, out: Any, *args: Any, **params: Any) -> NoReturn:
        raise GradientError(
            f"backward: {name} has no derivative here. Hint: detach() its argument if no gradient "
            "should flow through it"
        )

    return Primitive(name, impl, vjp=vjp)


def _flat(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple):
        yield from value
    else:
        yield value


def _traced_scalars(values: Sequence[Any]) -> Iterator[bool]:
    for value in values:
        if type(value) in (list, tuple):
            yield from _traced_scalars(value)
        else:
            yield getattr(type(value), "_is_host_scalar", False)
