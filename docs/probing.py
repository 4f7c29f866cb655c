"""Try NumPy's functions on Arrays: do derivatives flow, and what do vmap and jit make of a call?

Each function gets a sample call: one from SAMPLES, or the first of GENERIC that NumPy itself
accepts. `gradient` and `forward` run it on Arrays that require gradients or have tangents,
`batched` inside vmap, `compiled` records it and schedules the graph without making machine code.
Called by `make_coverage.py`.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np

import numen as nm
from numen.compiler import pipeline
from numen.compiler.passes.schedule import HostStep, HostWrite
from numen.dispatch import frames
from numen.errors import GradientError, TransformError
from numen.tracing.build import build
from numen.tracing.tree import _known

GENERIC = (
    "(x)", "(v)", "(S)", "(x, y)", "(v, b)", "(x, i)", "(v, 2)", "(S, v[:3])", "(S, S)",
    "(i)", "(i, i)", "(b0)", "(c)", "([x, y])", "((x, y))", "(x, (2, 2))", "(x, [x, y])",
    "(x, 0, 1)", "((3,))", "(3)", "(np.float32)", "(np.float32, np.int64)", "('f4', 'f8')",
)  # fmt: skip
"""Argument lists that are tried in this order."""

SAMPLES: dict[str, str] = {
    # functions
    "angle": "np.angle(v + 1j * b)",
    "average": "np.average(v, weights=x)",
    "broadcast_arrays": "np.broadcast_arrays(v, t)",
    "broadcast_shapes": "np.broadcast_shapes((2, 1), (1, 3))",
    "clip": "np.clip(v, 2, 5)",
    "column_stack": "np.column_stack([x, y])",
    "concat": "np.concat([x, y])",
    "concatenate": "np.concatenate([x, y])",
    "dstack": "np.dstack([x, y])",
    "empty": "np.empty(3)",
    "expand_dims": "np.expand_dims(v, 0)",
    "fix": "np.fix(v)",
    "flip": "np.flip(v)",
    "hstack": "np.hstack([x, y])",
    "isin": "np.isin(i, u)",
    "nested_iters": "np.nested_iters(S, [[0], [1]])",
    "ones": "np.ones(3)",
    "ptp": "np.ptp(v)",
    "roll": "np.roll(v, 1)",
    "row_stack": "np.row_stack([x, y])",
    "sort_complex": "np.sort_complex(v)",
    "squeeze": "np.squeeze(t[:1])",
    "stack": "np.stack([x, y])",
    "transpose": "np.transpose(S)",
    "tril": "np.tril(S)",
    "triu": "np.triu(S)",
    "vstack": "np.vstack([x, y])",
    "zeros": "np.zeros(3)",
    "apply_along_axis": "np.apply_along_axis(np.sum, 0, S)",
    "apply_over_axes": "np.apply_over_axes(np.sum, S, [0])",
    "argpartition": "np.argpartition(v, 2)",
    "array_split": "np.array_split(v, 2)",
    "astype": "np.astype(v, np.float32)",
    "bincount": "np.bincount(i, weights=v)",
    "block": "np.block([[S, S], [S, S]])",
    "choose": "np.choose(i % 2, [v, b])",
    "compress": "np.compress([True, False, True, True], v)",
    "convolve": "np.convolve(v, b)",
    "copyto": "w = v * 1; np.copyto(w, b); w",
    "correlate": "np.correlate(v, b)",
    "cross": "np.cross(S[0], S[1])",
    "delete": "np.delete(v, 1)",
    "digitize": "np.digitize(v, v)",
    "dsplit": "np.dsplit(t, 2)",
    "einsum": "np.einsum('ij,j->i', S, v[:3])",
    "einsum_path": "np.einsum_path('ij,j->i', S, v[:3])",
    "extract": "np.extract(m, v)",
    "fill_diagonal": "w = S * 1; np.fill_diagonal(w, v[0]); w",
    "fromfunction": "np.fromfunction(lambda p: p * 2, (3,))",
    "fromiter": "np.fromiter([1.0, 2.0], np.float64)",
    "full": "np.full((2,), v[0])",
    "full_like": "np.full_like(v, b[0])",
    "geomspace": "np.geomspace(v[0], v[1], 4)",
    "histogram": "np.histogram(v, bins=3, weights=b)",
    "histogram2d": "np.histogram2d(v, b, bins=2)",
    "histogramdd": "np.histogramdd(S, bins=2)",
    "hsplit": "np.hsplit(v, 2)",
    "real": "np.real(v + 1j * b)",
    "imag": "np.imag(v + 1j * b)",
    "conj": "np.conj(v + 1j * b)",
    "insert": "np.insert(v, 1, b[0])",
    "interp": "np.interp(x, v, b)",
    "linspace": "np.linspace(v[0], v[1], 4)",
    "logspace": "np.logspace(v[0], v[1], 4)",
    "moveaxis": "np.moveaxis(t, 0, -1)",
    "partition": "np.partition(v, 2)",
    "pad": "np.pad(v, 1)",
    "percentile": "np.percentile(v, 30)",
    "piecewise": "np.piecewise(v, [v < 3, v >= 3], [lambda q: q * 2, lambda q: q])",
    "place": "w = v * 1; np.place(w, m, b); w",
    "polyval": "np.polyval(b, v)",
    "put": "w = v * 1; np.put(w, [0], b[0]); w",
    "put_along_axis": "w = v * 1; np.put_along_axis(w, i[:1], b[0], 0); w",
    "putmask": "w = v * 1; np.putmask(w, m, b); w",
    "quantile": "np.quantile(v, 0.3)",
    "ravel_multi_index": "np.ravel_multi_index((1, 2), (2, 3))",
    "nanpercentile": "np.nanpercentile(v, 30)",
    "nanquantile": "np.nanquantile(v, 0.3)",
    "repeat": "np.repeat(v, 2)",
    "reshape": "np.reshape(v, (2, 2))",
    "resize": "np.resize(v, (3, 3))",
    "permute_dims": "np.permute_dims(S)",
    "rollaxis": "np.rollaxis(t, 2)",
    "searchsorted": "np.searchsorted(v, b)",
    "select": "np.select([v > 2, v < 2], [v, b], default=0)",
    "split": "np.split(v, 2)",
    "swapaxes": "np.swapaxes(S, 0, 1)",
    "take": "np.take(v, i)",
    "take_along_axis": "np.take_along_axis(v, i, 0)",
    "tensordot": "np.tensordot(S, S, axes=1)",
    "trace": "np.trace(S)",
    "trapezoid": "np.trapezoid(v, x)",
    "tile": "np.tile(v, 2)",
    "trim_zeros": "np.trim_zeros(v)",
    "unravel_index": "np.unravel_index(5, (2, 3))",
    "vsplit": "np.vsplit(S, 3)",
    "where": "np.where(m, v, b)",
    "broadcast_to": "np.broadcast_to(v, (2, 4))",
    "common_type": "np.common_type(v, b)",
    "diag_indices": "np.diag_indices(3)",
    "ix_": "np.ix_(i, i)",
    "mask_indices": "np.mask_indices(3, np.triu)",
    "indices": "np.indices((2, 3))",
    "frompyfunc": "np.frompyfunc(lambda q: q, 1, 1)(v)",
    "packbits": "np.packbits(m)",
    "unpackbits": "np.unpackbits(u)",
    "busday_count": "np.busday_count('2020-01-01', '2020-02-01')",
    "busday_offset": "np.busday_offset('2020-01-01', 2)",
    "is_busday": "np.is_busday('2020-01-01')",
    "datetime_as_string": "np.datetime_as_string(np.datetime64('2020-01-01'))",
    "isnat": "np.isnat(np.array(['2020-01-01'], dtype='M8[D]'))",
    "frombuffer": "np.frombuffer(b'12345678')",
    "fromstring": "np.fromstring('1 2', sep=' ')",
    "base_repr": "np.base_repr(5)",
    "binary_repr": "np.binary_repr(5)",
    "format_float_positional": "np.format_float_positional(1.5)",
    "format_float_scientific": "np.format_float_scientific(1.5)",
    "issubdtype": "np.issubdtype(np.float32, np.floating)",
    "isdtype": "np.isdtype(np.dtype('f4'), 'real floating')",
    "mintypecode": "np.mintypecode('fd')",
    "typename": "np.typename('f')",
    "bmat": "np.bmat([[S, S]])",
    "ldexp": "np.ldexp(v, i)",
    "matmul": "np.matmul(S, S)",
    "matvec": "np.matvec(S, v[:3])",
    "vecmat": "np.vecmat(v[:3], S)",
    "vecdot": "np.vecdot(v, b)",
    "conjugate": "np.conjugate(v + 1j * b)",
    "heaviside": "np.heaviside(x, y)",
    "cov": "np.cov(S)",
    "corrcoef": "np.corrcoef(S)",
    "nan_to_num": "np.nan_to_num(v)",
    "diag": "np.diag(v)",
    "vectorize": "np.vectorize(lambda q: q * 2)(v)",
    "unstack": "np.unstack(S)",
    "argsort": "np.argsort(v)",
    "union1d": "np.union1d(v, b)",
    "lexsort": "np.lexsort((v, b))",
    "meshgrid": "np.meshgrid(v, b)",
    "vander": "np.vander(v, 3)",
    "unwrap": "np.unwrap(v)",
    "i0": "np.i0(v)",
    "from_dlpack": "np.from_dlpack(i)",
    "poly": "np.poly(v)",
    "roots": "np.roots(v)",
    "polyfit": "np.polyfit(v, b, 1)",
    "polydiv": "np.polydiv(v, b)",
    "arange": "np.arange(4)",
    "diagflat": "np.diagflat(v)",
    "kaiser": "np.kaiser(4, 2.0)",
    # linalg
    "linalg.cholesky": "np.linalg.cholesky(P)",
    "linalg.eigh": "np.linalg.eigh(P)",
    "linalg.eigvalsh": "np.linalg.eigvalsh(P)",
    "linalg.cross": "np.linalg.cross(S[0], S[1])",
    "linalg.lstsq": "np.linalg.lstsq(P, v[:3])",
    "linalg.matrix_power": "np.linalg.matrix_power(S, 3)",
    "linalg.multi_dot": "np.linalg.multi_dot([S, S, S])",
    "linalg.solve": "np.linalg.solve(P, v[:3])",
    "linalg.tensorsolve": "np.linalg.tensorsolve(P, v[:3])",
    "linalg.tensorinv": "np.linalg.tensorinv(P, ind=1)",
    "linalg.tensordot": "np.linalg.tensordot(S, S, axes=1)",
    "linalg.vector_norm": "np.linalg.vector_norm(v)",
    "linalg.norm": "np.linalg.norm(S)",
    "linalg.matmul": "np.linalg.matmul(S, S)",
    # methods of ndarray
    "ndarray.__array_ufunc__": "S.__array_ufunc__(np.add, '__call__', S, S)",
    "ndarray.__array_wrap__": "S.__array_wrap__(S)",
    "ndarray.__copy__": "S.__copy__()",
    "ndarray.__deepcopy__": "S.__deepcopy__({})",
    "ndarray.__divmod__": "divmod(v, b)",
    "ndarray.__rdivmod__": "divmod(2.0, v)",
    "ndarray.__getitem__": "S[0]",
    "ndarray.__setitem__": "w = v * 1; w[0] = b[0]; w",
    "ndarray.__iter__": "list(v)",
    "ndarray.__pow__": "v ** b",
    "ndarray.__matmul__": "S @ S",
    "ndarray.__rmatmul__": "S.__rmatmul__(S)",
    "ndarray.__imatmul__": "w = S * 1; w @= S; w",
    "ndarray.argpartition": "v.argpartition(2)",
    "ndarray.astype": "v.astype(np.float32)",
    "ndarray.byteswap": "v.byteswap()",
    "ndarray.choose": "(i % 2).choose([v, b])",
    "ndarray.clip": "v.clip(2, 4)",
    "ndarray.compress": "v.compress([True, False, True, True])",
    "ndarray.dot": "S.dot(S)",
    "ndarray.fill": "w = v * 1; w.fill(b[0]); w",
    "ndarray.partition": "w = v * 1; w.partition(2); w",
    "ndarray.put": "w = v * 1; w.put([0], b[0]); w",
    "ndarray.repeat": "v.repeat(2)",
    "ndarray.reshape": "v.reshape(2, 2)",
    "ndarray.resize": "w = v * 1; w.resize(4); w",
    "ndarray.searchsorted": "v.searchsorted(b)",
    "ndarray.sort": "w = v * 1; w.sort(); w",
    "ndarray.swapaxes": "S.swapaxes(0, 1)",
    "ndarray.take": "v.take(i)",
    "ndarray.view": "v.view()",
    "ndarray.conj": "(v + 1j * b).conj()",
    "ndarray.conjugate": "(v + 1j * b).conjugate()",
    "ndarray.real": "(v + 1j * b).real",
    "ndarray.imag": "(v + 1j * b).imag",
}
"""Name -> sample call, the last statement being its value; arrays are those of `arrays`."""

FLOATS = ("x", "y", "v", "b", "S", "P", "t")


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of the sample calls; the floating ones have no ties and lie off the kinks."""
    return {
        "x": np.array([0.15, 0.35, 0.6, 0.85]),
        "y": np.array([0.7, 0.25, 0.45, 0.95]),
        "v": np.array([1.25, 2.5, 4.0, 7.0]),
        "b": np.array([3.0, 1.5, 2.25, 5.5]),
        "S": np.array([[2.0, 0.5, 1.0], [0.25, 3.0, -1.0], [1.5, -0.75, 4.0]]),
        "P": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),
        "t": np.arange(24.0).reshape(2, 3, 4) + 0.5,
        "c": np.array([1 + 2j, 3 - 1j]),
        "i": np.array([3, 1, 2, 0]),
        "u": np.array([3, 200], np.uint8),
        "m": np.array([True, False, True, False]),
        "b0": np.array([True, False]),
    }


