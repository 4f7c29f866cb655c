"""Padding layers, Bilinear and one_hot: values, shapes, torch, errors."""

import numpy as np
import pytest

import numen as nm
from numen.errors import DTypeError, IndexRangeError, ShapeError
from numen.nn import functional as F  # noqa: N812

X = np.arange(24.0).reshape(1, 2, 3, 4)


def test_values():
    x = nm.array([[1.0, 2.0, 3.0]])
    assert nm.nn.ReplicationPad1d((1, 2))(x).tolist() == [[1, 1, 2, 3, 3, 3]]
    assert nm.nn.CircularPad1d((1, 1))(x).tolist() == [[3, 1, 2, 3, 1]]
    assert nm.nn.ZeroPad1d((1, -1))(x).tolist() == [[0, 1, 2]]
    assert nm.nn.ConstantPad2d(1, 9.0)(X).shape == (1, 2, 5, 6)
    assert repr(nm.nn.ReflectionPad2d(1)) == "ReflectionPad2d((1, 1, 1, 1))"
    assert repr(nm.nn.ConstantPad1d((1, 2), 3.5)) == "ConstantPad1d(padding=(1, 2), value=3.5)"


@pytest.mark.parametrize("kind", ["Reflection", "Replication", "Circular", "Zero"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_agrees_with_torch(kind, rank):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    data = rng.normal(size=(2, 3, 4, 5, 3)[: rank + 2])
    widths = tuple(rng.integers(0, 3, 2 * rank).tolist())
    x, t = nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)
    found = getattr(nm.nn, f"{kind}Pad{rank}d")(widths)(x)
    expected = getattr(torch.nn, f"{kind}Pad{rank}d")(widths)(t)
    np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
    (found**2).sum().backward()
    (expected**2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy())


def test_bilinear_and_one_hot():
    layer = nm.nn.Bilinear(2, 3, 4)
    a, b = np.ones((5, 2), np.float32), np.full((5, 3), 2.0, np.float32)
    w, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    np.testing.assert_allclose(
        layer(a, b).detach().numpy(), np.einsum("ni,oij,nj->no", a, w, b) + bias, 1e-5
    )
    assert [n for n, _ in layer.named_parameters()] == ["weight", "bias"]
    assert F.one_hot(nm.array([[1], [0]]), 3).tolist() == [[[0, 1, 0]], [[1, 0, 0]]]
    fast = nm.jit(lambda x: F.one_hot(x, 3) * 2)
    for _ in range(3):
        assert fast(nm.array([2, 0])).tolist() == [[0, 0, 2], [2, 0, 0]]


def test_errors():
    with pytest.raises(ValueError, match="one width or 4"):
        nm.nn.ZeroPad2d((1, 2))
    with pytest.raises(ShapeError, match="3 or 4"):
        nm.nn.ReflectionPad2d(1)(np.ones((2, 2)))
    with pytest.raises(IndexRangeError, match=r"class 3 at index \(1,\)"):
        F.one_hot([0, 3], 3)
    with pytest.raises(DTypeError):
        F.one_hot([0.5], 3)
    with pytest.raises(ShapeError, match="bilinear"):
        nm.nn.Bilinear(2, 3, 4)(np.ones((5, 2), np.float32), np.ones((5, 2), np.float32))
