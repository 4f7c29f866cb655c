"""What would be lost in silence is refused or kept: error states, gradients, memory of out=."""

import numpy as np
import pytest

import numen as nm


@pytest.mark.parametrize("size", [4, 20_000, 300_000])
def test_an_overflow_raises_at_every_size(size):
    x = nm.full(size, 1000.0)
    with nm.errstate(over="raise"), pytest.raises(FloatingPointError):
        nm.exp(x)
    with nm.errstate(divide="raise"), pytest.raises(FloatingPointError):
        nm.ones(size) / nm.zeros(size)
    with nm.errstate(all="ignore"):
        assert np.isinf(nm.exp(x).numpy()).all()


def test_a_written_leaf_stays_a_leaf_of_its_own():
    leaf = nm.ones(3, requires_grad=True)
    w = nm.zeros(3)
    nm.copyto(w, leaf)
    w[0] = 5
    (w * 2).sum().backward()
    assert leaf.grad.tolist() == [0, 2, 2]


def test_masked_arrays_do_not_lose_gradients_in_silence():
    leaf = nm.ones(3, requires_grad=True)
    with pytest.raises(nm.GradientError, match="detach"):
        nm.ma.array(leaf)


def test_bytes_and_ndarrays_as_out():
    assert bytes(nm.arange(2)) == bytes(np.arange(2))
    out = np.zeros(3)
    result = nm.sum(nm.ones((2, 3), requires_grad=True), axis=0, out=out)
    assert result.requires_grad and np.shares_memory(result.detach().numpy(), out)
    assert out.tolist() == [2, 2, 2]
