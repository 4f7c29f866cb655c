"""Recurrent layers: PyTorch's values and gradients, lengths, traces, second derivatives."""

import math

import numpy as np
import pytest

import numen as nm
from numen import nn
from numen.errors import ShapeError
from numen.nn.utils import rnn as sequences

RNG = np.random.default_rng(2)
OPTIONS = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"batch_first": True, "bias": False},
]


def drawn(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


def both(name, *args, **options):
    """Our layer and PyTorch's, with the same weights."""
    torch = pytest.importorskip("torch")
    theirs = getattr(torch.nn, name)(*args, **options)
    ours = getattr(nn, name)(*args, **options)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    return ours, theirs, torch


def flat(value):
    """Results as a list of arrays."""
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in flat(v)]
    return [value]


def compare(ours, theirs, x, t, outs, expected):
    for a, b in zip(flat(outs), flat(expected), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=2e-6)
    sum([(a * a).sum() for a in flat(outs)]).backward()
    sum([(b * b).sum() for b in flat(expected)]).backward()
    np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), atol=1e-5)
    for (_, p), (_, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_layers_are_pytorch_s(name, options):
    ours, theirs, torch = both(name, 3, 4, **options)
    data = drawn(5, 2, 3)
    count = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    first = [drawn(count, 5 if options.get("batch_first") else 2, 4) for _ in range(2)]
    x, t = nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)
    if name == "LSTM":
        h, g = tuple(map(nm.array, first)), tuple(map(torch.tensor, first))
    else:
        h, g = nm.array(first[0]), torch.tensor(first[0])
    compare(ours, theirs, x, t, ours(x, h), theirs(t, g))
    x.grad = None
    alone, expected = ours(x[:, 0]), theirs(t[:, 0])  # one sequence
    for a, b in zip(flat(alone), flat(expected), strict=True):
        assert a.shape == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=2e-6)


@pytest.mark.filterwarnings("ignore:LSTM with projections:UserWarning")  # PyTorch's
@pytest.mark.parametrize(
    ("name", "options"),
    [("RNN", {"nonlinearity": "relu"}), ("LSTM", {"proj_size": 2, "bidirectional": True})],
)
def test_kinds_are_pytorch_s(name, options):
    ours, theirs, torch = both(name, 3, 4, **options)
    data = drawn(5, 2, 3)
    x, t = nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)
    compare(ours, theirs, x, t, ours(x), theirs(t))


@pytest.mark.parametrize("options", [{}, {"bias": False}])
@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells_are_pytorch_s(name, options):
    ours, theirs, torch = both(name, 3, 4, **options)
    data = drawn(2, 3)
    x, t = nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)
    h, g = ours(x), theirs(t)
    compare(ours, theirs, x, t, ours(x, h), theirs(t, g))
    assert flat(ours(nm.array(data[0])))[0].shape == (4,)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_lengths_in_a_batch_are_the_sequences_alone(name, bidirectional):
    nm.manual_seed(0)
    layer = getattr(nn, name)(2, 3, 2, bidirectional=bidirectional).double()
    lengths = [6, 3, 5]
    data = drawn(6, 3, 2, dtype="float64")

    def score(outs, states):
        return (outs * outs).sum() + sum([(s * s * s).sum() for s in flat(states)])

    x = nm.array(data, requires_grad=True)
    expected = []
    for i, n in enumerate(lengths):
        out, states = layer(x[:n, i])
        expected.append((out.detach().numpy(), [s.detach().numpy() for s in flat(states)]))
        score(out, states).backward()
    slopes = [p.grad.numpy().copy() for p in [x, *layer.parameters()]]
    for padding in (0.0, 1e30, math.nan):
        for order in ([0, 1, 2], [2, 0, 1]):
            batch = data[:, order]
            for place, i in enumerate(order):
                batch[lengths[i] :, place] = padding
            y = nm.array(batch, requires_grad=True)
            layer.zero_grad()
            packed = sequences.pack_padded_sequence(
                y, [lengths[i] for i in order], enforce_sorted=False
            )
            result, states = layer(packed)
            out, found = sequences.pad_packed_sequence(result)
            assert found.tolist() == [lengths[i] for i in order]
            for place, i in enumerate(order):
                n = lengths[i]
                np.testing.assert_allclose(
                    out.detach().numpy()[:n, place], expected[i][0], atol=1e-13
                )
                assert not out.detach().numpy()[n:, place].any()
                for s, e in zip(flat(states), expected[i][1], strict=True):
                    np.testing.assert_allclose(s.detach().numpy()[:, place], e, atol=1e-13)
            score(out, states).backward()
            np.testing.assert_allclose(y.grad.numpy(), slopes[0][:, order], atol=1e-12)
            for p, e in zip(layer.parameters(), slopes[1:], strict=True):
                np.testing.assert_allclose(p.grad.numpy(), e, atol=1e-12)


