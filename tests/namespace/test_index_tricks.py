"""Index tricks: grids, joiners and index arrays by the same source text."""

import pytest
from exact_source import check

import numen as nm

TEXTS = r"""
np.mgrid[0:3]
np.mgrid[0:2, 0:3]
np.mgrid[0:1:3j, 0:1:2j]
np.mgrid[0:1:0.5]
np.mgrid[-1:1:5j]
np.ogrid[0:2, 0:3]
np.ogrid[0:3]
np.mgrid[np.int64(0):np.array(3)]
np.r_[1, 2, 3]
np.r_[np.array([1, 2]), 0, 0, np.array([4.5])]
np.r_[0:5, -1:1:3j]
np.r_["0,2", [1, 2], [3, 4]]
np.r_["0,2,0", [1, 2], [3, 4]]
np.r_["1,2,0", [1, 2], [3, 4]]
np.r_["-1", np.zeros((2, 1)), np.ones((2, 2))]
np.r_["x", 1]
np.r_[np.arange(3)[1], np.float32(2.0)]
np.r_[1.5, np.float32(2.0)]
np.c_[[1, 2], [3, 4]]
np.c_[np.array([[1, 2, 3]]), 0, 0, np.array([[4, 5, 6]])]
np.s_[1:2, ::3]
np.index_exp[1:2]
np.index_exp[1]
np.ix_([0, 1], [2, 4])
np.ix_([True, False], [0, 1])
np.ix_(np.arange(2), np.array([True, True]))
np.ix_([[1]])
np.ix_([])
np.arange(10).reshape(2, 5)[np.ix_([0, 1], [2, 4])]
list(np.ndindex(2, 2))
list(np.ndindex((2,)))
list(np.ndindex(np.zeros((2, 1)).shape))
list(np.ndenumerate(np.array([[1, 2], [3, 4]])))
list(np.ndenumerate(5))
list(np.ndenumerate(np.array(["a", "b"])))
np.tril_indices(3)
np.tril_indices(3, 1, 4)
np.triu_indices(3, -1)
np.tril_indices_from(np.zeros((3, 3)), k=1)
np.triu_indices_from(np.zeros((2, 3)))
np.triu_indices_from(np.zeros(2))
np.tril_indices_from(np.zeros((2, 3)), -1)
np.diag_indices(3)
np.diag_indices(2, 3)
np.diag_indices_from(np.zeros((3, 3)))
np.diag_indices_from(np.zeros((2, 3)))
np.diag_indices_from(np.zeros(3))
np.mask_indices(3, np.triu)
np.mask_indices(3, np.triu, 1)
np.unravel_index(22, (7, 6))
np.unravel_index([22, 41, 37], (7, 6))
np.unravel_index(np.array([1, 2]), (2, 2), order="F")
np.unravel_index(100, (2, 2))
np.unravel_index(1.5, (2, 2))
np.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (7, 6))
np.ravel_multi_index((3, 1), (4, 4))
np.ravel_multi_index((np.array([3, 6]), np.array([4, 5])), (7, 6), order="F")
np.ravel_multi_index(([3, 8], [4, 5]), (7, 6))
np.ravel_multi_index(([3, 8], [4, 7]), (7, 6), mode=("clip", "wrap"))
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_numpy_makes_the_same(text):
    check(text, words=True)


def test_joiners_are_differentiable():
    x = nm.array([1.0, 2.0], requires_grad=True)
    joined = nm.r_["0,2,0", x, x * 2]
    assert joined.shape == (4, 1)
    (joined * nm.arange(4.0).reshape(4, 1)).sum().backward()
    assert x.grad.tolist() == [4.0, 7.0]


def test_ndenumerate_keeps_gradients():
    x = nm.array([[1.0, 2.0]], requires_grad=True)
    sum(value * (1 + index[1]) for index, value in nm.ndenumerate(x)).backward()
    assert x.grad.tolist() == [[1.0, 2.0]]


def test_index_arrays_index():
    x = nm.arange(9).reshape(3, 3)
    assert x[nm.tril_indices(3, -1)].tolist() == [3, 6, 7]
    assert x[nm.ix_(nm.array([0, 2]), [1])].tolist() == [[1], [7]]
    assert x[nm.s_[1, ::2]].tolist() == [3, 5]
