"""Symbolic extents and shape arithmetic."""

import numpy as np
import pytest

from numen.errors import ShapeError
from numen.graph.types import (
    Dim,
    TensorType,
    broadcast_shapes,
    concrete,
    contiguous_strides,
    dtype_name,
)

B = Dim("B")


def test_dims_stay_affine():
    assert Dim("B", 2, 3) == 2 * B + 3
    assert (2 * B + 3) - (2 * B) == 3
    assert Dim("B", -1, 5) == 5 - B
    assert Dim("B", 2) == B + B
    assert (2 * B + 1).at(10) == 21


def test_a_sum_over_two_dims_is_refused():
    with pytest.raises(ShapeError, match="affine"):
        B + Dim("T")


@pytest.mark.parametrize(
    ("extent", "text"), [(B, "B"), (2 * B, "2*B"), (B - 1, "B-1"), (3 * B + 2, "3*B+2")]
)
def test_text_of_a_dim(extent, text):
    assert str(TensorType(np.dtype("f4"), (extent, 4))) == f"float32[{text}, 4]"


def test_broadcasting_with_dims():
    assert broadcast_shapes([(B, 1), (4,)]) == (B, 4)
    with pytest.raises(ShapeError, match="broadcast"):
        broadcast_shapes([(B,), (2 * B,)])
    with pytest.raises(ShapeError, match="broadcast"):
        broadcast_shapes([(2, 3), (2,)])


def test_concrete_refuses_dims():
    assert concrete((2, 3)) == (2, 3)
    with pytest.raises(ShapeError, match="symbolic"):
        concrete((2, B))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4), (2, 1, 4)])
def test_contiguous_strides_are_numpys(shape):
    assert contiguous_strides(shape, 8) == np.empty(shape).strides


@pytest.mark.parametrize("name", ["float32", ">f4", "<U5", "datetime64[ns]", "bool", "complex64"])
def test_a_dtypes_name_gives_it_back(name):
    assert np.dtype(dtype_name(np.dtype(name))) == np.dtype(name)
