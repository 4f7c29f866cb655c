"""Each pass on small graphs, by their text; layouts, axes and the arena by what NumPy says."""

import itertools
import math
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numen.compiler.passes.arena import Arena
from numen.compiler.passes.axes import join, memory_order
from numen.compiler.passes.cse import cse
from numen.compiler.passes.dce import dce
from numen.compiler.passes.decompose import decompose
from numen.compiler.passes.layout import (
    CopyNeeded,
    Layout,
    contiguous,
    disjoint,
    permuted,
    same_elements,
)
from numen.compiler.passes.prepare import RewriteNeeded, insert_copy, prepare
from numen.compiler.passes.simplify import RULES, simplify
from numen.graph import Graph, TensorType, parse, verify

F4, I4 = np.dtype("f4"), np.dtype("i4")


def graph_of(build, *shapes, dtype=F4):
    graph = Graph()
    args = [graph.input(TensorType(np.dtype(dtype), shape)) for shape in shapes]
    result = build(graph, *args)
    graph.outputs = list(result) if isinstance(result, tuple | list) else [result]
    verify(graph)
    return graph


def body(graph):
    """The graph's text without its inputs."""
    verify(graph)
    return [line for line in str(graph).splitlines() if " = input(" not in line]


# simplify


def test_every_rewrite_has_a_reason():
    assert all(rule.reason and rule.name and rule.ops for rule in RULES)


def moves(g, x):
    y = g.op("cast", (x,), {"dtype": F4})
    y = g.op("reshape", (y,), {"shape": (2, 3)})
    y = g.op("transpose", (y,), {"axes": (0, 1)})
    y = g.op("broadcast_to", (y,), {"shape": (2, 3)})
    y = g.op("getitem", (y,), {"index": (slice(None), slice(0, 3, 1))})
    return g.op("negative", (g.op("negative", (y,)),))


def test_moves_that_move_nothing_go():
    assert body(dce(simplify(graph_of(moves, (2, 3))))) == ["return %0"]


def test_chains_of_views_are_one_view():
    def build(g, x):
        y = g.op("transpose", (g.op("transpose", (x,), {"axes": (1, 2, 0)}),), {"axes": (1, 2, 0)})
        z = g.op("reshape", (g.op("reshape", (x,), {"shape": (4, 6)}),), {"shape": (12, 2)})
        return y, z

    assert body(dce(simplify(graph_of(build, (2, 3, 4))))) == [
        "%1 = transpose(%0; axes=(2, 0, 1)) float32[4, 2, 3]",
        "%2 = reshape(%0; shape=(12, 2)) float32[12, 2]",
        "return %1, %2",
    ]


@pytest.mark.parametrize(
    ("op", "number", "gone"),
    [
        ("multiply", 1.0, True),
        ("divide", 1.0, True),
        ("add", -0.0, True),
        ("subtract", 0.0, True),
        ("add", 0.0, False),  # -0.0 + 0.0 is 0.0
        ("subtract", -0.0, False),
        ("multiply", 0.0, False),  # inf * 0 is nan
    ],
)
def test_neutral_elements_of_floats(op, number, gone):
    graph = graph_of(lambda g, x: g.op(op, (x, g.const(number, F4))), (3,))
    assert (body(dce(simplify(graph))) == ["return %0"]) is gone


def test_a_neutral_element_may_still_broadcast():
    def build(g, x):
        ones = g.op("broadcast_to", (g.const(1, F4),), {"shape": (4, 3)})
        return g.op("multiply", (ones, x))

    assert body(dce(simplify(graph_of(build, (3,))))) == [
        "%1 = broadcast_to(%0; shape=(4, 3)) float32[4, 3]",
        "return %1",
    ]


def test_casts_there_and_back():
    def build(g, x):
        wide = g.op("cast", (x,), {"dtype": np.dtype("f8")})
        whole = g.op("cast", (g.op("cast", (x,), {"dtype": np.dtype("?")}),), {"dtype": F4})
        return g.op("cast", (wide,), {"dtype": F4}), whole

    assert body(dce(simplify(graph_of(build, (3,))))) == [
        "%1 = cast(%0; dtype=dtype('bool')) bool[3]",
        "%2 = cast(%1; dtype=dtype('float32')) float32[3]",
        "return %0, %2",
    ]


def test_constants_are_folded_as_a_kernel_computes():
    def build(g, x):
        a = g.op("divide", (g.const(1, F4), g.const(3, F4)))
        return g.op("where", (g.op("less", (a, g.const(1, F4))), g.op("exp", (a,)), a))

    (line, _) = body(dce(simplify(graph_of(build, (3,)))))
    expected = np.exp(np.float32(1) / np.float32(3))
    assert float(line.split("value=")[1].split(")")[0]) == pytest.approx(expected, rel=3e-7)


