"""ArrayCore, Node, Leaf and Cell: what an array is to the rest of the library, without any op.

An array holds a backend array (`_d`, always an ndarray), a gradient node (`_n`: None, Leaf or
Node), its memory's bookkeeping (`_v`: None, SCALAR, Cell for a base, View for a view) and, while a
trace is recorded, its register (`_t`). `namespace/array.py` defines the one class `Array`; `wrap`
creates it. Next: `primitive.py`.
"""

from __future__ import annotations

import weakref
from itertools import count
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from numen.dispatch import hooks, modes, places

if TYPE_CHECKING:
    from numen.dispatch.primitive import Primitive

NEVER_WRITTEN = 1
"""Time stamp of memory that was never written in place; real stamps are negative, newer ones
smaller."""

next_stamp = count(-1, -1).__next__
ndarray = np.ndarray


class ArrayCore:
    """The slots of an array; `Array` adds every method."""

    __slots__ = ("__weakref__", "_d", "_n", "_t", "_v")
    _d: Any
    _n: Any
    _v: Any
    _t: Any

    def __init__(self, data: Any, node: Any = None, memory: Any = None) -> None:
        self._d = data
        self._n = node
        self._v = memory
        self._t = None


class _Scalar:
    """The mark of an array that NumPy would return as a scalar: own, read-only memory."""

    t = NEVER_WRITTEN
    cell = None
    __slots__ = ()

    def __repr__(self) -> str:
        return "SCALAR"


SCALAR = _Scalar()


class Cell:
    """What the views of one memory share: its base's live views, the last write, whether others see
    it."""

    __slots__ = ("escaped", "place", "t", "views")

    def __init__(self) -> None:
        self.t: int = NEVER_WRITTEN
        self.place: places.Place | None = None
        self.views: list[weakref.ref[ArrayCore]] = []
        self.escaped = False

    @property
    def cell(self) -> Cell:
        return self


class Twin(Cell):
    """The cell of an array that has another one's memory and a gradient of its own (the argument of
    a transform): views of its own, and the other's time stamp, so that a write is seen by both.

    It holds the other array, as a view holds its base: `places.ALONE` counts on that.
    """

    __slots__ = ("array", "source")

    def __init__(self, array: ArrayCore) -> None:
        self.array = array
        self.source: Cell = array._v.cell
        self.views = []
        self.escaped = False

    @property
    def t(self) -> int:
        return self.source.t

    @t.setter
    def t(self, stamp: int) -> None:
        self.source.t = stamp

    @property
    def place(self) -> places.Place | None:
        return self.source.place

    @place.setter
    def place(self, place: places.Place | None) -> None:
        self.source.place = place


class View:
    """What a view knows: its base, the cell they share and the steps (primitive, params) that lead
    to it.

    A detached view (`x.detach()`) and views of it share memory but no gradient.
    """

    __slots__ = ("base", "cell", "detached", "path")

    def __init__(
        self, base: ArrayCore, cell: Cell, path: tuple[Any, ...], detached: bool = False
    ) -> None:
        self.base = base
        self.cell = cell
        self.path = path
        self.detached = detached

    @property
    def t(self) -> int:
        return self.cell.t


class Leaf(hooks.HasHooks):
    """The node of an array that the user asked gradients for, or of a transform's argument.

    scope: of a transform's argument what tells whether the transform's function still runs.
    """

    __slots__ = ("__weakref__", "dtype", "grad", "hooks", "scope", "shape", "stamp")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], scope: Any = None) -> None:
        self.scope = scope
        self.grad: Any = None
        self.shape = shape
        self.dtype = dtype
        self.stamp = NEVER_WRITTEN
        places.ON = True

    @staticmethod
    def hooks_changed() -> None:
        """Programs that were compiled know no hooks of leaves, or what ran with them eagerly."""
        global EXCHANGED
        EXCHANGED += 1

    @property
    def ndim(self) -> int:
        return len(self.shape)


