"""Containers: positions, keys, names and text."""

import copy
import pickle

import numpy as np
import pytest

import numen as nm
from numen import nn
from numen.nn.containers import ModuleDict, ModuleList
from numen.nn.parameter_containers import ParameterDict, ParameterList


def chain():
    return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))


def names(module):
    return [name for name, _ in module.named_children()]


def test_sequential_is_edited_like_a_list():
    model = chain()
    first, last = model[0], model[2]
    model.insert(1, nn.Tanh())
    assert names(model) == ["0", "1", "2", "3"]
    assert [type(m).__name__ for m in model] == ["Linear", "Tanh", "ReLU", "Linear"]
    assert model[3] is last
    del model[1]
    assert names(model) == ["0", "1", "2"]
    assert model.pop() is last
    model.extend([nn.Linear(3, 5), nn.Tanh()])
    model[0] = nn.Linear(4, 3)
    assert model[0] is not first
    assert [n for n, _ in model.named_parameters()] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert model(nm.ones((2, 4))).shape == (2, 5)
    both = chain() + nn.Sequential(nn.ReLU())
    assert len(both) == 4
    assert names(model[1:]) == ["1", "2", "3"]  # PyTorch keeps the names
    for wrong in (4, -5):
        with pytest.raises(IndexError, match="4 modules"):
            both[wrong]
    with pytest.raises(IndexError):
        model.insert(9, nn.ReLU())
    with pytest.raises(TypeError, match="expected modules"):
        model[0] = 3
    with pytest.raises(TypeError, match="expected modules"):
        model.insert(0, None)


def test_sequential_with_names_keeps_them():
    model = nn.Sequential({"a": nn.Linear(2, 2), "b": nn.ReLU(), "c": nn.Tanh()})
    del model[1]
    assert names(model) == ["a", "c"]
    with pytest.raises(KeyError, match="dot"):
        nn.Sequential({"a.b": nn.ReLU()})


def test_module_list():
    layers = ModuleList([nn.Linear(2, 2) for _ in range(3)])
    assert len(list(layers.parameters())) == 6
    layers.append(nn.ReLU()).insert(0, nn.Tanh())
    layers += [nn.Tanh()]
    assert [type(m).__name__ for m in layers] == ["Tanh", *["Linear"] * 3, "ReLU", "Tanh"]
    assert isinstance(layers[1:3], ModuleList)
    assert layers[-1] in layers
    assert nn.ReLU() not in layers
    del layers[0:2]
    assert names(layers) == ["0", "1", "2", "3"]
    twin = pickle.loads(pickle.dumps(copy.deepcopy(layers)))
    assert repr(twin) == repr(layers)
    assert twin[0].weight.tolist() == layers[0].weight.tolist()
    assert repr(ModuleList()) == "ModuleList()"


def test_module_dict():
    heads = ModuleDict({"a": nn.Linear(2, 2)})
    heads["b"] = nn.ReLU()
    heads.update([("c", nn.Tanh())])
    assert list(heads.keys()) == ["a", "b", "c"]
    assert [k for k, _ in heads.items()] == list(heads)
    assert heads.pop("b") is not None
    assert "b" not in heads
    assert len(heads) == 2
    with pytest.raises(KeyError):
        heads["b"]
    with pytest.raises(KeyError):
        del heads["b"]
    with pytest.raises(KeyError, match="exists"):
        heads["pop"] = nn.ReLU()
    with pytest.raises(TypeError):
        heads["x"] = 1
    heads["a"] = nn.Linear(5, 1)
    assert heads["a"].weight.shape == (1, 5)
    heads.clear()
    assert len(heads) == 0


def test_parameter_containers():
    values = ParameterList([nm.ones(2), nn.Parameter([1.0]), 7])
    assert [n for n, _ in values.named_parameters()] == ["0", "1"]
    assert isinstance(values[0], nn.Parameter)
    assert values[2] == 7
    assert len(values[:2]) == 2
    values[0] = nn.Parameter(nm.zeros(3))
    assert values[0].shape == (3,)
    values += [nm.ones(1)]
    assert len(values) == 4
    with pytest.raises(IndexError):
        values[4]
    table = ParameterDict({"left": nm.ones(2)})
    table["right"] = nm.zeros((2, 2))
    assert list(table.state_dict()) == ["left", "right"]
    assert table.get("no", 3) == 3
    assert table.pop("left").shape == (2,)
    assert list(table) == ["right"]
    with pytest.raises(KeyError):
        table["left"]
    with pytest.raises(KeyError):
        table.pop("left")
    twin = copy.deepcopy(table)
    assert list(twin.keys()) == ["right"]
    assert twin["right"] is not table["right"]


def test_text_is_pytorch_s():
    torch = pytest.importorskip("torch")

    def build(n, lists, dicts):
        rows = [n.Linear(2, 2), n.Linear(2, 2), n.ReLU(), n.Sequential(n.Tanh(), n.Tanh())]
        return dicts({"layers": lists(rows), "head": n.Linear(2, 1), "none": lists()})

    theirs = build(torch.nn, torch.nn.ModuleList, torch.nn.ModuleDict)
    assert repr(build(nn, ModuleList, ModuleDict)) == repr(theirs)
    assert list(build(nn, ModuleList, ModuleDict).state_dict()) == list(theirs.state_dict())


def test_containers_are_traced():
    nm.manual_seed(0)
    layers = ModuleList([nn.Linear(3, 3) for _ in range(2)])
    scales = ParameterList([nm.ones(3, nm.float32) for _ in range(2)])

    @nm.jit
    def run(x):
        for layer, scale in zip(layers, scales, strict=True):
            x = layer(x) * scale
        return x

    x = nm.ones((2, 3), nm.float32)
    results = [run(x).detach().numpy() for _ in range(4)]
    assert "0 eager" in str(nm.explain(run))
    for result in results:
        np.testing.assert_allclose(result, results[0], rtol=1e-6)
