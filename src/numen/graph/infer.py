"""Shape and dtype rules: the type of an op's result from the types of its arguments and its params.

Called by `Graph.op` and by the verifier. `RULES` is the table; upper layers add rules of their own
ops with `register_rule`. A breach raises ShapeError or DTypeError. Next: `graph.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.errors import DTypeError, InternalError, NumenError, ShapeError
from numen.graph.types import Dim, Extent, Shape, TensorType, broadcast_shapes

Types = Sequence[TensorType]
Rule = Callable[..., TensorType]

RULES: dict[str, Rule] = {}
"""Op name to rule, called as rule(types, **params)."""

BOOL = np.dtype(np.bool_)
INT64 = np.dtype(np.int64)
UINT64 = np.dtype(np.uint64)
FLOAT64 = np.dtype(np.float64)

VIEWS = frozenset({"reshape", "transpose", "broadcast_to", "getitem"})
"""Ops whose result is a view of their argument (a reshape where the layout allows)."""

PARTS = frozenset({"real", "imag"})
"""Views of another dtype: steps of a path, but computed by host calls elsewhere."""


KEEPDIMS = frozenset({"sum", "max", "min", "mean", "argmax"})
"""Ops whose param `keepdims` is False where it is not given."""


def register_rule(name: str, rule: Rule) -> None:
    """Add the rule of an op that an upper layer brings."""
    RULES[name] = rule


def infer(
    name: str, types: Types, params: dict[str, Any], given: TensorType | None = None
) -> TensorType:
    """Return the type of `name(*types, **params)`.

    An op without a rule has the type that is given.
    """
    rule = RULES.get(name)
    if rule is None:
        if given is None:
            raise InternalError(f"op {name!r} has no type rule and no type was given")
        return given
    try:
        return rule(types, **params)
    except NumenError:
        raise
    except (TypeError, ValueError) as error:
        came = ", ".join(map(str, types))
        raise InternalError(f"{name} of ({came}) with params {params}: {error}") from error


def normalize_params(
    name: str, types: Types, params: tuple[tuple[str, Any], ...]
) -> tuple[tuple[str, Any], ...]:
    """Return the params as the graph keeps them: indices in canonical form, no param left out."""
    if name in KEEPDIMS and all(key != "keepdims" for key, _ in params):
        return tuple(sorted((*params, ("keepdims", False))))
    if name != "getitem":
        return params
    return (("index", normalize_index(dict(params)["index"], types[0].shape)),)


# Pointwise


def _same_dtype(name: str, types: Types) -> np.dtype:
    dtype = types[0].dtype
    if any(t.dtype != dtype for t in types):
        raise DTypeError(f"{name}: arguments {', '.join(map(str, types))} must have one dtype")
    return dtype


def _binary(name: str) -> Rule:
    def rule(types: Types) -> TensorType:
        a, b = types
        dtype = _same_dtype(name, types)
        if name == "divide" and dtype.kind in "biu":
            raise DTypeError(f"divide: {dtype} arguments must be cast to a float dtype first")
        return TensorType(dtype, _broadcast(name, (a, b)))

    return rule


def _compare(name: str) -> Rule:
    def rule(types: Types) -> TensorType:
        a, b = types
        _same_dtype(name, types)
        return TensorType(BOOL, _broadcast(name, (a, b)))

    return rule


def _unary(name: str, inexact: bool) -> Rule:
    def rule(types: Types) -> TensorType:
        (a,) = types
        if inexact and a.dtype.kind in "biu":
            raise DTypeError(f"{name}: a {a.dtype} argument must be cast to a float dtype first")
        dtype = a.dtype
        if name == "absolute" and dtype.kind == "c":
            dtype = np.dtype(f"f{dtype.itemsize // 2}")
        return TensorType(dtype, a.shape)

    return rule


def _ufunc(ufunc: np.ufunc) -> Rule:
    """NumPy's own rule: operands that are cast already, the dtype of its loop, and axes broadcast
    beside those of its signature."""
    name = ufunc.__name__
    cores, results = _signature(ufunc.signature)

    def rule(types: Types) -> TensorType:
        if len(types) != ufunc.nin:
            raise TypeError(f"expected {ufunc.nin} arguments, got {len(types)}")
        *operands, out = ufunc.resolve_dtypes((*[t.dtype for t in types], None))
        if any(t.dtype != dtype for t, dtype in zip(types, operands, strict=True)):
            wanted = ", ".join(map(str, operands))
            raise DTypeError(f"{name}: arguments {_listed(types)} must be cast to {wanted} first")
        if not cores:
            return TensorType(out, _broadcast(name, types))
        extents: dict[str, Extent] = {}
        loops = []
        for t, core in zip(types, cores, strict=True):
            if t.rank < len(core):
                raise ShapeError(f"{name}: {t} must have at least {len(core)} axes")
            split = t.rank - len(core)
            loops.append(TensorType(t.dtype, t.shape[:split]))
            for axis, extent in zip(core, t.shape[split:], strict=True):
                if extents.setdefault(axis, extent) != extent:
                    raise ShapeError(f"{name}: {_listed(types)} differ along an axis they share")
        return TensorType(out, _broadcast(name, loops) + tuple([extents[a] for a in results]))

    return rule


def _signature(text: str | None) -> tuple[list[list[str]], list[str]]:
    """The axis names of each operand and of the result: (m,n),(n)->(m)."""
    if text is None:
        return [], []
    operands, result = text.split("->")
    cores = [part.strip("()").split(",") for part in operands.split("),(")]
    return cores, [axis for axis in result.strip("()").split(",") if axis]


def _listed(types: Types) -> str:
    return ", ".join(map(str, types))


def _part(types: Types) -> TensorType:
    (a,) = types
    if a.dtype.kind != "c":
        return a
    return TensorType(np.dtype(f"f{a.dtype.itemsize // 2}"), a.shape)


def _where(types: Types) -> TensorType:
    condition, a, b = types
    if condition.dtype != BOOL:
        raise DTypeError(f"where: the condition is {condition.dtype}, not bool")
    return TensorType(_same_dtype("where", (a, b)), _broadcast("where", types))


def _cast(types: Types, dtype: np.dtype) -> TensorType:
    (a,) = types
    return TensorType(np.dtype(dtype), a.shape)


def _broadcast(name: str, types: Types) -> Shape:
    if all(t.shape == types[0].shape for t in types):
        return types[0].shape
    try:
        return broadcast_shapes(t.shape for t in types)
    except ShapeError as error:
        raise ShapeError(f"{name}: {error}") from None


# Reductions


def reduced_shape(shape: Shape, axis: tuple[int, ...], keepdims: bool) -> Shape:
    """Return the shape after the axes are reduced."""
    if keepdims:
        return tuple(1 if i in axis else extent for i, extent in enumerate(shape))
    return tuple(extent for i, extent in enumerate(shape) if i not in axis)


def _reduction(name: str) -> Rule:
    def rule(types: Types, axis: tuple[int, ...], keepdims: bool = False) -> TensorType:
        (a,) = types
        if not isinstance(axis, tuple) or list(axis) != sorted(set(axis)):
            raise ShapeError(f"{name}: axis {axis!r} must be a sorted tuple")
        if axis and not 0 <= axis[0] <= axis[-1] < a.rank:
            raise ShapeError(f"{name}: axis {axis} of a {a}")
        if name in ("max", "min") and any(a.shape[i] == 0 for i in axis):
            raise ShapeError(
                f"{name}: the reduced axes of {a} are empty, and {name} has no identity"
            )
        return TensorType(_reduced_dtype(name, a.dtype), reduced_shape(a.shape, axis, keepdims))

    return rule


def _reduced_dtype(name: str, dtype: np.dtype) -> np.dtype:
    """NumPy's: sums of small ints are taken in int64 or uint64, means of ints in float64."""
    if name == "mean":
        return FLOAT64 if dtype.kind in "biu" else dtype
    if name == "sum" and dtype.kind in "biu":
        return UINT64 if dtype.kind == "u" else INT64
    return dtype


