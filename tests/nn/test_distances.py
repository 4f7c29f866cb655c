"""Cosine similarity and pairwise distance: values, gradients at zero, torch, errors."""

import numpy as np
import pytest

import numen as nm
import numen.nn.functional as F  # noqa: N812
from numen.errors import ShapeError

X = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
Y = np.array([[0.0, 2.0], [3.0, 4.0], [1.0, 1.0]])


def test_values():
    assert F.cosine_similarity(X, Y).tolist() == [0, 1, 0]
    assert F.cosine_similarity(X[1], Y, dim=-1).shape == (3,)
    np.testing.assert_allclose(F.pairwise_distance(X, Y, eps=0).tolist(), [5**0.5, 0, 2**0.5])
    assert F.pairwise_distance(X, Y, p=0, eps=0).tolist() == [2, 0, 2]
    assert F.pairwise_distance(X, Y, p=np.inf, eps=0, keepdim=True).shape == (3, 1)
    assert F.cosine_similarity(X[:, None], Y[None], dim=-1).shape == (3, 3)
    one = F.cosine_similarity([[[1.0, 2.0]]], [[[3.0, 4.0]], [[1.0, 1.0]]], dim=0)
    assert (one.numpy() <= 1 + 1e-12).all()  # lengths of what was broadcast
    layer = nm.nn.CosineSimilarity(dim=0)
    assert layer(X, Y).shape == (2,)
    assert nm.nn.PairwiseDistance(p=1, eps=0)(X, Y).tolist() == [3, 0, 2]


def test_gradients_at_the_zero_vector():
    x = nm.array(X, requires_grad=True)
    F.cosine_similarity(x, Y).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()
    x.grad = None
    F.pairwise_distance(x, nm.array(X), eps=0).sum().backward()
    assert x.grad.tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_agrees_with_torch(p):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4, 3)), rng.normal(size=(4, 3))
    for ours, theirs in (
        (lambda f: f.cosine_similarity, {"dim": -1}),
        (lambda f: f.pairwise_distance, {"p": p}),
    ):
        x, t = nm.array(a, requires_grad=True), torch.tensor(a, requires_grad=True)
        found = ours(F)(x, nm.array(b), **theirs)
        expected = ours(torch.nn.functional)(t, torch.tensor(b), **theirs)
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), 1e-12)
        (found**2).sum().backward()
        (expected**2).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), 1e-10, 1e-12)


def test_bad_arguments():
    for f in (F.cosine_similarity, F.pairwise_distance):
        with pytest.raises(ShapeError, match="do not broadcast"):
            f(np.ones((2, 3)), np.ones((2, 4)))
        with pytest.raises(TypeError):
            f(np.ones((2, 3), int), np.ones((2, 3), int))
    with pytest.raises(np.exceptions.AxisError):
        F.cosine_similarity(X, Y, dim=2)
