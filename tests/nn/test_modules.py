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


def test_one_by_its_name():
    block = Block()
    assert block.get_submodule("inner") is block.inner
    assert block.get_submodule("") is block
    assert block.get_parameter("inner.weight") is block.inner.weight
    assert block.get_buffer("count") is block.count
    for call, name in (
        (block.get_submodule, "inner.nothing"),
        (block.get_parameter, "inner.count"),
        (block.get_parameter, "scratch"),
        (block.get_buffer, "scale"),
    ):
        with pytest.raises(AttributeError, match=name):
            call(name)
    block.set_submodule("inner", nn.Linear(2, 5))
    assert block.inner.weight.shape == (5, 2)


def test_registering():
    module = nn.Module()
    module.register_parameter("late", None)
    module.register_parameter("first", nn.Parameter([1.0]))
    module.register_module("part", nn.Tanh())
    module.add_module("none", None)
    module.late = nn.Parameter([2.0])
    assert [n for n, _ in module.named_parameters()] == ["late", "first"]
    assert [n for n, _ in module.named_children()] == ["part"]
    for wrong in ("a.b", "", "forward", "part"):
        if wrong == "forward":
            module.forward = None
        with pytest.raises(KeyError):
            module.register_parameter(wrong, None)
    with pytest.raises(TypeError, match="Parameter"):
        module.register_parameter("x", nm.ones(2))
    with pytest.raises(TypeError, match="Module"):
        module.register_module("x", nm.ones(2))
    twice = nn.Module()
    twice.a = twice.b = nn.Linear(1, 1)
    assert len(list(twice.named_parameters())) == 2
    assert len(list(twice.named_parameters(remove_duplicate=False))) == 4


def test_extra_state_goes_along():
    class Counted(nn.Linear):
        calls = 0

        def get_extra_state(self):
            return {"calls": self.calls}

        def set_extra_state(self, state):
            self.calls = state["calls"]

    first, second = (nn.Sequential(Counted(1, 1)) for _ in range(2))
    first[0].calls = 3
    state = first.state_dict()
    assert list(state) == ["0.weight", "0.bias", "0._extra_state"]
    second.load_state_dict(state)
    assert second[0].calls == 3
    assert first.state_dict(keep_vars=True)["0.weight"] is first[0].weight


def test_another_dtype_in_place():
    block = Block()
    block.register_buffer("index", nm.arange(3))
    weight, frozen = block.inner.weight, block.inner.bias
    frozen.requires_grad_(False)
    block(nm.ones((1, 2))).sum().backward()
    before = weight.grad.tolist()
    assert block.double() is block
    assert block.inner.weight is weight
    assert (weight.dtype, weight.grad.dtype, block.count.dtype) == (np.float64,) * 3
    assert block.index.dtype == np.int64
    assert weight.grad.tolist() == before
    assert weight.requires_grad
    assert not frozen.requires_grad
    block(nm.ones((1, 2))).sum().backward()
    assert weight.grad.tolist() == [[2 * v for v in row] for row in before]
    for convert, dtype in (
        (block.float, np.float32),
        (block.half, np.float16),
        (block.bfloat16, nm.bfloat16),
        (lambda: block.to(nm.ones(1, np.float64)), np.float64),
        (lambda: block.to("cpu", np.float32), np.float32),
        (lambda: block.type(np.float64), np.float64),
        (lambda: block.cpu(), np.float64),
    ):
        convert()
        assert {p.dtype for p in block.parameters()} == {np.dtype(dtype)}
        assert block.same is block.inner
    with pytest.raises(DTypeError):
        block.to(np.int64)
    with pytest.raises(ValueError, match="device"):
        block.to("moon")


def test_another_device_in_place():
    layer = nn.Linear(3, 2)
    x = nm.ones((1, 3), nm.float32)
    expected = layer(x).tolist()
    layer.to("strict")
    assert layer.weight.device == "strict"
    assert layer(x.to_device("strict")).detach().to_device("cpu").tolist() == expected
    assert layer.to("cpu").weight.device == "cpu"