def _argmax(types: Types, axis: int, keepdims: bool = False) -> TensorType:
    (a,) = types
    if not 0 <= axis < a.rank:
        raise ShapeError(f"argmax: axis {axis} of a {a}")
    if a.shape[axis] == 0:
        raise ShapeError(f"argmax: axis {axis} of {a} is empty")
    return TensorType(INT64, reduced_shape(a.shape, (axis,), keepdims))


def _matmul(types: Types) -> TensorType:
    a, b = types
    dtype = _same_dtype("matmul", types)
    if a.rank == 0 or b.rank == 0:
        raise ShapeError(f"matmul: {a} and {b} must have at least one axis")
    inner = b.shape[0] if b.rank == 1 else b.shape[-2]
    if a.shape[-1] != inner:
        raise ShapeError(f"matmul: {a} and {b} differ along the summed axis")
    batch = broadcast_shapes((a.shape[:-2], b.shape[:-2]))
    rows = a.shape[-2:-1]  # () for a vector
    columns = b.shape[-1:] if b.rank > 1 else ()
    return TensorType(dtype, batch + rows + columns)


# Views


def _reshape(types: Types, shape: Shape) -> TensorType:
    (a,) = types
    symbolic = any(isinstance(extent, Dim) for extent in (*a.shape, *shape))
    if not symbolic and _size(a.shape) != _size(shape):
        raise ShapeError(f"reshape: {a} has not the size of shape {shape}")
    return TensorType(a.dtype, tuple(shape))


