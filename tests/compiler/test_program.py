"""Programs: machine code against the Python target bit for bit, and both against NumPy."""

import math
import threading

import numpy as np
import pytest

from numen.compiler import host
from numen.compiler.nest_text import verify_nest
from numen.compiler.passes.schedule import NestStep
from numen.compiler.pipeline import stages
from numen.compiler.program import compile_graph
from numen.errors import InternalError
from numen.graph import Graph, TensorType, parse, verify
from numen.runtime import native, profile

pytestmark = pytest.mark.skipif(not native.available(), reason="no native code here")

F2, F4, F8, I4, I8, BOOL = (np.dtype(name) for name in ("f2", "f4", "f8", "i4", "i8", "?"))

REFERENCE = {
    name: getattr(host, name)
    for name in (
        *("reshape", "transpose", "broadcast_to", "getitem", "copy", "cast", "setitem", "gather"),
        *("scatter_add", "concatenate", "argmax", "relu"),
    )
}


def evaluate(graph, inputs):
    """The outputs and the written contents, op by op in NumPy."""
    values = {}
    for value, item in zip(graph.inputs, inputs, strict=True):
        values[value] = np.array(item, value.dtype)
    with np.errstate(all="ignore"):
        for value in graph.values:
            if value.op == "const":
                values[value] = np.array(value.param("value"), value.dtype)
            elif value.op != "input":
                function = REFERENCE.get(value.op) or getattr(np, value.op)
                args = [values[arg] for arg in value.args]
                values[value] = np.asarray(function(*args, **dict(value.params)))
    return [values[v] for v in graph.outputs], {n: values[v] for n, v in graph.writes}


def clone(array):
    """A copy with the same strides."""
    if not isinstance(array, np.ndarray) or not array.size:
        return array
    base = array
    while base.base is not None:
        base = base.base
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, base.copy(order="K"), offset, array.strides)


def assert_close(got, want):
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if got.dtype == F8 or got.dtype.kind not in "f":
        tolerance = {"rtol": 1e-7, "atol": 1e-7}
    else:
        tolerance = {"rtol": 2e-3, "atol": 2e-3}
    if got.dtype.kind == "f":
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, want, **tolerance)
    else:
        np.testing.assert_array_equal(got, want)


def assert_same_bits(a, b):
    """Equal bits; NaNs may differ in their payload."""
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    if a.dtype.kind == "f":
        nans = np.isnan(a)
        np.testing.assert_array_equal(nans, np.isnan(b))
        a, b = np.where(nans, a.dtype.type(0), a), np.where(nans, b.dtype.type(0), b)
    assert a.tobytes() == b.tobytes()


def check(graph, arrays, orders=None, close=True):
    """Compile for both targets, run, compare; returns the native program and its outputs."""
    verify(graph)
    assert parse(str(graph)) == graph
    for _, stage in stages(graph):
        verify(stage)
    wanted, written = evaluate(graph, arrays)
    results = []
    for target in ("python", "native"):
        program = compile_graph(graph, target, orders)
        for step in program.schedule.steps:
            if isinstance(step, NestStep):
                verify_nest(step.kernel.nest)
        inputs = [clone(array) for array in arrays]
        outputs = program(*inputs)
        results.append((inputs, outputs))
        if close:
            for got, want in zip(outputs, wanted, strict=True):
                assert_close(got, want)
        for number, array in enumerate(arrays):
            if number in written and close:
                assert_close(inputs[number], written[number])
            elif number not in written and isinstance(array, np.ndarray):
                assert inputs[number].tobytes() == array.tobytes()
        for got in outputs:
            assert not any(
                isinstance(a, np.ndarray) and np.may_share_memory(got, a) for a in inputs
            )
    (python_inputs, python_outputs), (native_inputs, native_outputs) = results
    for a, b in zip(python_outputs, native_outputs, strict=True):
        assert_same_bits(a, b)
        assert a.strides == b.strides or a.size <= 1 or 1 in a.shape
    for a, b in zip(python_inputs, native_inputs, strict=True):
        if isinstance(a, np.ndarray):
            assert_same_bits(a, b)
    return program, native_outputs


