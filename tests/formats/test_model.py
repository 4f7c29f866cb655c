"""Models and checkpoints in files: round trips, shared weights, damage, resuming bit for bit."""

import base64
import json

import numpy as np
import pytest

import numen as nm
from numen import nn, optim
from numen.data import DataLoader
from numen.errors import FormatError
from numen.formats import atomic, safetensors
from numen.formats.checkpoint import load_checkpoint, save_checkpoint
from numen.formats.model import load_model, save_model
from numen.nn import StateDictError


def network(seed=0):
    nm.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def bits(net):
    return {name: value.numpy().tobytes() for name, value in net.state_dict().items()}


class Tied(nn.Module):
    def __init__(self, tied=True):
        super().__init__()
        self.inside = nn.Linear(3, 3, bias=False)
        self.outside = nn.Linear(3, 3, bias=False)
        if tied:
            self.outside.weight = self.inside.weight
        self.register_buffer("count", nm.array([7]))


def test_a_model_comes_back(tmp_path):
    net, other = network(), network(1)
    save_model(net, tmp_path / "net", {"epoch": "5"})
    assert load_model(other, tmp_path / "net") == ([], [])
    assert bits(other) == bits(net)
    assert safetensors.load_metadata(tmp_path / "net")["epoch"] == "5"
    assert set(safetensors.load_file(tmp_path / "net")) == set(net.state_dict())
    with pytest.raises(ValueError, match="crc32"):
        save_model(net, tmp_path / "net", {"crc32": "x"})


def test_shared_weights_are_stored_once_and_stay_shared(tmp_path):
    net, other, apart = Tied(), Tied(), Tied(tied=False)
    save_model(net, tmp_path / "net")
    assert len(safetensors.load_file(tmp_path / "net")) == 2
    for loaded in (other, apart):
        load_model(loaded, tmp_path / "net")
        assert bits(loaded) == bits(net)
    assert other.outside.weight is other.inside.weight
    assert apart.outside.weight is not apart.inside.weight
    save_model(apart, tmp_path / "apart")
    load_model(other, tmp_path / "apart")
    assert bits(other) == bits(net)


def test_what_does_not_fit_names_the_nearest(tmp_path):
    class Renamed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3, bias=False)
            self.outside = nn.Linear(3, 3, bias=False)

    save_model(Tied(tied=False), tmp_path / "net")
    other = Renamed()
    before = bits(other)
    with pytest.raises(StateDictError, match=r"missing 'inner.weight' \(the file has 'inside"):
        load_model(other, tmp_path / "net")
    assert bits(other) == before
    missing, unexpected = load_model(other, tmp_path / "net", strict=False)
    assert missing == ["inner.weight"]
    assert sorted(unexpected) == ["count", "inside.weight"]
    save_model(nn.Linear(3, 5), tmp_path / "linear")
    with pytest.raises(StateDictError, match="shape"):
        load_model(nn.Linear(3, 4), tmp_path / "linear")


def test_damaged_data_is_a_format_error(tmp_path):
    path = tmp_path / "net"
    save_model(network(), path)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match="damaged"):
        load_model(network(), path)
    arrays = {"0.weight": np.zeros((4, 3), np.float32)}
    for text in ({"numen": "99"}, {"tied": '{"a": "b"}'}, {"tied": "[]"}, {"crc32": "{"}):
        safetensors.save_file(arrays, path, text)
        with pytest.raises(FormatError):
            load_model(network(), path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    net = network()
    save_model(net, tmp_path / "net")

    def full(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        save_model(network(1), tmp_path / "net")
    other = network(2)
    load_model(other, tmp_path / "net")
    assert bits(other) == bits(net)


def test_files_go_both_ways_with_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    from safetensors import torch as theirs

    net = network()
    peer = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    save_model(net, tmp_path / "ours")
    theirs.load_model(peer, tmp_path / "ours")
    x = np.ones((1, 3), np.float32)
    np.testing.assert_allclose(net(nm.array(x)).tolist(), peer(torch.tensor(x)).tolist(), rtol=1e-5)
    with torch.no_grad():
        peer[0].bias += 1
    theirs.save_model(peer, tmp_path / "theirs")
    load_model(net, tmp_path / "theirs")
    assert net[0].bias.tolist() == peer[0].bias.tolist()


# ------------------------------------------------------------ checkpoints


def training(seed):
    net = network(seed)
    opt = optim.Adam(net.parameters(), lr=0.05)
    schedule = optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=60)
    data = list(np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32))
    loader = DataLoader(data, 8, shuffle=True, seed=seed)
    return net, opt, schedule, loader