class Probe:
    """A sample call as a function of the arrays it names."""

    def __init__(self, text: str) -> None:
        *before, last = ast.parse(text.replace("; ", "\n")).body
        assert isinstance(last, ast.Expr)
        names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
        self.text = text
        self.names = [name for name in arrays() if name in names]
        lines = [ast.unparse(statement) for statement in before]
        lines.append(f"return {ast.unparse(last)}")
        self.source = f"def call({', '.join(self.names)}):\n    " + "\n    ".join(lines) + "\n"

    def function(self, module: Any) -> Any:
        """The call with `np` meaning `module`."""
        scope: dict[str, Any] = {"np": module}
        exec(self.source, scope)
        return scope["call"]

    def numpy_accepts(self) -> bool:
        """Whether NumPy computes the call without a warning."""
        given = [arrays()[name] for name in self.names]
        try:
            with warnings.catch_warnings(), np.errstate(all="raise"):
                warnings.simplefilter("error")
                return self.function(np)(*given) is not NotImplemented
        except Exception:
            return False

    # ------------------------------------------------------------ numen's answers
    def gradient(self) -> str:
        """yes, refused, `-` where no result carries a gradient, or error."""
        given = [nm.array(arrays()[name], requires_grad=name in FLOATS) for name in self.names]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = self.function(nm)(*given)
                carried = [a for a in _arrays_in(result) if a.requires_grad]
                if not carried:
                    return "-"
                for a in carried:
                    total = a.sum() if a.dtype.kind != "c" else (a.real + a.imag).sum()
                    total.backward(retain_graph=True)
            except GradientError:
                return "refused"
            except Exception as error:
                return failed(self, error)
        return "yes"

    def forward(self) -> str:
        """yes, refused, `-` where no result is floating, or error."""
        if self.gradient() == "-":
            return "-"
        floats = [name for name in self.names if name in FLOATS]

        def call(*chosen: Any) -> Any:
            given = {name: nm.array(arrays()[name]) for name in self.names}
            result = self.function(nm)(**given | dict(zip(floats, chosen, strict=True)))
            return [a for a in _arrays_in(result) if a.dtype.kind in "fc"]

        primals = [nm.array(arrays()[name]) for name in floats]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                nm.jvp(call, primals, [nm.ones_like(p) for p in primals])
            except (GradientError, TransformError):
                return "refused"
            except Exception as error:
                return failed(self, error)
        return "yes"

    def batched(self) -> str:
        """at once, loop, refused, `-` where no result is an array, or error.

        The examples have the same values, so that no result's shape differs between them.
        """
        given = [nm.array(np.stack([arrays()[name]] * 2)) for name in self.names]
        loops: list[str] = []
        by_example = frames.on_host

        def noted(function: Any, name: str, *rest: Any) -> Any:
            loops.append(name)
            return by_example(function, name, *rest)

        with warnings.catch_warnings(), mock.patch.object(frames, "on_host", noted):
            warnings.simplefilter("ignore")
            try:
                plain = self.function(nm)(*[nm.array(arrays()[name]) for name in self.names])
                if next(_arrays_in(plain), None) is None or not self.names:
                    return "-"
                found = nm.vmap(lambda *xs: list(_arrays_in(self.function(nm)(*xs))))(*given)
            except (GradientError, TransformError):
                return "refused"
            except Exception as error:
                return failed(self, error)
        if "empty" in self.text:
            return "at once"  # no values to compare
        for one, both in zip(_arrays_in(plain), found, strict=True):
            for row in np.asarray(both):
                exact = one.dtype.kind not in "fc"
                if not np.array_equal(row, one) if exact else not np.allclose(row, one, 1e-9):
                    return failed(self, ValueError(f"vmap gives {row}, a loop {one}"))
        return "loop" if loops else "at once"

    def compiled(self) -> str:
        """compiled, host, both (`compiled, host`), eager, or `-` where Python knows the result."""
        function = nm.jit(self.function(nm))
        given = [nm.array(arrays()[name]) for name in self.names]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = function(*given)
            except Exception as error:
                return failed(self, error)
        ((entry,),) = function._entries.values()
        if entry.tree.eager is not None:
            return "eager"
        kinds = set()
        stack = [entry.tree.root]
        while stack:
            segment = stack.pop()
            metas, externals = _known(segment)
            writes = segment.end.writes if segment.end is not None else ()
            made = build(segment.items, metas, externals, sorted(segment.needed), writes)
            for step in pipeline.compile_steps(made.graph, made.orders).steps:
                kinds.add("host" if isinstance(step, (HostStep, HostWrite)) else "compiled")
            stack += segment.children.values()
        if kinds:
            return ", ".join(sorted(kinds))
        return "compiled" if next(_arrays_in(result), None) is not None else "-"


def failed(probe: Probe, error: Exception) -> str:
    """Say which sample call raised, on stderr; the page gets `error`, which a test refuses."""
    print(f"{probe.text}: {type(error).__name__}: {error}", file=sys.stderr)
    return "error"


def _arrays_in(value: Any) -> Iterator[Any]:
    if isinstance(value, nm.Array):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _arrays_in(v)


def sample_of(name: str, call: str, arguments: Sequence[str] = GENERIC) -> Probe | None:
    """The sample call of `name`, or None where NumPy takes none of them.

    call : the text before the arguments ("np.linalg.norm", "v.sum").
    """
    if name in SAMPLES:
        return Probe(SAMPLES[name])
    for given in arguments:
        probe = Probe(call + given)
        if probe.numpy_accepts():
            return probe
    return None
