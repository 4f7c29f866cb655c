"""The text of a graph reads back as the same graph."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numen.errors import FormatError
from numen.graph import Dim, Graph, TensorType, parse, verify
from numen.graph.text import format_param, parse_param

F4, F8 = np.dtype("f4"), np.dtype("f8")

GOLDEN = """\
%0 = input(kind='array', name='x', strides=(4, 8)) float32[2, 3]
%1 = input(kind='scalar', name=None, strides=None) float64[]
%2 = const(value=-0.0) float32[]
%3 = cast(%1; dtype=dtype('float32')) float32[]
%4 = multiply(%0, %3) float32[2, 3]
%5 = getitem(%4; index=(slice(1, -3, -1), None, 0)) float32[2, 1]
%6 = sum(%4; axis=(0, 1), keepdims=False) float32[]
write 0 <- %4
return %5, %6
"""


def test_golden():
    graph = Graph()
    x = graph.input(TensorType(F4, (2, 3)), "x", strides=(4, 8))
    s = graph.input(TensorType(F8, ()), kind="scalar")
    graph.const(-0.0, F4)
    y = graph.op("multiply", (x, graph.op("cast", (s,), {"dtype": F4})))
    z = graph.op("getitem", (y,), {"index": (slice(None, None, -1), None, 0)})
    total = graph.op("sum", (y,), {"axis": (0, 1), "keepdims": False})
    graph.outputs = [z, total]
    graph.writes = [(0, y)]
    verify(graph)
    assert str(graph) == GOLDEN
    assert parse(GOLDEN) == graph


def test_equality_is_structural_and_exact():
    def constant(value, dtype=F4):
        graph = Graph()
        graph.outputs = [graph.const(value, dtype)]
        return graph

    assert constant(0.5) == constant(0.5)
    assert constant(0.0) != constant(-0.0)
    assert constant(1.0) != constant(1.0, F8)
    assert constant(math.nan) == constant(math.nan)


leaves = st.one_of(
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=8),
    st.sampled_from([F4, np.dtype(">i8"), np.dtype("U3"), Dim("B"), Dim("T", 2, -1)]),
    st.builds(slice, st.none() | st.integers(), st.none() | st.integers(), st.integers(1, 3)),
    st.complex_numbers(),
)
params = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)


@given(params)
def test_params_round_trip(param):
    text = format_param(param)
    assert format_param(parse_param(text)) == text


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["unary", "binary", "view", "const", "host"]), st.integers(0, 99)
        ),
        max_size=12,
    ),
    params,
    st.sampled_from([(2, 3), (), (Dim("B"), 3), (2 * Dim("B") + 1,)]),
    st.none() | st.text(max_size=5),
)
def test_graphs_round_trip(recipe, param, shape, name):
    graph = Graph()
    values = [
        graph.input(TensorType(F8, shape), name),
        graph.input(TensorType(F8, ()), kind="scalar"),
    ]
    for kind, number in recipe:
        arg = values[number % len(values)]
        if kind == "unary":
            values.append(graph.op("tanh", (arg,)))
        elif kind == "binary":
            values.append(graph.op("add", (arg, values[1])))
        elif kind == "view":
            values.append(
                graph.op("transpose", (arg,), {"axes": tuple(range(arg.type.rank))[::-1]})
            )
        elif kind == "const":
            values.append(graph.const(number / 7, F8))
        else:
            values.append(graph.op("test_host", (arg,), {"param": param}, TensorType(F4, shape)))
            values.pop()  # of another dtype: no argument of what follows
    graph.outputs = values[-2:]
    if values[-1].type == graph.inputs[0].type:
        graph.writes = [(0, values[-1])]
    verify(graph)
    assert parse(str(graph)) == graph


@pytest.mark.parametrize(
    "text",
    [
        "%0 = input(kind='array', name=None, strides=None) float32[2",
        "%1 = const(value=1.0) float32[]",
        "%0 = const(value=1.0) float99[]",
        "return %3",
        "%0 = const(value=open('x')) float32[]",
        "%0 = const(value=) float32[]",
        "hello",
    ],
)
def test_what_is_no_graph_is_refused(text):
    with pytest.raises(FormatError, match="graph text"):
        parse(text)


def test_a_wrong_type_in_the_text_is_refused():
    with pytest.raises(Exception, match="gives"):
        parse("%0 = const(value=1.0) float32[]\n%1 = tanh(%0) float64[]\nreturn %1")