# Random programs


class Random:
    """A random program: values of mixed dtypes and layouts, in-place writes, host calls."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.graph = Graph()
        self.arrays = []
        self.values = []
        shapes = [self.shape() for _ in range(2)]
        if seed % 5 == 0:
            shapes.append((int(self.rng.integers(30, 70)), int(self.rng.integers(200, 400))))
        if seed % 7 == 0:
            shapes.append((int(self.rng.integers(0, 3)), 3))
        for _ in range(self.below(3) + 1):
            dtype = [F4, F4, F8, I4, BOOL][self.below(5)]
            self.input(dtype, shapes[self.below(len(shapes))])
        self.tensors = len(self.arrays)
        if self.below(2):
            self.values.append(self.graph.input(TensorType(F8, ()), kind="scalar"))
            self.arrays.append(float(self.rng.random()))
        for _ in range(12):
            value = getattr(self, self.KINDS[self.below(len(self.KINDS))])(self.pick())
            if value is not None and math.prod(value.shape) <= 40_000:
                self.values.append(value)
        self.finish()

    KINDS = (
        *("binary", "binary", "binary", "unary", "where", "reduce", "reduce", "transpose"),
        *("reshape", "broadcast", "getitem", "setitem", "setitem", "matmul", "host"),
    )

    def below(self, n):
        return int(self.rng.integers(n))

    def shape(self):
        return tuple(int(n) for n in self.rng.integers(1, 6, self.below(4)))

    def input(self, dtype, shape):
        kind, rank = self.below(5), len(shape)
        if kind == 0 or rank == 0:
            array = np.empty(shape, dtype)
        elif kind == 1:
            array = np.empty(shape[::-1], dtype).T
        elif kind == 2:
            array = np.empty(tuple(2 * n for n in shape), dtype)[(slice(None, None, 2),) * rank]
        elif kind == 3:
            order = self.rng.permutation(rank)
            array = np.empty(tuple(shape[i] for i in order), dtype).transpose(np.argsort(order))
        else:
            array = np.empty(shape, dtype)[(slice(None, None, -1),) * rank]
        if dtype == BOOL:
            array[...] = self.rng.random(shape) < 0.5
        elif dtype.kind == "i":
            array[...] = self.rng.integers(-50, 50, shape)
        else:
            array[...] = self.rng.standard_normal(shape) * 2
        self.arrays.append(array)
        self.values.append(self.graph.input(TensorType(dtype, shape), strides=array.strides))

    def pick(self):
        return self.values[self.below(len(self.values))]

    def cast(self, value, dtype):
        return value if value.dtype == dtype else self.graph.op("cast", (value,), {"dtype": dtype})

    def numeric(self, value):
        return self.cast(value, F4) if value.dtype == BOOL else value

    def fit(self, a, b):
        """b where it broadcasts with a, else a constant."""
        try:
            np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            return self.graph.const(3, b.dtype)
        return b

    def index(self, shape):
        index = []
        for extent in shape:
            start = self.below(extent + 1)
            choices = [
                slice(None),
                slice(None, None, -1),
                slice(start, None, 1),
                slice(None, None, 2),
            ]
            if extent:
                choices.append(self.below(2 * extent) - extent)
            index.append(choices[self.below(len(choices))])
            if self.below(8) == 0:
                index.append(None)
        return tuple(index)

    def binary(self, a):
        name = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "less"][
            self.below(7)
        ]
        a, b = self.numeric(a), self.numeric(self.fit(a, self.pick()))
        if self.below(4) == 0:
            b = self.graph.const([0, 1, 3, -2][self.below(4)], a.dtype)
        dtype = F8 if {F8, I4, I8} & {a.dtype, b.dtype} and a.dtype != b.dtype else a.dtype
        if name == "divide" and dtype.kind == "i":
            dtype = F8
        return self.graph.op(name, (self.cast(a, dtype), self.cast(b, dtype)))

    def unary(self, a):
        a = self.numeric(a)
        name = ["negative", "absolute", "relu", "exp", "tanh", "sqrt"][self.below(6)]
        if name in ("exp", "tanh", "sqrt"):
            a = self.cast(a, F8 if a.dtype.kind == "i" else a.dtype)
            a = self.graph.op({"exp": "tanh", "tanh": "negative", "sqrt": "absolute"}[name], (a,))
        return self.graph.op(name, (a,))

    def where(self, a):
        condition = self.cast(self.fit(a, self.pick()), BOOL)
        b = self.cast(self.fit(a, self.graph.const(2, a.dtype)), a.dtype)
        return self.graph.op("where", (condition, a, b))

    def reduce(self, a):
        axis = tuple(i for i in range(a.type.rank) if self.below(2))
        name = ["sum", "max", "min", "mean"][self.below(4)]
        if any(a.shape[i] == 0 for i in axis):
            name = "sum"
        return self.graph.op(name, (a,), {"axis": axis, "keepdims": bool(self.below(2))})

    def transpose(self, a):
        axes = tuple(int(i) for i in self.rng.permutation(a.type.rank))
        return self.graph.op("transpose", (a,), {"axes": axes})

    def reshape(self, a):
        size = math.prod(a.shape)
        shapes = [(size,), (1, size), (size, 1)]
        shapes += [(d, size // d) for d in (2, 3, 4) if size % d == 0]
        return self.graph.op("reshape", (a,), {"shape": shapes[self.below(len(shapes))]})

    def broadcast(self, a):
        return self.graph.op("broadcast_to", (a,), {"shape": (self.below(3) + 1, *a.shape)})

    def getitem(self, a):
        return self.graph.op("getitem", (a,), {"index": self.index(a.shape)})

    def setitem(self, base):
        index = self.index(base.shape)
        view = np.empty(base.shape, BOOL)[(*index, ...)].shape
        value = self.graph.const(1, base.dtype)
        if self.below(2) and base.dtype.kind == "f":  # reads the base, at the same place or another
            read = self.graph.op("getitem", (base,), {"index": index})
            value = self.graph.op("multiply", (read, self.graph.const(2, base.dtype)))
            if view and self.below(2):
                turned = (slice(None, None, -1),)
                value = self.graph.op("getitem", (value,), {"index": turned})
        elif base.dtype.kind == "f":
            other = self.pick()
            if np.broadcast_shapes(view, self.fit_to(other, view).shape) == view:
                value = self.fit_to(other, view)
        path = (("getitem", (("index", index),)),)
        return self.graph.op("setitem", (base, value), {"path": path})

    def fit_to(self, value, shape):
        try:
            fits = np.broadcast_shapes(value.shape, shape) == shape
        except ValueError:
            fits = False
        return value if fits else self.graph.const(4, value.dtype)

    def matmul(self, a):
        if a.type.rank == 0 or math.prod(a.shape) > 1000:
            return None
        a = self.cast(a, F4 if self.below(2) else F8)
        axes = list(range(a.type.rank))
        if len(axes) > 1:
            axes[-2:] = axes[:-3:-1]
        return self.graph.op("matmul", (a, self.graph.op("transpose", (a,), {"axes": tuple(axes)})))

    def host(self, a):
        if self.below(2) and a.type.rank:
            return self.graph.op("concatenate", (a, a), {"axis": 0})
        half = self.graph.op("negative", (self.cast(self.cast(a, F4), F2),))
        return self.cast(half, F4)

    def finish(self):
        graph, values = self.graph, self.values
        picked = self.rng.integers(0, len(values), self.below(3))
        graph.outputs = [*(values[int(i)] for i in picked), values[-1]]
        for number in range(self.tensors):
            fitting = [v for v in values if v.type == graph.inputs[number].type]
            if len(fitting) > 1 and self.below(2):
                graph.writes.append((number, fitting[-1 - self.below(2)]))
        self.orders = []
        for value in graph.outputs:
            order = tuple(int(i) for i in self.rng.permutation(value.type.rank))
            self.orders.append(["C", "F", order][self.below(3)])


@pytest.mark.parametrize("start", range(0, 80, 10))
def test_random_programs(start):
    for seed in range(start, start + 10):
        program = Random(seed)
        check(program.graph, program.arrays, program.orders)


# In-place writes


def vector_graph(build, *shapes, dtype=F8):
    graph = Graph()
    args = [graph.input(TensorType(dtype, shape)) for shape in shapes]
    writes = build(graph, *args)
    graph.writes = list(enumerate(writes)) if isinstance(writes, tuple) else [(0, writes)]
    arrays = [np.arange(1.0, 1 + math.prod(s)).reshape(s).astype(dtype) for s in shapes]
    return graph, arrays


def part(graph, x, *index):
    return graph.op("getitem", (x,), {"index": index})


def assign(graph, base, value, *index):
    return graph.op("setitem", (base, value), {"path": (("getitem", (("index", index),)),)})


def shift_up(g, x):
    twice = g.op("multiply", (part(g, x, slice(None, -1)), g.const(2, F8)))
    return assign(g, x, twice, slice(1, None))


def shift_down(g, x):
    return assign(g, x, part(g, x, slice(1, None)), slice(None, -1))


def reverse(g, x):
    return part(g, x, slice(None, None, -1))


def reverse_in_slices(g, x):
    return assign(g, x, part(g, x, slice(None, None, -1)), slice(None))


def prefix(g, x):
    for i in range(1, 5):
        x = assign(g, x, g.op("add", (part(g, x, i), part(g, x, i - 1))), i)
    return x


def subtract_the_mean(g, x):
    return g.op("subtract", (x, g.op("mean", (x,), {"axis": (0,), "keepdims": True})))


def old_value_used_late(g, x):
    y = g.op("multiply", (x, g.const(3, F8)))
    total = g.op("sum", (y,), {"axis": (0,), "keepdims": False})
    late = g.op("add", (part(g, x, slice(None, None, -1)), total))  # reads x, needs y's sum
    g.outputs = [g.op("exp", (g.op("negative", (late,)),)), y]
    return y


@pytest.mark.parametrize(
    "build",
    [
        *(shift_up, shift_down, reverse, reverse_in_slices, prefix, subtract_the_mean),
        old_value_used_late,
    ],
)
def test_writes_that_read_what_they_overwrite(build):
    check(*vector_graph(build, (8,)))


def swap(g, x, y):
    return y, x


def rotate(g, x, y, z):
    return y, z, x


def swap_transposed(g, x, y):
    return g.op("transpose", (y,), {"axes": (1, 0)}), g.op("transpose", (x,), {"axes": (1, 0)})


def transpose_itself(g, x):
    return g.op("transpose", (x,), {"axes": (1, 0)})


def symmetric(g, x):
    return g.op("add", (x, g.op("transpose", (x,), {"axes": (1, 0)})))


def product(g, x):
    return g.op("matmul", (x, x))


def both_from_both(g, x, y):
    return g.op("add", (x, y)), g.op("subtract", (x, y))


def columns(g, x):
    return assign(g, x, part(g, x, slice(None), 1), slice(None), 0)


@pytest.mark.parametrize(
    ("build", "count"),
    [
        *((swap, 2), (rotate, 3), (swap_transposed, 2), (transpose_itself, 1)),
        *((symmetric, 1), (product, 1), (both_from_both, 2), (columns, 1)),
    ],
)
def test_writes_of_matrices(build, count):
    check(*vector_graph(build, *[(4, 4)] * count))


def test_two_outputs_of_one_value_are_two_arrays():
    graph = Graph()
    x = graph.input(TensorType(F4, (3,)))
    y = graph.op("tanh", (x,))
    graph.outputs = [y, y, x]
    graph.writes = [(0, y)]
    _, (first, second, third) = check(graph, [np.ones(3, F4)])
    assert not np.may_share_memory(first, second)
    assert third.tolist() == [1, 1, 1]


# Reductions and products


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axis", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_reductions_over_every_choice_of_axes(axis, order):
    array = np.asarray(np.random.default_rng(0).standard_normal((5, 7, 6)), F4, order=order)
    graph = Graph()
    x = graph.input(TensorType(F4, array.shape), strides=array.strides)
    params = {"axis": axis, "keepdims": False}
    squares = graph.op("multiply", (x, x))
    graph.outputs = [graph.op(name, (squares,), params) for name in ("sum", "max", "min", "mean")]
    check(graph, [array])


@pytest.mark.parametrize("shape", [(20_000,), (3, 9000), (9000, 3), (0, 4), (4, 0)])
def test_long_and_empty_sums(shape):
    array = np.random.default_rng(1).standard_normal(shape).astype(F4)
    graph = Graph()
    x = graph.input(TensorType(F4, shape))
    for axis in range(len(shape)):
        graph.outputs.append(graph.op("sum", (x,), {"axis": (axis,), "keepdims": False}))
    check(graph, [array])


@pytest.mark.parametrize("dtype", [BOOL, I4, np.dtype("u1"), np.dtype("u8")])
def test_sums_of_ints_are_exact(dtype):
    array = np.arange(24).reshape(4, 6).astype(dtype)
    graph = Graph()
    x = graph.input(TensorType(dtype, (4, 6)))
    graph.outputs = [graph.op("sum", (x,), {"axis": (1,), "keepdims": False})]
    check(graph, [array])


def test_argmax_takes_the_first_maximum():
    array = np.array([[1, 3, 3], [2, np.nan, np.nan]], F4)
    graph = Graph()
    x = graph.input(TensorType(F4, array.shape))
    graph.outputs = [graph.op("argmax", (x,), {"axis": 1, "keepdims": False})]
    _, (result,) = check(graph, [array])
    assert result.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [F4, F8, I4])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        *(((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)), ((3, 4), (4, 1))),
        *(((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((4,), (2, 4, 5))),
        *(((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2)), ((0, 4), (4, 2)), ((1, 4), (4, 5))),
    ],
)
def test_matmul_by_numpys_rules(a, b, dtype):
    rng = np.random.default_rng(2)
    arrays = [rng.integers(-9, 9, shape).astype(dtype) for shape in (a, b)]
    graph = Graph()
    x, y = (graph.input(TensorType(dtype, shape)) for shape in (a, b))
    graph.outputs = [graph.op("matmul", (x, y))]
    check(graph, arrays)
    check(graph, arrays, ["F"])


def test_products_of_views():
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(shape).astype(F4) for shape in ((6, 40), (40, 6))]
    graph = Graph()
    x, y = (graph.input(TensorType(F4, a.shape)) for a in arrays)
    left = graph.op("transpose", (graph.op("relu", (y,)),), {"axes": (1, 0)})
    right = graph.op("getitem", (y,), {"index": (slice(None, None, -1), slice(0, 6, 2))})
    ones = graph.op("broadcast_to", (graph.const(1, F4),), {"shape": (6, 6)})
    graph.outputs = [
        graph.op("matmul", (graph.op("add", (x, left)), right)),
        graph.op("matmul", (ones, x)),
    ]
    check(graph, arrays)


# Host calls, scalars, orders


def test_host_calls_in_the_middle():
    graph = Graph()
    x = graph.input(TensorType(F4, (5, 3)))
    labels = graph.input(TensorType(I8, (5,)))
    rows = graph.input(TensorType(I8, (5,)))
    e = graph.op("exp", (x,))
    picked = graph.op("gather", (e, rows, labels), {"spec": (0, 1)})
    loss = graph.op("mean", (graph.op("negative", (graph.op("log", (picked,)),)),), {"axis": (0,)})
    gradient = graph.op("scatter_add", (e, picked, rows, labels), {"spec": (0, 1)})
    graph.outputs = [loss, graph.op("multiply", (gradient, gradient))]
    array = np.random.default_rng(4).standard_normal((5, 3)).astype(F4)
    program, _ = check(graph, [array, np.array([0, 2, 1, 1, 0]), np.arange(5)])
    assert "host gather" in program.text()
    with pytest.raises(IndexError, match="out of bounds"):
        program(array, np.array([0, 2, 1, 3, 0]), np.arange(5))


def test_a_host_result_never_aliases_an_input(monkeypatch):
    monkeypatch.setitem(host.HOST, "test_identity", lambda a: a)
    graph = Graph()
    x = graph.input(TensorType(F4, (3,)))
    y = graph.op("test_identity", (x,), type=x.type)
    graph.outputs = [y, graph.op("add", (y, y))]
    graph.writes = [(0, graph.op("negative", (x,)))]
    array = np.ones(3, F4)
    first, second = compile_graph(graph)(array)
    assert (first.tolist(), second.tolist(), array.tolist()) == ([1] * 3, [2] * 3, [-1] * 3)


def test_a_wrong_host_result_is_an_internal_error(monkeypatch):
    monkeypatch.setitem(host.HOST, "test_wrong", lambda a: a.astype(F8))
    graph = Graph()
    x = graph.input(TensorType(F4, (3,)))
    graph.outputs = [graph.op("test_wrong", (x,), type=x.type)]
    with pytest.raises(InternalError, match="test_wrong"):
        compile_graph(graph)(np.ones(3, F4))


def test_an_op_that_nobody_implements():
    graph = Graph()
    x = graph.input(TensorType(F4, (3,)))
    graph.outputs = [graph.op("test_nothing", (x,), type=x.type)]
    with pytest.raises(InternalError, match="test_nothing"):
        compile_graph(graph)


def test_scalars_are_arguments():
    graph = Graph()
    x = graph.input(TensorType(F4, (3,)))
    factor = graph.input(TensorType(F8, ()), kind="scalar")
    offset = graph.input(TensorType(I8, ()), kind="scalar")
    flag = graph.input(TensorType(BOOL, ()), kind="scalar")
    y = graph.op("multiply", (x, graph.op("cast", (factor,), {"dtype": F4})))
    y = graph.op("add", (y, graph.op("cast", (offset,), {"dtype": F4})))
    graph.outputs = [graph.op("where", (flag, y, x)), factor]
    for scalars in ((0.5, 3, True), (2.5, -1, False), (math.inf, 2**40, True)):
        check(graph, [np.arange(3, dtype=F4), *scalars])


def test_extreme_constants():
    graph = Graph()
    x = graph.input(TensorType(np.dtype("u8"), (2,)))
    y = graph.input(TensorType(F8, (2,)))
    graph.outputs = [graph.op("maximum", (x, graph.const(2**64 - 2, np.dtype("u8"))))]
    for number in (math.inf, math.nan, -0.0, 5e-324, 1.7e308):
        graph.outputs.append(graph.op("add", (y, graph.const(number, F8))))
        graph.outputs.append(graph.op("multiply", (y, graph.const(number, F8))))
    check(graph, [np.array([3, 2**64 - 1], np.uint64), np.array([-0.0, -1.5])])


def test_signed_zero_kernels_in_one_program():
    graph = Graph()
    x = graph.input(TensorType(F4, (2,)))
    y = graph.input(TensorType(F4, (3,)))
    graph.outputs = [
        graph.op("add", (x, graph.const(0.0, F4))),
        graph.op("maximum", (graph.op("add", (y, graph.const(-0.0, F4))), y)),
        graph.op("multiply", (y, graph.const(-0.0, F4))),
        graph.op("multiply", (x, graph.const(0.0, F4))),
    ]
    check(graph, [np.array([-0.0, 1], F4), np.array([-0.0, 0.0, -1], F4)])


@pytest.mark.parametrize("order", ["C", "F", (1, 2, 0)])
def test_outputs_have_the_order_asked_for(order):
    array = np.random.default_rng(5).standard_normal((3, 4, 5)).astype(F4)
    graph = Graph()
    x = graph.input(TensorType(F4, (3, 4, 5)))
    half = graph.op("cast", (graph.op("cast", (x,), {"dtype": F2}),), {"dtype": F4})
    graph.outputs = [graph.op("tanh", (x,)), half]
    _, outputs = check(graph, [array], [order, order])
    wanted = {"C": (80, 20, 4), "F": (4, 12, 48), (1, 2, 0): (4, 60, 12)}[order]
    assert [out.strides for out in outputs] == [wanted, wanted]


# Sharing, threads, text


def test_another_batch_size_compiles_nothing():
    def program(batch):
        graph = Graph()
        x = graph.input(TensorType(F4, (batch, 12)))
        w = graph.input(TensorType(F4, (12, 6)))
        h = graph.op("relu", (graph.op("matmul", (x, w)),))
        loss = graph.op("mean", (graph.op("exp", (h,)),), {"axis": (0, 1), "keepdims": False})
        scale = graph.const(1 / batch, F4)
        graph.outputs = [loss, graph.op("sum", (graph.op("multiply", (h, scale)),), {"axis": (0,)})]
        return compile_graph(graph)

    program(7)
    before = profile.counters()
    for batch in (8, 9, 33):
        program(batch)(np.ones((batch, 12), F4), np.ones((12, 6), F4))
    assert profile.counters() == before


def test_many_threads_call_one_program():
    graph = Graph()
    x = graph.input(TensorType(F4, (64, 300)))
    w = graph.input(TensorType(F4, (300, 32)))
    y = graph.op("tanh", (graph.op("matmul", (x, w)),))
    graph.outputs = [y, graph.op("sum", (graph.op("multiply", (y, y)),), {"axis": (0, 1)})]
    program = compile_graph(graph)
    rng = np.random.default_rng(6)
    inputs = [[rng.standard_normal(s).astype(F4) for s in ((64, 300), (300, 32))] for _ in range(8)]
    wanted = [[out.tobytes() for out in program(*pair)] for pair in inputs]
    failures = []

    def work(pair, want):
        for _ in range(20):
            if [out.tobytes() for out in program(*pair)] != want:
                failures.append(pair)

    threads = [
        threading.Thread(target=work, args=args) for args in zip(inputs, wanted, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_text_shows_graph_steps_and_nests():
    graph = Graph()
    x = graph.input(TensorType(F4, (4, 6)))
    graph.outputs = [graph.op("sum", (graph.op("exp", (x,)),), {"axis": (1,)})]
    text = compile_graph(graph).text()
    for expected in ("%1 = exp(%0)", "nest over (4, 6)", "reduce sum", "def call(a0)"):
        assert expected in text


def test_an_invalid_graph_is_refused():
    graph = Graph()
    graph.outputs = [graph.input(TensorType(F4, (3,)))]
    with pytest.raises(InternalError, match="orders"):
        compile_graph(graph, orders=["C", "C"])
    graph.outputs = [Graph().input(TensorType(F4, (3,)))]
    graph.inputs.clear()
    with pytest.raises(InternalError, match="invalid graph"):
        compile_graph(graph)
