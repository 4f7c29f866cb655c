"""Type rules against NumPy itself."""

import numpy as np
import pytest

from numen.compiler import host
from numen.errors import DTypeError, InternalError, ShapeError
from numen.graph import Dim, Graph, TensorType
from numen.graph.infer import gathered_shape, infer, normalize_index, register_rule

F4, F8, I4, BOOL = (np.dtype(name) for name in ("f4", "f8", "i4", "?"))


def types(*arrays):
    return [TensorType(a.dtype, a.shape) for a in arrays]


def a(shape, dtype=F4):
    return np.ones(shape, dtype)


CASES = [
    ("add", [a((2, 1, 3)), a((4, 1))], {}),
    ("less", [a((2, 3)), a(())], {}),
    ("where", [a((3,), BOOL), a((2, 3)), a(())], {}),
    ("cast", [a((2, 3))], {"dtype": I4}),
    ("absolute", [a((2,), np.dtype("c8"))], {}),
    ("sum", [a((2, 3, 4), I4)], {"axis": (0, 2), "keepdims": True}),
    ("sum", [a((2, 3), BOOL)], {"axis": (1,), "keepdims": False}),
    ("sum", [a((2, 3), np.dtype("u1"))], {"axis": (), "keepdims": False}),
    ("mean", [a((2, 3), I4)], {"axis": (1,), "keepdims": False}),
    ("max", [a((2, 3), I4)], {"axis": (0,), "keepdims": False}),
    ("argmax", [a((2, 3))], {"axis": 1, "keepdims": True}),
    ("matmul", [a((3,)), a((3,))], {}),
    ("matmul", [a((2, 3)), a((3,))], {}),
    ("matmul", [a((3,)), a((5, 3, 2))], {}),
    ("matmul", [a((4, 1, 2, 3)), a((5, 3, 6))], {}),
    ("reshape", [a((2, 6))], {"shape": (3, 4)}),
    ("transpose", [a((2, 3, 4))], {"axes": (2, 0, 1)}),
    ("broadcast_to", [a((2, 1))], {"shape": (4, 2, 3)}),
    ("getitem", [a((4, 5, 6))], {"index": (slice(3, None, -1), None, -2)}),
    ("gather", [a((4, 5, 6)), a((2, 1), I4), a((3,), I4)], {"spec": (0, 1)}),
    ("gather", [a((4, 5, 6)), a((2,), I4), a((1,), I4)], {"spec": (0, ("b", slice(1, 3)), 1)}),
    ("gather", [a((4, 5, 6)), a((2,), I4)], {"spec": (("b", None), ("b", slice(None)), 0)}),
    ("gather", [a((4, 5, 6)), a((2,), I4)], {"spec": (("b", 1), ("b", slice(0, 2)), 0)}),
    ("concatenate", [a((2, 3)), a((2, 4))], {"axis": 1}),
]


@pytest.mark.parametrize(("name", "arrays", "params"), CASES)
def test_rule_gives_numpys_type(name, arrays, params):
    function = getattr(host, name, None) or getattr(np, name)
    expected = np.asarray(function(*arrays, **params))
    result = infer(name, types(*arrays), params)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)


BAD = [
    ("add", [a((2,)), a((3,))], {}, ShapeError),
    ("add", [a((2,)), a((2,), F8)], {}, DTypeError),
    ("divide", [a((2,), I4), a((2,), I4)], {}, DTypeError),
    ("exp", [a((2,), I4)], {}, DTypeError),
    ("where", [a((2,)), a((2,)), a((2,))], {}, DTypeError),
    ("sum", [a((2, 3))], {"axis": (1, 0), "keepdims": False}, ShapeError),
    ("sum", [a((2, 3))], {"axis": (2,), "keepdims": False}, ShapeError),
    ("max", [a((0, 3))], {"axis": (0,), "keepdims": False}, ShapeError),
    ("argmax", [a((2, 0))], {"axis": 1, "keepdims": False}, ShapeError),
    ("matmul", [a((2, 3)), a((2, 3))], {}, ShapeError),
    ("matmul", [a(()), a((2, 3))], {}, ShapeError),
    ("reshape", [a((2, 3))], {"shape": (4,)}, ShapeError),
    ("transpose", [a((2, 3))], {"axes": (0, 0)}, ShapeError),
    ("broadcast_to", [a((2, 3))], {"shape": (3,)}, ShapeError),
    ("getitem", [a((2, 3))], {"index": (5,)}, ShapeError),
    ("getitem", [a((2,))], {"index": (0, 0)}, ShapeError),
    ("concatenate", [a((2, 3)), a((3, 3))], {"axis": 1}, ShapeError),
    ("gather", [a((2, 3)), a((2,))], {"spec": (0,)}, DTypeError),
    ("scatter_add", [a((2, 3)), a((4,)), a((2,), I4)], {"spec": (0,)}, ShapeError),
]


@pytest.mark.parametrize(("name", "arrays", "params", "error"), BAD)
def test_breach_is_reported(name, arrays, params, error):
    with pytest.raises(error, match=name if name != "broadcast_to" else "broadcast"):
        infer(name, types(*arrays), params)


@pytest.mark.parametrize("extent", [0, 1, 4, 5])
def test_normalised_slices_pick_the_same_elements(extent):
    array = np.arange(extent)
    bounds = [None, *range(-extent - 2, extent + 3)]
    for start in bounds:
        for stop in bounds:
            for step in (None, 1, 2, -1, -2):
                entry = slice(start, stop, step)
                (canonical,) = normalize_index((entry,), array.shape)
                assert all(isinstance(v, int) for v in (canonical.start, canonical.stop))
                np.testing.assert_array_equal(array[canonical], array[entry])
                assert normalize_index((canonical,), array.shape) == (canonical,)


def test_gathered_shape_counts_entries():
    with pytest.raises(ShapeError, match="too many"):
        gathered_shape((2,), [(3,), (3,)], (0, 1))


def test_symbolic_extents_go_through():
    graph = Graph()
    x = graph.input(TensorType(F4, (2 * Dim("B"), 3)))
    y = graph.input(TensorType(F4, (3, 5)))
    assert graph.op("matmul", (x, y)).type.shape == (2 * Dim("B"), 5)
    picked = graph.op("getitem", (x,), {"index": (slice(None), 0)})
    assert picked.type.shape == (2 * Dim("B"),)
    assert graph.op("concatenate", (x, x), {"axis": 0}).type.shape == (4 * Dim("B"), 3)


def test_an_op_without_a_rule_needs_a_type():
    graph = Graph()
    x = graph.input(TensorType(F4, (2,)))
    with pytest.raises(InternalError, match="no type rule"):
        graph.op("test_unknown", (x,))
    given = TensorType(F8, (3,))
    assert graph.op("test_unknown", (x,), type=given).type == given
    register_rule("test_ruled", lambda types: types[0])
    assert graph.op("test_ruled", (x,)).type == x.type
    with pytest.raises(InternalError, match="gives"):
        graph.op("test_ruled", (x,), type=given)