def test_reductions_of_single_elements_are_views():
    def build(g, x):
        total = g.op("sum", (x,), {"axis": (1,), "keepdims": False})
        return total, g.op("mean", (x,), {"axis": (1,), "keepdims": True})

    assert body(dce(simplify(graph_of(build, (3, 1), dtype="i4")))) == [
        "%1 = cast(%0; dtype=dtype('int64')) int64[3, 1]",
        "%2 = reshape(%1; shape=(3,)) int64[3]",
        "%3 = cast(%0; dtype=dtype('float64')) float64[3, 1]",
        "return %2, %3",
    ]


def test_a_setitem_of_everything_is_its_value():
    def build(g, x):
        path = (("getitem", (("index", (slice(None),)),)),)
        return g.op("setitem", (x, g.const(2, F4)), {"path": path})

    assert body(dce(simplify(graph_of(build, (3, 2))))) == [
        "%1 = const(value=2.0) float32[]",
        "%2 = broadcast_to(%1; shape=(3, 2)) float32[3, 2]",
        "return %2",
    ]


# decompose, cse, dce, prepare


def test_a_mean_is_a_sum_and_a_division():
    build = lambda g, x: g.op("mean", (x,), {"axis": (0,), "keepdims": False})  # noqa: E731
    assert body(decompose(graph_of(build, (4, 3))))[1:] == [
        "%2 = sum(%0; axis=(0,), keepdims=False) float32[3]",
        "%3 = const(value=4.0) float32[]",
        "%4 = divide(%2, %3) float32[3]",
        "return %4",
    ]


@pytest.mark.parametrize(
    ("a", "b", "ops"),
    [
        ((3, 4), (4, 5), ["matmul"]),
        ((3, 4), (4,), ["multiply", "sum"]),
        ((4,), (4,), ["multiply", "sum"]),
        ((4,), (4, 5), ["matmul"]),
        ((2, 3, 4), (2, 4, 1), ["multiply", "sum"]),
        ((4,), (2, 4, 5), ["matmul"]),
    ],
)
def test_matmul_by_the_number_of_columns(a, b, ops):
    graph = dce(decompose(graph_of(lambda g, x, y: g.op("matmul", (x, y)), a, b)))
    verify(graph)
    views = ("input", "reshape", "transpose")
    assert [value.op for value in graph.values if value.op not in views] == ops
    assert graph.outputs[0].shape == np.matmul(np.ones(a), np.ones(b)).shape


def test_equal_values_are_merged_but_not_signed_zeros():
    def build(g, x, y):
        first = g.op("add", (x, y))
        return (
            g.op("multiply", (first, g.op("add", (x, y)))),
            g.op("add", (x, g.const(0.0, F4))),
            g.op("add", (x, g.const(-0.0, F4))),
        )

    merged = cse(graph_of(build, (3,), (3,)))
    assert body(merged)[:2] == ["%2 = add(%0, %1) float32[3]", "%3 = multiply(%2, %2) float32[3]"]
    assert sum(value.op == "const" for value in merged.values) == 2


def test_dead_values_go_and_inputs_stay():
    graph = graph_of(lambda g, x, y: (g.op("exp", (y,)), g.op("tanh", (x,)))[1], (3,), (3,))
    assert body(dce(graph)) == ["%2 = tanh(%0) float32[3]", "return %2"]
    assert len(dce(graph).inputs) == 2


def test_every_result_owns_its_memory():
    path = (("getitem", (("index", (0,)),)),)

    def build(g, x):
        y = g.op("tanh", (x,))
        z = g.op("setitem", (y, g.const(1, F4)), {"path": path})
        w = g.op("setitem", (y, g.const(2, np.dtype("f8"))), {"path": path})
        return y, y, x, z, w

    ready = prepare(graph_of(build, (3,)))
    verify(ready)
    assert [v.op for v in ready.outputs] == ["tanh", "copy", "copy", "setitem", "setitem"]
    assert [v.args[0].op for v in ready.outputs[3:]] == ["copy", "copy"]
    assert ready.outputs[4].args[1].op == "cast"


def test_copies_the_scheduler_asks_for():
    graph = graph_of(lambda g, x: g.op("sum", (x,), {"axis": (0, 2), "keepdims": False}), (2, 3, 4))
    needed = RewriteNeeded("reduced", graph.outputs[0])
    assert body(dce(insert_copy(graph, needed))) == [
        "%1 = transpose(%0; axes=(1, 0, 2)) float32[3, 2, 4]",
        "%2 = barrier(%1) float32[3, 2, 4]",
        "%3 = sum(%2; axis=(1, 2), keepdims=False) float32[3]",
        "return %3",
    ]


def test_passes_keep_the_text_form():
    graph = graph_of(moves, (2, 3))
    for run in (dce, simplify, decompose, cse, prepare):
        graph = run(graph)
        assert parse(str(graph)) == graph


# Layouts: the same strides as NumPy's views


def offset_of(view, base):
    return view.__array_interface__["data"][0] - base.__array_interface__["data"][0]


shapes = st.lists(st.integers(1, 5), max_size=4).map(tuple)


