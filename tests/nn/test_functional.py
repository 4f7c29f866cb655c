"""Functions of layers and losses against their formulas and PyTorch, with their errors."""

import numpy as np
import pytest

import numen as nm
from numen.dispatch import core
from numen.errors import DTypeError, IndexRangeError, ShapeError
from numen.nn import Linear, ReLU, Sequential, Tanh
from numen.nn import functional as F  # noqa: N812
from tolerances import assert_close

RNG = np.random.default_rng(0)
LOGITS = RNG.standard_normal((6, 5)) * 3
LABELS = np.array([0, 4, 2, 2, 1, 3])


def leaf(value, dtype="float64"):
    return nm.array(value, dtype=dtype, requires_grad=True)


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax(dtype):
    x = leaf(LOGITS, dtype)
    expected = np.exp(log_softmax(LOGITS))
    assert_close(F.softmax(x).detach().numpy(), expected.astype(dtype))
    assert_close(F.log_softmax(x).detach().numpy(), log_softmax(LOGITS).astype(dtype), 2)
    assert_close(F.softmax(x, 0).sum(axis=0).detach().numpy(), np.ones(5, dtype))
    (F.log_softmax(x)[:, 1]).sum().backward()
    gradient = -expected
    gradient[:, 1] += 1
    assert_close(x.grad.numpy(), gradient.astype(dtype), 2)
    big = nm.array([[1e30, 0.0], [-1e30, 0.0]], dtype=dtype)
    assert F.softmax(big).tolist() == [[1, 0], [0, 1]]
    assert F.log_softmax(big).tolist()[0][0] == 0
    assert F.softmax(nm.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(DTypeError):
        F.softmax(nm.arange(3))
    with pytest.raises(np.exceptions.AxisError):
        F.softmax(nm.ones(3), 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy(dtype, smoothing):
    logp = log_softmax(LOGITS)
    losses = -(1 - smoothing) * logp[np.arange(6), LABELS] - smoothing * logp.mean(1)
    target = np.full((6, 5), smoothing / 5)
    target[np.arange(6), LABELS] += 1 - smoothing
    for reduction, expected, weight in (("mean", losses.mean(), 1 / 6), ("sum", losses.sum(), 1.0)):
        x = leaf(LOGITS, dtype)
        loss = F.cross_entropy(x, LABELS, reduction=reduction, label_smoothing=smoothing)
        assert (loss.dtype, loss.shape) == (np.dtype(dtype), ())
        assert_close(loss.detach().numpy(), np.asarray(expected, dtype), 2)
        loss.backward()
        assert_close(x.grad.numpy(), ((np.exp(logp) - target) * weight).astype(dtype), 2)
    none = F.cross_entropy(leaf(LOGITS, dtype), LABELS, reduction="none", label_smoothing=smoothing)
    assert_close(none.detach().numpy(), losses.astype(dtype), 2)


def test_cross_entropy_without_overflow():
    x = leaf([[1000.0, 0.0], [0.0, -1000.0]])
    loss = F.cross_entropy(x, [0, 1], reduction="none")
    assert loss.tolist() == [0, 1000]
    loss.sum().backward()
    assert x.grad.tolist() == [[0, 0], [1, -1]]


def test_ignored_rows_count_for_nothing():
    x = leaf([[1.0, 2.0], [3.0, 0.4]])
    labels = nm.array([-100, -100])
    assert F.cross_entropy(x, labels, reduction="none").tolist() == [0, 0]
    assert float(F.cross_entropy(x, labels, reduction="sum")) == 0
    loss = F.cross_entropy(x, labels)
    loss.backward()
    assert np.isnan(float(loss))
    assert x.grad.tolist() == [[0, 0], [0, 0]]
    smooth = F.cross_entropy(x, [-100, 1], label_smoothing=0.1)
    np.testing.assert_allclose(float(smooth), 2.541644691968, rtol=1e-12)
    x.grad = None
    F.cross_entropy(x, [5, 1], ignore_index=5).backward()
    assert x.grad.tolist()[0] == [0, 0]
    assert abs(sum(x.grad.tolist()[1])) < 1e-15


@pytest.mark.parametrize("label", [-1, -4, 5, 77])
def test_labels_out_of_range_name_label_and_bound(label):
    with pytest.raises(IndexError, match=rf"label {label} \(row 1\).*5 classes"):
        F.cross_entropy(nm.zeros((2, 5)), nm.array([0, label]))


def test_bad_arguments_of_cross_entropy():
    logits = nm.zeros((3, 5))
    for labels in (nm.zeros(2, int), nm.zeros((3, 1), int), nm.array(1)):
        with pytest.raises(ShapeError, match=r"\(N, C\)"):
            F.cross_entropy(logits, labels)
    with pytest.raises(ShapeError):
        F.cross_entropy(nm.zeros(5), nm.array([1]))
    with pytest.raises(DTypeError, match="float64"):
        F.cross_entropy(logits, nm.zeros(3))
    with pytest.raises(DTypeError):
        F.cross_entropy(nm.zeros((3, 5), int), nm.zeros(3, int))
    with pytest.raises(ValueError, match="reduction"):
        F.cross_entropy(logits, nm.zeros(3, int), reduction="avg")
    assert issubclass(IndexRangeError, IndexError)
    assert np.isnan(F.cross_entropy(nm.zeros((0, 5)), nm.zeros(0, int)).item())
    assert F.cross_entropy(nm.zeros((0, 5)), nm.zeros(0, int), reduction="sum").item() == 0
    assert F.cross_entropy(logits, np.zeros(3, np.uint8)).dtype == np.float64


def test_mse_loss():
    x, y = leaf([1.0, 2.0], "float32"), np.array([0.0, 4.0])
    loss = F.mse_loss(x, y)
    assert (loss.dtype, float(loss)) == (np.float32, 2.5)
    loss.backward()
    assert x.grad.tolist() == [1, -2]
    assert F.mse_loss(x, y, "sum").item() == 5
    assert F.mse_loss(x, y, "none").tolist() == [1, 4]
    for a, b in (((2, 1), (2,)), ((2, 1), (2, 1, 1, 1))):
        with pytest.raises(ShapeError, match="same shape"):
            F.mse_loss(nm.zeros(a), nm.zeros(b))
    with pytest.raises(ValueError):
        F.mse_loss(x, y, "avg")


def test_flatten():
    x = nm.zeros((2, 3, 4))
    assert F.flatten(x).shape == (2, 12)
    assert F.flatten(x, 0).shape == (24,)
    assert F.flatten(x, 0, 1).shape == (6, 4)
    with pytest.raises(ValueError):
        F.flatten(x, 2, 1)
    with pytest.raises(np.exceptions.AxisError):
        F.flatten(nm.zeros(3))


def test_linear_and_activations_match_pytorch():
    torch = pytest.importorskip("torch")
    x, w, b = (RNG.standard_normal(s).astype(np.float32) for s in ((3, 4), (5, 4), (5,)))
    ours = [leaf(v, "float32") for v in (x, w, b)]
    theirs = [torch.tensor(v, requires_grad=True) for v in (x, w, b)]
    y = F.cross_entropy(F.tanh(F.relu(F.linear(*ours))), [0, 1, 4])
    t = torch.nn.functional.cross_entropy(
        torch.tanh(torch.relu(torch.nn.functional.linear(*theirs))), torch.tensor([0, 1, 4])
    )
    y.backward()
    t.backward()
    assert_close(y.detach().numpy(), t.detach().numpy(), 4)
    for a, e in zip(ours, theirs, strict=True):
        assert_close(a.grad.numpy(), e.grad.numpy(), 4)
    with pytest.raises(ShapeError):
        F.linear(ours[0], ours[1], ours[0])
    with pytest.raises(ShapeError):
        F.linear(ours[0], ours[2])


def test_a_float32_step_holds_no_float64(monkeypatch):
    """Every Array and node that a training step makes, but for Adam's count of steps, is float32,
    bool or int."""
    nm.manual_seed(0)
    net = Sequential(Linear(4, 8), ReLU(), Linear(8, 8), Tanh(), Linear(8, 5))
    opts = [
        nm.optim.Adam(net.parameters(), weight_decay=0.1),
        nm.optim.SGD(net.parameters(), momentum=0.9),
    ]
    x = nm.array(RNG.standard_normal((6, 4)), dtype=nm.float32)
    seen = []
    finish = core.wrap

    def noting(data):
        seen.append((np.asarray(data).dtype, np.shape(data)))
        return finish(data)

    monkeypatch.setattr(core, "wrap", noting)
    with nm.config(engine="kernels"):  # every op takes the general path
        loss = F.cross_entropy(net(x), nm.array(LABELS)) + F.mse_loss(net(x), LOGITS)
        nodes, stack = set(), [loss._n]
        while stack:
            node = stack.pop()
            if node is not None and node not in nodes:
                nodes.add(node)
                stack.extend(getattr(node, "parents", ()))
        assert {n.dtype for n in nodes} == {np.dtype("float32")}
        loss.backward()
        for opt in opts:
            opt.step()
    assert len(seen) > 50
    assert not [shape for dtype, shape in seen if dtype == np.float64 and shape != ()]
    assert all(p.dtype == np.float32 and p.grad.dtype == np.float32 for p in net.parameters())