def test_packing():
    torch = pytest.importorskip("torch")
    data, lengths = drawn(4, 3, 2), [2, 4, 1]
    ours = sequences.pack_padded_sequence(nm.array(data), lengths, enforce_sorted=False)
    theirs = torch.nn.utils.rnn.pack_padded_sequence(
        torch.tensor(data), lengths, enforce_sorted=False
    )
    np.testing.assert_array_equal(ours.data.numpy(), theirs.data.numpy())
    for key in ("batch_sizes", "sorted_indices", "unsorted_indices"):
        assert list(getattr(ours, key)) == getattr(theirs, key).tolist()
    padded, _ = sequences.pad_packed_sequence(ours, padding_value=7, total_length=6)
    assert padded.shape == (6, 3, 2)
    assert padded.numpy()[2:, 0].tolist() == [[7, 7]] * 4
    parts = sequences.unpack_sequence(ours)
    assert [len(p) for p in parts] == lengths
    again = sequences.pack_sequence(parts, enforce_sorted=False)
    assert again.data.tolist() == ours.data.tolist()
    left = sequences.pad_sequence(parts, batch_first=True, padding_side="left")
    assert left.numpy()[2, :3].tolist() == [[0, 0]] * 3
    back = sequences.unpad_sequence(sequences.pad_sequence(parts), lengths)
    assert [p.tolist() for p in back] == [p.tolist() for p in parts]
    for wrong, error, text in (
        ([2, 4, 0], ValueError, "got 0 for sequence 2"),
        ([2, 5, 1], ValueError, "got 5 for sequence 1"),
        ([2, 4], ShapeError, "length for each"),
    ):
        with pytest.raises(error, match=text):
            sequences.pack_padded_sequence(nm.array(data), wrong, enforce_sorted=False)
    with pytest.raises(ValueError, match="enforce_sorted"):
        sequences.pack_padded_sequence(nm.array(data), lengths)
    with pytest.raises(ValueError, match="total_length"):
        sequences.pad_packed_sequence(ours, total_length=2)
    with pytest.raises(ShapeError):
        sequences.pad_sequence([nm.ones((2, 2)), nm.ones((2, 3))])


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_traced_step_is_compiled_and_has_the_eager_values(name):
    nm.manual_seed(1)
    layer = getattr(nn, name)(2, 3, bidirectional=True).double()
    x = nm.array(drawn(4, 2, 2, dtype="float64"))

    def step(x):
        for packed in (False, True):
            if packed:
                x = sequences.pack_padded_sequence(x, [4, 2])
            out, _ = layer(x)
            out = out.data if packed else out
            (out * out).sum().backward()
        slopes = [p.grad for p in layer.parameters()]
        layer.zero_grad()
        return slopes

    expected = [g.numpy() for g in step(x)]
    traced = nm.jit(step)
    for _ in range(4):
        found = traced(x)
    assert "0 eager" in str(nm.explain(traced))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b, atol=1e-12)


def test_second_derivatives():
    nm.manual_seed(1)
    layer = nn.GRU(2, 3).double()
    x = nm.array(drawn(3, 1, 2, dtype="float64"))

    def slope(x):
        return nm.grad(lambda v: (layer(v)[0] ** 2).sum())(x)

    direction = nm.array(drawn(3, 1, 2, dtype="float64"))
    found = nm.grad(lambda v: (slope(v) * direction).sum())(x)
    step = 1e-6
    expected = (slope(x + step * direction) - slope(x - step * direction)) / (2 * step)
    np.testing.assert_allclose(found.detach(), expected.detach(), atol=1e-7)


def test_float32_stays_float32():
    for name in ("RNN", "LSTM", "GRU"):
        layer = getattr(nn, name)(2, 3, 2)
        for out in flat(layer(nm.ones((4, 2, 2)))):
            assert out.dtype == np.float32
            nodes, stack = set(), [out._n]
            while stack:
                node = stack.pop()
                if node is not None and node not in nodes:
                    nodes.add(node)
                    stack.extend(getattr(node, "parents", ()))
            assert {n.dtype for n in nodes} == {np.dtype("float32")}


def test_dropout_is_between_layers_while_training():
    nm.manual_seed(0)
    layer = nn.RNN(2, 8, 2, dropout=0.5)
    x = nm.ones((3, 2, 2), nm.float32)
    a, b = layer(x)[0], layer(x)[0]
    assert a.tolist() != b.tolist()
    layer.eval()
    assert layer(x)[0].tolist() == layer(x)[0].tolist()
    with pytest.warns(UserWarning, match="between layers"):
        nn.GRU(2, 3, dropout=0.5)


def test_errors():
    layer = nn.LSTM(3, 4)
    with pytest.raises(ShapeError, match=r"\(T, B, 3\)"):
        layer(nm.zeros((5, 2, 4)))
    with pytest.raises(ShapeError, match="time step"):
        layer(nm.zeros((0, 2, 3)))
    with pytest.raises(ShapeError, match=r"state of shape \(1, 2, 4\)"):
        layer(nm.zeros((5, 2, 3)), (nm.zeros((1, 2, 5)), nm.zeros((1, 2, 4))))
    with pytest.raises(ShapeError, match=r"\(B, 3\)"):
        nn.GRUCell(3, 4)(nm.zeros((2, 4)))
    with pytest.raises(ShapeError, match="state"):
        nn.GRUCell(3, 4)(nm.zeros((2, 3)), nm.zeros((2, 3)))
    for options in ({"hidden_size": 0}, {"hidden_size": 2, "num_layers": 0}):
        with pytest.raises(ValueError, match="expected"):
            nn.RNN(3, **options)
    with pytest.raises(ValueError, match="nonlinearity"):
        nn.RNN(3, 4, nonlinearity="sin")
    assert layer(nm.zeros((5, 0, 3)))[0].shape == (5, 0, 4)