def _size(shape: Shape) -> int:
    size = 1
    for extent in shape:
        assert isinstance(extent, int)
        size *= extent
    return size


def _transpose(types: Types, axes: tuple[int, ...]) -> TensorType:
    (a,) = types
    if sorted(axes) != list(range(a.rank)):
        raise ShapeError(f"transpose: axes {axes} of a {a}")
    return TensorType(a.dtype, tuple(a.shape[axis] for axis in axes))


def _broadcast_to(types: Types, shape: Shape) -> TensorType:
    (a,) = types
    if len(shape) < a.rank or broadcast_shapes((a.shape, shape)) != tuple(shape):
        raise ShapeError(f"broadcast_to: {a} does not broadcast to {shape}")
    return TensorType(a.dtype, tuple(shape))


Index = tuple[int | slice | None, ...]


def normalize_index(index: tuple[Any, ...], shape: Shape) -> Index:
    """Return the canonical form of a basic index (no Ellipsis), one that NumPy reads with the same
    meaning.

    Ints are non-negative, a slice has three ints (a negative step that runs to the first element
    has the stop `-extent - 1`), an empty slice is `slice(0, 0, 1)`, trailing full slices are
    written out.
    """
    result: list[int | slice | None] = []
    axis = 0
    for entry in index:
        if entry is None:
            result.append(None)
            continue
        if axis == len(shape):
            raise ShapeError(f"getitem: index {index} has too many entries for shape {shape}")
        result.append(_normalize_entry(entry, shape[axis]))
        axis += 1
    result += [_normalize_entry(slice(None), extent) for extent in shape[axis:]]
    return tuple(result)


def _normalize_entry(entry: Any, extent: Extent) -> int | slice:
    if isinstance(extent, Dim):
        if isinstance(entry, slice) and (entry.start, entry.stop, entry.step) in _FULL:
            return slice(None, None, None)
        raise ShapeError(f"getitem: only full slices are possible on the symbolic extent {extent}")
    if isinstance(entry, slice):
        start, stop, step = entry.indices(extent)
        if not len(range(start, stop, step)):
            return slice(0, 0, 1)
        return slice(start, stop if stop >= 0 else -extent - 1, step)
    position = int(entry)
    if not -extent <= position < extent:
        raise ShapeError(f"getitem: index {position} on an axis of {extent} elements")
    return position % extent


_FULL = ((None, None, None), (0, None, 1), (None, None, 1), (0, None, None))


def indexed_shape(shape: Shape, index: Index) -> Shape:
    """Return the shape of a[index] for a canonical index."""
    result: list[Extent] = []
    axis = 0
    for entry in index:
        if entry is None:
            result.append(1)
            continue
        if isinstance(entry, slice):
            extent = shape[axis]
            if isinstance(extent, int):
                extent = len(range(*entry.indices(extent)))
            result.append(extent)
        axis += 1
    return tuple(result)


def _getitem(types: Types, index: Index) -> TensorType:
    (a,) = types
    return TensorType(a.dtype, indexed_shape(a.shape, normalize_index(index, a.shape)))


Path = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]


def path_type(base: TensorType, path: Path) -> TensorType:
    """Return the type of the view that a path of (view name, params) steps picks."""
    for name, params in path:
        if name not in VIEWS | PARTS:
            raise InternalError(f"setitem: the path step {name!r} is no view")
        base = RULES[name]((base,), **dict(params))
    return base