class Node(hooks.HasHooks):
    """One recorded op: what its vjp rule needs.

    args: the arguments by value where the rule saves them, else None (the rule then sees the
    parent, which knows shape and dtype); parents: the arguments' nodes or None; out: the raw result
    where the rule saves it, else None. code, offset: the user's place (`places.py`), set where an
    argument is saved.
    """

    __slots__ = (
        "__weakref__",
        "args",
        "code",
        "dtype",
        "hooks",
        "offset",
        "out",
        "params",
        "parents",
        "prim",
        "shape",
        "stamp",
    )
    code: CodeType
    offset: int

    def __init__(
        self,
        prim: Primitive,
        parents: tuple[Any, ...],
        args: tuple[Any, ...],
        params: dict[str, Any],
        out: Any,
        data: Any,
    ) -> None:
        self.prim: Any = prim
        self.parents = parents
        self.args = args
        self.params = params
        self.out = out
        self.shape = data.shape
        self.dtype = data.dtype
        self.stamp = next_stamp()

    @property
    def ndim(self) -> int:
        return len(self.shape)


EXCHANGED = 0
"""How often an existing array got other memory: compiled programs know theirs by the array."""


def exchange(array: ArrayCore, data: Any) -> None:
    """Give an array other memory (`resize`, a dtype that is set, a parameter that moves)."""
    global EXCHANGED
    array._d = data
    EXCHANGED += 1


ARRAY: Any = ArrayCore
"""The class `Array`, filled by `namespace/array.py`."""


def fill_array_class(cls: type[ArrayCore]) -> None:
    """Set the class that ops create. Called once, by `namespace/array.py`."""
    global ARRAY
    ARRAY = cls


def freeze_scalar(value: Any) -> Any:
    """Make the read-only 0-d ndarray that a NumPy scalar stands for."""
    data = np.asarray(value)
    data.setflags(write=False)  # twice as fast as through the flags object
    return data


KEPT_SCALARS = frozenset({np.str_, np.bytes_, np.void, np.record, np.datetime64, np.timedelta64})
"""NumPy's scalars that no Array stands for: text, records and dates have methods of their own."""


def wrap(data: Any) -> Any:
    """Make an Array of what a NumPy call returned: an ndarray, or a number that gets the SCALAR
    mark.

    Text, dates, records and the Python objects of an object array are returned as they are.
    """
    if type(data) is ndarray:
        return ARRAY(data)
    if isinstance(data, np.generic):
        if type(data) in KEPT_SCALARS:
            return data
        return ARRAY(freeze_scalar(data), None, SCALAR)
    if isinstance(data, ndarray):
        return ARRAY(data.view(ndarray))
    return data


def is_writeable(data: Any) -> bool:
    """Whether raw memory may be written; other backends have no read-only arrays."""
    return getattr(data.flags, "writeable", True)


def new_constant(data: Any) -> Any:
    """An Array of values that the library makes by itself, known as a constant to a recorder."""
    array = ARRAY(data)
    if modes.ACTIVE:
        note_new(array)
    return array


note_made: Any = None
"""`frames/looking.py`'s `note_made`, filled there: the running transform remembers what it made."""


def note_new(array: Any, foreign: bool = False) -> None:
    """Tell a recorder and a running transform of an array made from host values; foreign: in memory
    that somebody else owns. Called where `modes.ACTIVE`."""
    state = modes.state
    if state.recorder is not None:
        state.recorder.constant(array, foreign)
    if state.level and not foreign:
        note_made(array)


def unwrap(value: Any) -> Any:
    """The backend array of an Array; anything else unchanged."""
    return value._d if isinstance(value, ArrayCore) else value


def is_differentiable(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype carry gradients: floating and complex ones."""
    return dtype.kind in "fc" or (
        dtype.kind == "V" and dtype.name.startswith(("bfloat16", "float8"))
    )