def test_a_compiled_call_sees_another_dtype():
    layer = nn.Linear(3, 2)
    run = nm.jit(lambda x: layer(x))
    x = nm.ones((1, 3))
    for _ in range(3):
        assert run(x).dtype == np.float32
    layer.double()
    for _ in range(3):
        assert run(x).dtype == np.float64
        np.testing.assert_array_equal(run(x).detach(), layer(x).detach())


def test_forward_hooks():
    layer, seen = nn.Linear(3, 2), []
    x = nm.ones((4, 3), nm.float32)
    plain = layer(x).tolist()

    def before(module, args):
        seen.append("before")
        return args[0] * 2

    def after(module, args, out):
        seen.append("after")
        assert args[0].tolist() == (x * 2).tolist()
        return out + 1

    first = layer.register_forward_pre_hook(before)
    second = layer.register_forward_hook(after)
    earlier = layer.register_forward_pre_hook(lambda m, a: seen.append("first"), prepend=True)
    changed = layer(x)
    assert seen == ["first", "before", "after"]
    first.remove()
    second.remove()
    second.remove()
    earlier.remove()
    expected = (layer(x) - layer.bias) * 2 + layer.bias + 1
    np.testing.assert_allclose(changed.detach(), expected.detach(), rtol=1e-6)
    assert layer(x).tolist() == plain
    with layer.register_forward_hook(
        lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True
    ):
        layer(input=x)
    with layer.register_forward_pre_hook(
        lambda m, args, kwargs: ((), {"input": x * 0}), with_kwargs=True
    ):
        assert layer(input=x).tolist() == nm.broadcast_to(layer.bias, (4, 2)).tolist()
    assert seen[-1] == {"input": x}
    with pytest.raises(TypeError, match="callable"):
        layer.register_forward_hook(None)


def test_hooks_are_copied_and_traced():
    layer = nn.Linear(3, 2)
    layer.register_forward_hook(double_the_output)
    twin = copy.deepcopy(layer)
    x = nm.ones((4, 3), nm.float32)
    run = nm.jit(lambda x: twin(x))
    for _ in range(3):
        assert run(x).tolist() == layer(x).tolist()
    assert "0 eager" in str(nm.explain(run))


def double_the_output(module, args, out):
    return out * 2


def test_backward_hooks():
    torch = pytest.importorskip("torch")
    ours, theirs = nn.Linear(3, 2), torch.nn.Linear(3, 2)
    theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()})
    seen = {"ours": [], "theirs": []}

    def hooks(layer, name):
        def hook(module, grad_input, grad_output):
            assert module is layer
            found = [g.tolist() for g in (*grad_input, *grad_output)]
            seen[name].append(found)
            return (grad_input[0] * 3,)

        def first(module, grad_output):
            seen[name].append("pre")
            return (grad_output[0] * 2,)

        layer.register_full_backward_hook(hook)
        return layer.register_full_backward_pre_hook(first)

    handles = [hooks(ours, "ours"), hooks(theirs, "theirs")]
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    x, t = nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)
    for _ in range(2):
        (ours(x) ** 2).sum().backward()
        (theirs(t) ** 2).sum().backward()
        for handle in handles:
            handle.remove()
    np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), rtol=1e-5)
    np.testing.assert_allclose(ours.weight.grad.numpy(), theirs.weight.grad.numpy(), rtol=1e-5)
    assert [type(s) for s in seen["ours"]] == [type(s) for s in seen["theirs"]]


def test_a_backward_hook_of_several_inputs_only_looks():
    class Product(nn.Module):
        def forward(self, a, b):
            return a * b

    layer, seen = Product(), []
    handle = layer.register_full_backward_hook(
        lambda m, gi, go: seen.append([g.tolist() for g in (*gi, *go)])
    )
    a, b = (nm.array(v, requires_grad=True) for v in (2.0, 3.0))
    layer(a, b).backward()
    assert seen == [[3, 2, 1]]
    handle.remove()
    layer.register_full_backward_hook(lambda m, gi, go: gi)
    with pytest.raises(nm.GradientError, match="one input"):
        layer(a, b).backward()
    run = nm.jit(lambda a: nm.grad(lambda v: layer(v, 2.0))(a))
    assert run(nm.array(1.0)).tolist() == 2
