"""Small things NumPy does with scalars, in-place shapes and out=, which random programs found."""

import numpy as np
import pytest

import numen as nm


@pytest.mark.parametrize("op", ["__iadd__", "__isub__", "__imul__", "__itruediv__"])
@pytest.mark.parametrize("grad", [False, True])
def test_an_in_place_operand_may_not_have_more_axes(op, grad):
    x = nm.ones(3, requires_grad=grad) * 1
    with pytest.raises(ValueError, match="broadcast"):
        getattr(x, op)(nm.ones((1, 3)))
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_an_element_takes_what_numpy_lets_it_take():
    ours, theirs = nm.zeros(2), np.zeros(2)
    outcomes = []
    for x, value in ((ours, nm.ones(1)), (theirs, np.ones(1))):
        try:
            x[0] = value
            outcomes.append(None)
        except (TypeError, ValueError) as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]


def test_a_scalar_reshaped_or_indexed_is_an_array_of_its_own():
    s = nm.arange(3.0)[1]
    for y in (s.reshape(1), s.reshape(-1), s[None], s[...]):
        assert y.flags.writeable
        y += 5
    assert float(s) == 1.0
    assert hash(s.T) == hash(s) and hash(s.transpose()) == hash(s)


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_out_decides_in_which_dtype_a_sum_is_made(name):
    x = np.random.default_rng(0).standard_normal((3, 1000)).astype(np.float32)
    ours, theirs = nm.zeros(3), np.zeros(3)
    with nm.config(engine="numpy"):
        getattr(nm, name)(nm.array(x), axis=1, out=ours)
    getattr(np, name)(x, axis=1, out=theirs)
    assert ours.tolist() == theirs.tolist()
    ours, theirs = nm.zeros(3, nm.int32), np.zeros(3, np.int32)  # a reduction casts as it must
    getattr(nm, name)(nm.array(4 * x + 7), axis=1, out=ours)
    getattr(np, name)(4 * x + 7, axis=1, out=theirs)
    assert ours.tolist() == theirs.tolist()