@st.composite
def arrays(draw):
    """Arrays with permuted axes, gaps and negative steps."""
    shape = draw(shapes)
    order = draw(st.permutations(range(len(shape))))
    array = np.zeros(tuple(2 * shape[i] for i in order), F4)
    array = array.transpose(np.argsort(order))
    steps = [draw(st.sampled_from([1, 2, -1])) for _ in shape]
    picked = [
        slice(n) if s == 1 else slice(None, None, s) for n, s in zip(shape, steps, strict=True)
    ]
    return array[(*picked, ...)]


@given(arrays(), st.data())
def test_layouts_follow_numpys_views(array, data):
    layout = Layout(0, array.shape, array.strides)
    index = []
    for extent in array.shape:
        entry = data.draw(st.slices(extent) | st.integers(0, extent - 1))
        index.append(entry)
        if data.draw(st.booleans()):
            index.append(None)
    view = array[(*index, ...)]
    result = layout.getitem(tuple(index))
    assert result.shape == view.shape
    if view.size:
        assert result.offset == offset_of(view, array)
        for got, want, extent in zip(result.strides, view.strides, view.shape, strict=True):
            assert got == want or extent == 1
    axes = data.draw(st.permutations(range(array.ndim)))
    assert layout.transpose(tuple(axes)).strides == array.transpose(axes).strides
    wide = (data.draw(st.integers(1, 3)), *array.shape)
    spread = np.broadcast_to(array, wide)
    got = layout.broadcast_to(wide)
    for own, want, extent in zip(got.strides, spread.strides, wide, strict=True):
        assert own == want or extent == 1


@given(arrays(), st.data())
def test_reshape_copies_exactly_when_numpy_does(array, data):
    factors = [f for extent in array.shape for f in ((2, 2) if extent == 4 else (extent,))]
    parts, run = [], 1
    for factor in factors:
        run *= factor
        if data.draw(st.booleans()):
            parts.append(run)
            run = 1
    shape = (*parts, run)
    view = array.reshape(shape)
    layout = Layout(0, array.shape, array.strides)
    if np.may_share_memory(view, array):
        result = layout.reshape(shape, 4)
        for got, want, extent in zip(result.strides, view.strides, shape, strict=True):
            assert got == want or extent == 1
    else:
        with pytest.raises(CopyNeeded):
            layout.reshape(shape, 4)


@given(arrays(), arrays(), st.integers(-8, 8))
def test_disjoint_is_never_wrong(a, b, distance):
    first = Layout(0, a.shape, a.strides)
    second = Layout(4 * distance, b.shape, b.strides)

    def addresses(layout):
        points = itertools.product(*map(range, layout.shape))
        return {layout.offset + sum(map(mul, point, layout.strides)) for point in points}

    if disjoint(first, second, 4):
        assert not addresses(first) & addresses(second)
    assert same_elements(first, first)


def test_interleaved_columns_are_disjoint():
    columns = [Layout(4 * i, (8,), (16,)) for i in range(2)]
    assert disjoint(*columns, 4)
    assert not disjoint(columns[0], Layout(32, (8,), (16,)), 4)


@given(shapes, st.data())
def test_permuted_layouts_are_dense(shape, data):
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    expected = np.empty(tuple(shape[i] for i in order), F4).transpose(np.argsort(order))
    assert permuted(shape, order, 4).strides == expected.strides
    assert contiguous(shape, 4).strides == np.empty(shape, F4).strides


# Axes and arena


def test_axes_that_step_alike_are_joined():
    dense = (48, 16, 4)
    assert join((2, 3, 4), [dense, dense]).extents == (24,)
    joined = join((2, 3, 4), [dense, (0, 0, 4)])
    assert (joined.extents, joined.strides) == ((6, 4), ((16, 4), (0, 4)))
    assert join((2, 1, 4), [(16, 99, 4)]).extents == (8,)
    assert join((2, 0, 4), [(7, 9, 5)]).extents == (0,)
    assert join((), [()]).extents == ()


def test_the_results_memory_decides_the_order():
    assert memory_order((3, 4), [(4, 12), (4, 12)]) == (1, 0)
    assert memory_order((3, 4), [(16, 4), (4, 12)]) == (1, 0)
    assert memory_order((3, 4), [(4, 12), (0, 0)]) == (1, 0)


@given(st.lists(st.integers(0, 5000), max_size=30), st.randoms(use_true_random=False))
def test_the_arena_never_overlaps(sizes, random):
    arena = Arena()
    live = {}
    for size in sizes:
        offset = arena.take(size)
        assert offset % 64 == 0
        assert offset + size <= arena.size
        for other, length in live.items():
            assert offset + size <= other or other + length <= offset
        live[offset] = max(size, 1)
        if random.random() < 0.6:
            gone = random.choice(sorted(live))
            arena.give(gone)
            del live[gone]


def test_the_arena_reuses_memory():
    arena = Arena()
    for _ in range(10):
        first, second = arena.take(1000), arena.take(500)
        arena.give(first)
        arena.give(second)
    assert arena.size == math.ceil(1000 / 64) * 64 + math.ceil(500 / 64) * 64
