"""Modules: what they contain, their names, state, modes and text."""

import copy
import pickle
import threading

import numpy as np
import pytest

import numen as nm
from numen import nn
from numen.errors import DTypeError, ShapeError


def net():
    nm.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2, bias=False))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", nm.zeros(2))
        self.register_buffer("scratch", nm.ones(3), persistent=False)
        self.inner = nn.Linear(2, 2)
        self.scale = nn.Parameter(nm.array(2.0))
        self.same = self.inner

    def forward(self, x):
        return self.inner(x) * self.scale


def test_names_and_order_are_pytorch_s():
    assert [n for n, _ in net().named_parameters()] == ["0.weight", "0.bias", "2.weight"]
    assert [n for n, _ in net().named_modules()] == ["", "0", "1", "2"]
    block = Block()
    assert [n for n, _ in block.named_parameters()] == ["scale", "inner.weight", "inner.bias"]
    assert [n for n, _ in block.named_buffers()] == ["count", "scratch"]
    assert [n for n, _ in block.named_children()] == ["inner"]
    assert len(list(block.parameters(recurse=False))) == 1
    assert len(list(block.buffers())) == 2
    expected = ["scale", "count", "inner.weight", "inner.bias", "same.weight", "same.bias"]
    assert list(block.state_dict()) == expected


def test_state_goes_out_and_in():
    first, second = net(), net()
    second[0].weight.requires_grad_(False)
    nm.manual_seed(9)
    first = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2, bias=False))
    before = second[0].weight
    result = second.load_state_dict(first.state_dict())
    assert result == ([], [])
    assert second[0].weight is before
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    assert second[2].weight.requires_grad
    assert np.shares_memory(
        first.state_dict()["0.weight"].numpy(), first[0].weight.detach().numpy()
    )
    assert not first.state_dict()["0.weight"].requires_grad


def test_state_that_does_not_fit_changes_nothing():
    target = net()
    before = {k: v.tolist() for k, v in target.state_dict().items()}
    state = {k: np.zeros(v.shape, np.float32) for k, v in target.state_dict().items()}
    for name, value, text in (
        ("0.bias", None, "missing keys: 0.bias"),
        ("9.weight", np.zeros(1), "unexpected keys: 9.weight"),
        ("2.weight", np.zeros((2, 4)), r"2.weight: expected shape \(2, 3\).*\(2, 4\)"),
    ):
        broken = dict(state)
        broken.pop(name, None)
        if value is not None:
            broken[name] = value
        with pytest.raises(nn.StateDictError, match=text):
            target.load_state_dict(broken)
        assert {k: v.tolist() for k, v in target.state_dict().items()} == before
    missing, unexpected = target.load_state_dict({"0.bias": np.ones(3), "x": 1}, strict=False)
    assert missing == ["0.weight", "2.weight"]
    assert unexpected == ["x"]
    assert target[0].bias.tolist() == [1, 1, 1]
    assert target[0].bias.dtype == np.float32


def test_text_is_pytorch_s():
    torch = pytest.importorskip("torch")
    theirs = torch.nn.Sequential(
        torch.nn.Linear(4, 3),
        torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten()),
        torch.nn.Linear(3, 2, bias=False),
        torch.nn.Tanh(),
    )
    ours = nn.Sequential(
        nn.Linear(4, 3),
        nn.Sequential(nn.ReLU(), nn.Flatten()),
        nn.Linear(3, 2, bias=False),
        nn.Tanh(),
    )
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())


def test_weights_go_to_pytorch_and_back():
    torch = pytest.importorskip("torch")
    ours = net()
    theirs = torch.nn.Sequential(
        torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2, bias=False)
    )
    theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()})
    x = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    np.testing.assert_allclose(
        ours(x).detach().numpy(), theirs(torch.tensor(x)).detach().numpy(), atol=1e-6
    )
    ours.load_state_dict({k: v.numpy() * 2 for k, v in theirs.state_dict().items()})
    assert ours[0].bias.tolist() == (theirs[0].bias * 2).tolist()


def test_modes_and_apply():
    model = net()
    assert model.training
    assert model.eval() is model
    assert not model[1].training
    model.train()
    assert model[1].training
    seen = []
    assert model.apply(lambda m: seen.append(type(m).__name__)) is model
    assert seen == ["Linear", "ReLU", "Linear", "Sequential"]
    model.requires_grad_(False)
    assert not any(p.requires_grad for p in model.parameters())


def test_zero_grad():
    model = net()
    model(nm.ones((2, 4), nm.float32)).sum().backward()
    model.zero_grad(set_to_none=False)
    assert model[0].bias.grad.tolist() == [0, 0, 0]
    model.zero_grad()
    assert model[0].bias.grad is None


