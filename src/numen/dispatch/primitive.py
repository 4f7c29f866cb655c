"""Primitive: one row of the op table, and the general path of a call.

A row holds NumPy's meaning (`impl`), the derivative rules and what the compiler needs to know.
`derived.py` makes rules from partial derivatives or a transpose. Calls on plain
small arrays take the fast paths of `fast.py`; everything else comes through `Primitive.__call__`.
Rows live in `ops/`; see `docs/howto/add_an_op.md`.

Rules
-----
vjp(needs, g, out, *args, **params) -> one cotangent or None per argument. An argument the row does
    not save arrives as its gradient node, which has `shape`, `dtype` and `ndim` only (None if it
    needs no gradient).
jvp(out, args, tangents, **params) -> the output's tangent; a tangent is None where an argument has
    none.
batch(size, args, axes, **params) -> the output with its batch axis first; `axes[i]` is True where
    argument i has a leading batch axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backends, core, frames, modes, places, views
from numen.dispatch.core import SCALAR, ArrayCore, Node, is_differentiable
from numen.errors import BackendError, name_error
from numen.runtime import memory

Rule = Callable[..., Any]
Samples = Callable[[Any, np.dtype[Any]], Sequence[tuple[tuple[Any, ...], dict[str, Any]]]]

run_kernel: Callable[..., Any] | None = None
"""`ops.kernels.run`, filled by `ops`: (row, raw arguments, params) -> the result, or None where
there is no kernel."""


class Primitive:
    """One op.

    Attributes
    ----------
    name : str
        NumPy's name; also the op's name in graphs.
    impl : callable
        The NumPy meaning: ndarrays and Python scalars in, ndarray or NumPy scalar out.
    plain_impl : callable
        The meaning between operands of one dtype of NumPy's; `impl` also promotes small floats.
    vjp, jvp, batch : callable or None
        Rules as the module says. `vjp` None means: no derivative (integer results, comparisons).
    saves : tuple of int
        Arguments whose values the vjp rule needs; `saves_for[i]` the ones needed when argument i
        needs a gradient.
    saves_out : bool
        Whether the vjp rule needs the result's value.
    exact : bool
        NumPy's result has the bits that kernels give, so NumPy may stand in for the kernel.
    cheap : bool
        NumPy is as fast as one thread can be, so a kernel pays late; by default what is exact.
    least_ndim : tuple of int, or callable
        The least number of axes of each array argument (from the params, where callable): a batch
        axis must not stand in for a missing one. Empty: any number will do, or the rule checks.
    view : bool
        The result may share the first argument's memory.
    ufunc : numpy.ufunc or None
        Decides the dtypes an elementwise op computes in.
    substitute : callable or None
        The meaning by other functions, for backends that lack NumPy's.
    samples : callable or None
        (rng, dtype) -> [(args, params)] inputs for the generated tests; kinks and ties are avoided.
    errors : callable or None
        () -> [(args, params, exception class)] bad inputs for the generated tests.
    """

    def __init__(
        self,
        name: str,
        impl: Rule,
        *,
        vjp: Rule | None = None,
        jvp: Rule | None = None,
        batch: Rule | None = None,
        saves: tuple[int, ...] = (),
        saves_for: tuple[tuple[int, ...], ...] | None = None,
        saves_out: bool = False,
        exact: bool = True,
        cheap: bool | None = None,
        least_ndim: tuple[int, ...] | Callable[..., tuple[int, ...]] = (),
        view: bool = False,
        ufunc: np.ufunc | None = None,
        substitute: Rule | None = None,
        samples: Samples | None = None,
        errors: Callable[[], Sequence[tuple[tuple[Any, ...], dict[str, Any], type[Exception]]]]
        | None = None,
    ) -> None:
        self.name = name
        self.impl = self.plain_impl = impl
        self.vjp = vjp
        self.jvp = jvp
        self.batch = batch
        self.saves = saves
        self.saves_for = saves_for
        self.saves_arguments = bool(saves) or any(saves_for or ())
        self.saves_out = saves_out
        self.exact = exact
        self.cheap = exact if cheap is None else cheap
        self.least_ndim = least_ndim
        self.view = view
        self.ufunc = ufunc
        self.substitute = substitute
        self.samples = samples
        self.errors = errors

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Apply the op. Raw arguments give a raw result: that is how rules run in a first-order
        backward pass."""
        raw = []
        arrays = False
        for a in args:
            if isinstance(a, ArrayCore):
                arrays = True
                a = a._d
            raw.append(a)
        if not arrays:
            backend = backends.backend_of(args) if backends.in_use() else None
            if backend is not None:
                return self._on_backend(backend, args, params)
            return self.impl(*args, **params)
        if modes.ACTIVE:
            watch = modes.state.anomaly
            if watch is not None and not watch.busy:
                return watch.apply(self, args, params)
            if modes.state.level:
                for a in raw:
                    if type(a) is frames.Frame:
                        return frames.apply(self, args, params)
            recorder = modes.state.recorder
            if recorder is not None:
                result = recorder.apply(self, args, params)
            else:
                result = self.finish(args, params, self.compute(raw, params))
            if modes.state.level and isinstance(result, ArrayCore):
                core.note_made(result)
            return result
        return self.finish(args, params, self.compute(raw, params))

    def compute(self, raw: Sequence[Any], params: dict[str, Any]) -> Any:
        """Evaluate on raw arguments with the engine that holds."""
        large = 0  # elements of a result of broadcasting
        if self.ufunc is not None and len(raw) == 2:
            a, b = raw
            if type(a) is np.ndarray and type(b) is np.ndarray and a.shape != b.shape:
                large = self._broadcast_size(a, b)
        if not modes.ACTIVE:
            limit = modes.CHEAP_LIMIT if self.cheap else modes.LIMIT
            for a in raw:
                if type(a) is np.ndarray and a.size >= limit:
                    break
            else:
                if large < limit:
                    return self._numpy(raw, params)
        backend = backends.backend_of(raw) if backends.in_use() else None
        if backend is not None:
            return self._on_backend(backend, raw, params)
        engine = modes.engine()
        data = None
        if run_kernel is None or engine == "numpy":
            pass
        elif engine == "kernels":
            if not self.exact:
                data = run_kernel(self, raw, params)
        elif not self.view:
            limit = modes.CHEAP_THRESHOLD if self.cheap else modes.KERNEL_THRESHOLD
            if large >= limit or any([isinstance(a, np.ndarray) and a.size >= limit for a in raw]):
                if not modes.errstate_is_strict():
                    data = run_kernel(self, raw, params)
        return self._numpy(raw, params) if data is None else data

    def _broadcast_size(self, a: Any, b: Any) -> int:
        """How many elements the result has, where broadcasting makes it larger than an operand;
        else 0.

        Raises
        ------
        MemoryError
            If there is less memory left than the result needs, before NumPy asks for it.
        """
        bound = a.size * b.size
        if bound < modes.KERNEL_THRESHOLD or self.name == "matmul":
            return 0
        if a.shape[a.ndim - b.ndim :] == b.shape or b.shape[b.ndim - a.ndim :] == a.shape:
            return 0  # the usual: a row beside a matrix
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            return 0  # the op says so itself
        size = math.prod(shape)
        if bound >= modes.QUICK_LIMIT**2:
            itemsize = max(a.itemsize, b.itemsize)
            memory.check_room(size * itemsize, f"a {self.name} of shape {shape}")
        return size

    def _numpy(self, raw: Sequence[Any], params: dict[str, Any]) -> Any:
        """NumPy's result; its exceptions name the op and what came."""
        try:
            return self.impl(*raw, **params)
        except Exception as error:
            name_error(self.name, error, raw)
            raise

    def _on_backend(
        self, backend: backends.Backend, raw: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """Another backend's result: its function of the row's name, or the row's impl on its
        arrays."""
        if backend.array_class is frames.Frame:
            if not modes.state.level:
                left = next(a for a in raw if type(a) is frames.Frame)
                raise frames.has_left(left, self.name)
            wrapped = [core.ARRAY(a) if type(a) is frames.Frame else a for a in raw]
            return core.unwrap(self(*wrapped, **params))
        operands = [backends.adopted(backend, a, self.name) for a in raw]
        impl: Any = self.ufunc or self.plain_impl
        if isinstance(impl, np.ufunc) or getattr(impl, "__module__", None) == "numpy":
            impl = getattr(backend.module, impl.__name__, self.substitute)
        if impl is None:
            raise BackendError(
                f"{self.name}: the library of device {backend.name!r} has no such function"
            )
        try:
            return impl(*operands, **params)
        except Exception as error:
            name_error(self.name, error, raw)
            raise

    def finish(self, args: tuple[Any, ...], params: dict[str, Any], data: Any) -> Any:
        """Wrap a raw result: view bookkeeping, then the gradient node."""
        if backends.in_use() and not isinstance(data, (np.ndarray, np.generic)):
            result = self._wrap_backend(args, data, params)
        else:
            result = core.wrap(data)
            if not isinstance(result, ArrayCore):
                return result  # text, a date, a Python object
        if self.view:
            source = args[0]
            if isinstance(source, ArrayCore) and source._v is SCALAR and result._v is not SCALAR:
                if self.name == "transpose":  # of a NumPy scalar: the scalar itself
                    result = core.ARRAY(data, None, SCALAR)
                elif self.name != "broadcast_to":  # reshape, getitem: an array of its own
                    result = core.ARRAY(data.copy())
            if isinstance(source, ArrayCore):
                attach_view(result, source, self, params)
        if self.vjp is not None and (not modes.NO_GRAD or modes.state.grad):
            if len(args) == 1:
                parent = args[0]._n
                if parent is None:
                    return result
                parents: tuple[Any, ...] = (parent,)
            else:
                parents = tuple([a._n if isinstance(a, ArrayCore) else None for a in args])
            for p in parents:
                if p is not None:
                    if is_differentiable(result._d.dtype):
                        result._n = self.node(args, parents, params, result._d)
                        if self.saves_arguments or (modes.ACTIVE and modes.state.anomaly):
                            places.mark(result._n, 2)
                    break
        return result

    def gives_scalar(self, source: Any, params: dict[str, Any]) -> bool:
        """Whether NumPy gives a scalar where the result has no axes; source: the first argument."""
        return not self.view

    def _wrap_backend(self, args: tuple[Any, ...], data: Any, params: dict[str, Any]) -> Any:
        """Wrap another backend's result, which is never a scalar: flag what NumPy makes one."""
        if not backends.is_backend_array(data):
            return core.wrap(data)
        if data.ndim or not self.gives_scalar(args[0], params):
            return core.ARRAY(data)
        return core.ARRAY(data.copy() if self.view else data, None, SCALAR)

    def node(
        self, args: tuple[Any, ...], parents: tuple[Any, ...], params: dict[str, Any], data: Any
    ) -> Node:
        """The gradient node of a call, saving only what the vjp rule will need."""
        out = data if self.saves_out else None
        return Node(self, parents, self.kept(args, parents), params, out, data)

    def kept(self, args: tuple[Any, ...], parents: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments that the vjp rule needs, None in place of the others."""
        if self.saves_for is None:
            saves = self.saves
            if len(saves) == len(args):
                return args
            return tuple(
                [
                    a if i in saves or not isinstance(a, ArrayCore) else None
                    for i, a in enumerate(args)
                ]
            )
        if len(args) == 2:
            # the usual case, without making sets
            left = self.saves_for[0] if parents[0] is not None else ()
            right = self.saves_for[1] if parents[1] is not None else ()
            a, b = args
            return (a if 0 in left or 0 in right else None, b if 1 in left or 1 in right else None)
        needed: set[int] = set()
        for parent, indices in zip(parents, self.saves_for, strict=False):
            if parent is not None:
                needed.update(indices)
        return tuple([a if i in needed else None for i, a in enumerate(args)])


def attach_view(result: Any, source: Any, prim: Primitive, params: dict[str, Any]) -> None:
    """Register `result` as a view where it shares `source`'s memory."""
    data, base = result._d, source._d
    if result._v is SCALAR or data.base is None or source._v is SCALAR:
        return
    if data.base is not base and data.base is not base.base:
        return
    if result._d is base:
        return
    views.register(result, source, prim, params)
