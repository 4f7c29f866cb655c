"""The verifier finds every kind of breach."""

import numpy as np
import pytest

from numen.errors import InternalError
from numen.graph import Dim, Graph, TensorType, verify

F4, F8, I8 = np.dtype("f4"), np.dtype("f8"), np.dtype("i8")


def sample():
    graph = Graph()
    x = graph.input(TensorType(F4, (2, 3)))
    y = graph.op("tanh", (x,))
    graph.outputs = [y]
    return graph, x, y


def test_a_sound_graph_passes():
    verify(sample()[0])


def broken_index(graph, x, y):
    y.index = 7


def foreign_argument(graph, x, y):
    y.args = (sample()[1],)


def late_argument(graph, x, y):
    y.args = (y,)


def wrong_type(graph, x, y):
    y.type = TensorType(F8, (2, 3))


def wrong_shape_of_args(graph, x, y):
    y.op, y.args = "add", (x,)


def unknown_param(graph, x, y):
    y.params = (("axis", 1),)


def unsorted_params(graph, x, y):
    y.params = (("b", 1), ("a", 1))


def foreign_output(graph, x, y):
    graph.outputs = [sample()[2]]


def missing_input(graph, x, y):
    graph.inputs.clear()


def write_of_another_shape(graph, x, y):
    graph.writes = [(0, graph.const(1, F4))]


def write_to_nothing(graph, x, y):
    graph.writes = [(3, y)]


def two_writes(graph, x, y):
    graph.writes = [(0, y), (0, x)]


def write_to_a_scalar(graph, x, y):
    s = graph.input(TensorType(F8, ()), kind="scalar")
    graph.writes = [(1, s)]


def scalar_of_float32(graph, x, y):
    graph.input(TensorType(F4, ()), kind="scalar")


def scalar_with_a_shape(graph, x, y):
    graph.input(TensorType(F8, (2,)), kind="scalar")


def unknown_kind(graph, x, y):
    graph.input(TensorType(F8, ()), kind="tensor")


def strides_of_another_rank(graph, x, y):
    graph.input(TensorType(F8, (2, 2)), strides=(8,))


def strides_of_a_symbolic_shape(graph, x, y):
    graph.input(TensorType(F8, (Dim("B"),)), strides=(16,))


def negative_extent(graph, x, y):
    graph.input(TensorType(F8, (-1,)))


def constant_with_a_shape(graph, x, y):
    graph.const(1, I8).type = TensorType(I8, (1,))


BREACHES = [
    *(broken_index, foreign_argument, late_argument, wrong_type, wrong_shape_of_args),
    *(unknown_param, unsorted_params, foreign_output, missing_input, write_of_another_shape),
    *(write_to_nothing, two_writes, write_to_a_scalar, scalar_of_float32, scalar_with_a_shape),
    *(unknown_kind, strides_of_another_rank, strides_of_a_symbolic_shape, negative_extent),
    *(constant_with_a_shape,),
]


@pytest.mark.parametrize("breach", BREACHES)
def test_breach_is_found(breach):
    graph, x, y = sample()
    breach(graph, x, y)
    with pytest.raises(InternalError, match="invalid graph"):
        verify(graph)


def test_the_error_prints_the_graph():
    graph, x, y = sample()
    wrong_type(graph, x, y)
    with pytest.raises(InternalError, match=r"%1 = tanh\(%0\)"):
        verify(graph)