def test_sequential():
    model = net()
    assert len(model) == 3
    assert isinstance(model[-1], nn.Linear)
    assert [type(m).__name__ for m in model[:2]] == ["Linear", "ReLU"]
    with pytest.raises(IndexError, match="3 modules"):
        model[3]
    named = nn.Sequential({"first": nn.Linear(4, 3), "act": nn.Tanh()})
    assert [n for n, _ in named.named_parameters()] == ["first.weight", "first.bias"]
    assert isinstance(named.act, nn.Tanh)
    assert len(nn.Sequential().append(nn.ReLU())) == 1
    with pytest.raises(TypeError, match="modules"):
        nn.Sequential(nm.tanh)
    with pytest.raises(KeyError):
        nn.Sequential({"forward": nn.ReLU()})


def test_parameters():
    p = nn.Parameter([1.0, 2.0])
    assert p.requires_grad
    assert p.is_leaf
    assert isinstance(p, nm.Array)
    assert {p: 1}[p] == 1
    assert p in {p}
    assert type(p * 2) is nm.Array
    assert type(p.detach()) is nm.Array
    assert not nn.Parameter([1.0], requires_grad=False).requires_grad
    source = nm.ones(2)
    nn.Parameter(source).detach()[0] = 5
    assert source.tolist() == [1, 1]
    with pytest.raises(DTypeError):
        nn.Parameter([1, 2])
    with pytest.raises(TypeError, match="Parameter"):
        Block().scale = nm.ones(())
    block = Block()
    block.scale = nn.Parameter(nm.array(3.0))
    block.scale = None
    assert [n for n, _ in block.named_parameters()] == ["inner.weight", "inner.bias"]
    with pytest.raises(KeyError, match="exists"):
        block.register_buffer("inner", nm.ones(1))


def test_copies():
    block = Block()
    for twin in (copy.deepcopy(block), pickle.loads(pickle.dumps(block))):
        assert twin.inner.weight is not block.inner.weight
        assert twin.same is twin.inner
        assert type(twin.inner.weight) is nn.Parameter
        assert twin.inner.weight.requires_grad
        assert twin.inner.weight.tolist() == block.inner.weight.tolist()
        with nm.no_grad():
            twin.inner.weight += 1
        assert twin.inner.weight.tolist() != block.inner.weight.tolist()


def test_initial_weights():
    nm.manual_seed(0)
    layer = nn.Linear(100, 50)
    bound = 0.1
    w = layer.weight.detach().numpy()
    assert w.dtype == np.float32
    assert np.abs(w).max() <= bound
    assert abs(w.std() - bound / 3**0.5) < 0.002
    assert np.abs(layer.bias.detach().numpy()).max() <= bound
    nm.manual_seed(0)
    assert nn.Linear(100, 50).weight.tolist() == w.tolist()
    assert nn.Linear(100, 50).weight.tolist() != w.tolist()
    assert nn.Linear(2, 3, dtype=nm.float64).weight.dtype == np.float64
    assert nn.Linear(0, 3)(nm.ones((2, 0), nm.float32)).tolist() == [[0, 0, 0]] * 2


def test_layers_cast_floats_and_refuse_the_rest():
    layer = nn.Linear(3, 2)
    assert layer(nm.ones((4, 3))).dtype == np.float32
    assert layer(np.ones((4, 3), np.float16)).dtype == np.float32
    assert layer(nm.ones(3)).shape == (2,)
    assert layer(nm.ones((2, 5, 3))).shape == (2, 5, 2)
    with pytest.raises(DTypeError, match="uint8"):
        layer(np.ones((4, 3), np.uint8))
    with pytest.raises(ShapeError, match=r"\(4, 2\)"):
        layer(nm.ones((4, 2)))
    with pytest.raises(ValueError):
        layer(nm.array(1.0))


def test_one_model_in_sixteen_threads():
    model = net()
    inputs = np.random.default_rng(0).standard_normal((16, 50, 2, 4)).astype(np.float32)
    with nm.no_grad():
        expected = [[model(x).tolist() for x in part] for part in inputs]
    results = [None] * 16

    def work(i):
        with nm.no_grad():
            results[i] = [model(x).tolist() for x in inputs[i]]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == expected


def test_frozen_parameters_get_no_gradient():
    model = net()
    model[0].requires_grad_(False)
    model(nm.ones((2, 4), nm.float32)).sum().backward()
    assert model[0].weight.grad is None
    assert model[2].weight.grad is not None