def epoch(net, opt, schedule, loader, stop=None):
    for number, x in enumerate(loader, 1):
        opt.zero_grad()
        noise = nm.random.default_stream.uniform((8, 1))
        ((net(x) * noise) ** 2).mean().backward()
        opt.step()
        schedule.step()
        if number == stop:
            return


def test_a_run_goes_on_bit_for_bit(tmp_path):
    net, *rest = training(0)
    epoch(net, *rest)
    epoch(net, *rest, stop=3)
    opt, schedule, loader = rest
    state = {"model": net, "optimizer": opt, "schedule": schedule, "loader": loader}
    save_checkpoint(tmp_path / "run", **state, epoch=1)
    for _ in loader:  # the place is the saved one, whatever happens later
        break
    again, *rest = training(5)
    opt, schedule, loader = rest
    state = {"model": again, "optimizer": opt, "schedule": schedule, "loader": loader}
    assert load_checkpoint(tmp_path / "run", **state) == {"epoch": 1}
    epoch(again, *rest)
    epoch(again, *rest)
    whole, *rest = training(0)
    for _ in range(3):
        epoch(whole, *rest)
    assert bits(again) == bits(whole)


def test_plain_values_keep_their_types(tmp_path):
    value = {
        "a": (1, 2.5, None, True, "text", float("inf")),
        3: [nm.array([1, 2]), {"deep": np.float32(1.5)}, []],
        "1": {1: 0.1},
    }
    save_checkpoint(tmp_path / "v", value=value)
    back = load_checkpoint(tmp_path / "v")["value"]
    assert back["a"] == value["a"]
    assert type(back["a"]) is tuple
    assert back[3][0].tolist() == [1, 2]
    assert back[3][1]["deep"].dtype == np.float32
    assert back["1"] == {1: 0.1}
    for bad in (object(), {(1,): 2}, [lambda: 0]):
        with pytest.raises(TypeError, match="save_checkpoint: value"):
            save_checkpoint(tmp_path / "v", value=bad)
    assert load_checkpoint(tmp_path / "v")["value"]["a"] == value["a"]


def test_parts_that_are_missing_and_files_of_another_kind(tmp_path):
    save_checkpoint(tmp_path / "run", model=network())
    with pytest.raises(KeyError, match="'optimizer'; it has model"):
        load_checkpoint(tmp_path / "run", optimizer=1)
    assert set(load_checkpoint(tmp_path / "run")["model"]) == set(network().state_dict())
    save_model(network(), tmp_path / "net")
    with pytest.raises(FormatError, match="not a checkpoint"):
        load_checkpoint(tmp_path / "net")
    for tree in (
        [],
        {"parts": {"a": ["value", ["array", "b"]]}, "random": [1, 2, 3]},
        {"parts": 1},
    ):
        safetensors.save_file({}, tmp_path / "bad", {"checkpoint": json.dumps(tree)})
        with pytest.raises(FormatError, match="not a checkpoint"):
            load_checkpoint(tmp_path / "bad")


def test_a_file_of_the_first_version_loads(tmp_path):
    (tmp_path / "old").write_bytes(base64.b64decode(FIRST_VERSION))
    values = load_checkpoint(tmp_path / "old")
    assert values["epoch"] == 3
    assert values["model"]["weight"].tolist() == [[1.0, 2.0]]


FIRST_VERSION = (
    "IAEAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJjaGVja3BvaW50Ijoie1wicGFydHNcIjp7XCJtb2RlbFwiOltcInN0"
    "YXRlXCIsW1wiZGljdFwiLFtbXCJ3ZWlnaHRcIixbXCJhcnJheVwiLFwibW9kZWwud2VpZ2h0XCJdXV1dXSxcImVw"
    "b2NoXCI6W1widmFsdWVcIiwzXX0sXCJyYW5kb21cIjpbMCwwLDJdfSIsIm51bWVuIjoiMSIsImNyYzMyIjoie1wi"
    "bW9kZWwud2VpZ2h0XCI6Nzc1OTIzMDYyfSJ9LCJtb2RlbC53ZWlnaHQiOnsiZHR5cGUiOiJGMzIiLCJzaGFwZSI6"
    "WzEsMl0sImRhdGFfb2Zmc2V0cyI6WzAsOF19fSAgICAAAIA/AAAAQA=="
)
"""What `save_checkpoint` of version 1 wrote."""