def _setitem(types: Types, path: Path) -> TensorType:
    base, value = types
    view = path_type(base, path)
    if not _assignable(value.shape, view.shape):
        raise ShapeError(f"setitem: {value} does not broadcast to the view {view}")
    return base


def _assignable(shape: Shape, target: Shape) -> bool:
    """Whether NumPy broadcasts a value to the target; leading extents of 1 may exceed it."""
    while len(shape) > len(target) and shape[0] == 1:
        shape = shape[1:]
    try:
        return broadcast_shapes((target, shape)) == tuple(target)
    except ShapeError:
        return False


# Indexing with arrays


def gathered_shape(shape: Shape, indices: Sequence[Shape], spec: tuple[Any, ...]) -> Shape:
    """Return the shape of NumPy's advanced indexing.

    The index arrays broadcast; their axes stand where the arrays were if adjacent, else first.
    """
    before: list[Extent] = []  # basic extents left of the first index array
    after: list[Extent] = []
    shapes: list[Shape] = []
    positions: list[int] = []
    axis = 0
    for position, entry in enumerate(spec):
        if isinstance(entry, tuple):
            entry = entry[1]
            if entry is None or isinstance(entry, slice):
                extents = indexed_shape(shape[axis : axis + 1], (entry,))
                (after if positions else before).extend(extents)
                axis += entry is not None
                continue
        else:
            shapes.append(indices[entry])
        positions.append(position)
        axis += 1
    if axis > len(shape):
        raise ShapeError(f"gather: {spec} has too many entries for shape {shape}")
    rest = list(shape[axis:])
    common = list(broadcast_shapes(shapes))
    adjacent = not positions or positions[-1] - positions[0] + 1 == len(positions)
    return tuple(before + common + after + rest if adjacent else common + before + after + rest)


def _gather(types: Types, spec: tuple[Any, ...]) -> TensorType:
    a, *indices = types
    if any(index.dtype.kind not in "iu" for index in indices):
        raise DTypeError("gather: index arrays must be of an integer dtype")
    return TensorType(a.dtype, gathered_shape(a.shape, [i.shape for i in indices], spec))


def _scatter_add(types: Types, spec: tuple[Any, ...]) -> TensorType:
    base, value, *indices = types
    _same_dtype("scatter_add", (base, value))
    picked = gathered_shape(base.shape, [i.shape for i in indices], spec)
    if not _assignable(value.shape, picked):
        raise ShapeError(f"scatter_add: {value} does not broadcast to the elements {picked}")
    return base


def _concatenate(types: Types, axis: int) -> TensorType:
    first = types[0]
    dtype = _same_dtype("concatenate", types)
    if not 0 <= axis < first.rank:
        raise ShapeError(f"concatenate: axis {axis} of a {first}")
    total: Extent = 0
    for type in types:
        same = type.shape[:axis] + type.shape[axis + 1 :]
        if type.rank != first.rank or same != first.shape[:axis] + first.shape[axis + 1 :]:
            raise ShapeError(f"concatenate: {', '.join(map(str, types))} differ off axis {axis}")
        total = total + type.shape[axis]
    return TensorType(dtype, first.shape[:axis] + (total,) + first.shape[axis + 1 :])


for _name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum"):
    RULES[_name] = _binary(_name)
for _name in ("masked_product", "masked_quotient"):
    RULES[_name] = _binary(_name)
for _name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    RULES[_name] = _compare(_name)
for _name in ("negative", "absolute", "relu", "copy"):
    RULES[_name] = _unary(_name, inexact=False)
for _name in ("exp", "log", "tanh", "sqrt", "sigmoid", "softplus", "erf"):
    RULES[_name] = _unary(_name, inexact=True)
for _name in ("sum", "max", "min", "mean"):
    RULES[_name] = _reduction(_name)
RULES |= {
    "where": _where,
    "cast": _cast,
    "argmax": _argmax,
    "matmul": _matmul,
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_to": _broadcast_to,
    "getitem": _getitem,
    "setitem": _setitem,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "concatenate": _concatenate,
    "real": _part,
    "imag": _part,
}
for _value in list(vars(np).values()):
    if isinstance(_value, np.ufunc) and _value.nout == 1:
        RULES.setdefault(_value.__name__, _ufunc(_value))
