"""Optimisers against PyTorch, closed forms, and their own saved state."""

import copy
import pickle

import numpy as np
import pytest

import numen as nm
from numen import nn, optim

START = [[0.5, -1.0, 2.0], [1.5, 0.0, -0.25]]
SETTINGS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.02, "weight_decay": 0.3}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.4, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.02, "momentum": 0.5, "maximize": True}),
    ("Adam", {"lr": 0.05, "amsgrad": True}),
    ("AdamW", {"lr": 0.05, "amsgrad": True, "maximize": True}),
    ("RMSprop", {"lr": 0.02}),
    ("RMSprop", {"lr": 0.02, "momentum": 0.7, "centered": True, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.02, "alpha": 0.8, "centered": True, "eps": 1e-4, "maximize": True}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3, "maximize": True}),
]
MORE_SETTINGS = [*SETTINGS, ("Lion", {"lr": 0.01}), ("Lion", {"lr": 0.01, "weight_decay": 0.3})]


def gradient(i, shape):
    """The gradient of step i, of changing sign and size."""
    return np.random.default_rng(i).standard_normal(shape).astype(np.float32) * (1 + i % 7)


@pytest.mark.parametrize(("name", "options"), SETTINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fifty_steps_agree_with_pytorch(name, options, dtype):
    torch = pytest.importorskip("torch")
    ours = [
        nm.array(START, dtype=dtype, requires_grad=True),
        nm.array(0.5, dtype=dtype, requires_grad=True),
    ]
    theirs = [
        torch.tensor(p.tolist(), dtype=getattr(torch, dtype), requires_grad=True) for p in ours
    ]
    a, b = getattr(optim, name)(ours, **options), getattr(torch.optim, name)(theirs, **options)
    for i in range(50):
        for j, (p, q) in enumerate(zip(ours, theirs, strict=True)):
            if i == 20 and j == 1:
                p.grad = q.grad = None  # one parameter rests once
                continue
            g = gradient(100 * j + i, p.shape)
            p.grad, q.grad = nm.array(g, dtype=dtype), torch.tensor(g, dtype=getattr(torch, dtype))
        if i == 30:
            a.lr = 0.03
            b.param_groups[0]["lr"] = 0.03
        a.step()
        b.step()
    for p, q in zip(ours, theirs, strict=True):
        assert p.dtype == dtype
        np.testing.assert_allclose(
            p.tolist(), q.tolist(), rtol=2e-6 if dtype == "float32" else 1e-12, atol=2e-6
        )


def run(p, opt, gradients):
    for g in gradients:
        p.grad = g
        opt.step()


def test_closed_forms():
    p = nm.array([1.0], requires_grad=True)
    run(p, optim.SGD([p], lr=0.1, momentum=0.5), [[1.0], [1.0]])
    np.testing.assert_allclose(p.tolist(), [1 - 0.1 - 0.15])
    p = nm.array([1.0], requires_grad=True)
    run(p, optim.SGD([p], lr=0.1, weight_decay=0.5), [[0.0]])
    np.testing.assert_allclose(p.tolist(), [0.95])
    p = nm.array([1.0], requires_grad=True)
    run(p, optim.SGD([p], lr=0.1, momentum=0.5, nesterov=True), [[1.0]])
    np.testing.assert_allclose(p.tolist(), [1 - 0.15])


def test_adamw_decays_before_the_step():
    p = nm.array([1.0], requires_grad=True)
    opt = optim.AdamW([p], lr=0.1, weight_decay=0.1)
    run(p, opt, [[1.0]])
    np.testing.assert_allclose(p.tolist(), [0.890000001], rtol=1e-12)
    run(p, opt, [[-2.0], [0.5]])
    np.testing.assert_allclose(p.tolist(), [0.9222023161292], rtol=1e-12)
    still = nm.array([1.0], requires_grad=True)
    optim.AdamW([still, p], lr=0.1, weight_decay=0.1).step()
    assert still.tolist() == [1]
    p = nm.array([1.0], requires_grad=True)
    run(p, optim.Adam([p], lr=0.1, weight_decay=0.1), [[1.0]])
    np.testing.assert_allclose(p.tolist(), [0.9], rtol=1e-8)


def test_lion_by_hand():
    p = nm.array([1.0, -1.0, 0.5], requires_grad=True)
    opt = optim.Lion([p], lr=0.1, betas=(0.5, 0.8), weight_decay=0.5)
    run(p, opt, [[2.0, -3.0, 0.0]])
    # Shrunk by 5 %, then 0.1 against the sign; the mean keeps a fifth of the gradient.
    np.testing.assert_allclose(p.tolist(), [0.85, -0.85, 0.475])
    np.testing.assert_allclose(opt.state[0]["exp_avg"].tolist(), [0.4, -0.6, 0])
    run(p, opt, [[-0.1, 1.0, 1.0]])  # direction: signs of 0.15, 0.2, 0.5
    np.testing.assert_allclose(p.tolist(), [0.85 * 0.95 - 0.1, -0.85 * 0.95 - 0.1, 0.35125])


def test_a_closure_is_evaluated_with_gradients_and_its_loss_returned():
    p = nm.array([3.0], requires_grad=True)
    opt = optim.SGD([p], lr=0.25)

    def closure():
        opt.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with nm.no_grad():
        assert float(opt.step(closure)) == 9.0
    assert p.tolist() == [1.5]
    assert opt.step() is None


@pytest.mark.parametrize(("name", "options"), MORE_SETTINGS)
def test_without_a_gradient_nothing_moves(name, options):
    p, q = nm.array([1.0], requires_grad=True), nm.array([1.0], requires_grad=True)
    opt = getattr(optim, name)([p, q], **options)
    run(p, opt, [[1.0], [0.5]])
    assert q.tolist() == [1.0]
    assert p.tolist() != [1.0]
    assert all(not nm.any(v) or v[()] == 1.0 or k == "sum" for k, v in opt.state[1].items())


@pytest.mark.parametrize(("name", "options"), MORE_SETTINGS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_small_floats_keep_their_dtype_and_have_their_state_in_float32(name, options, dtype):
    p = nm.array([1.0, 2.0], dtype=getattr(nm, dtype), requires_grad=True)
    opt = getattr(optim, name)([p], **options)
    run(p, opt, [nm.array([1.0, -1.0], dtype=p.dtype)] * 2)
    assert p.dtype == getattr(nm, dtype)
    kept = [v for v in opt.state[0].values() if v.ndim]
    assert all(v.dtype == np.float32 for v in kept)
    sign = -1 if options.get("maximize") else 1
    assert sign * float(p[0]) < sign * 1.0


def test_a_state_dict_with_rested_parameters_loads():
    p, q = nm.array([1.0], requires_grad=True), nm.array([1.0], requires_grad=True)
    opt = optim.Adam([p, q], lr=0.1)
    run(p, opt, [[1.0], [1.0]])
    saved = opt.state_dict()
    del saved["state"][1]  # as PyTorch leaves out what has made no step
    opt.load_state_dict(saved)
    assert [float(s["step"]) for s in opt.state.values()] == [2, 0]
    bare = optim.SGD([p], lr=0.1, momentum=0.9)
    bare.load_state_dict(
        {"state": {0: {"momentum_buffer": None}}, "param_groups": [{"params": [0], "lr": 0.5}]}
    )
    assert (bare.lr, bare.state[0]["momentum_buffer"].tolist()) == (0.5, [0.0])


def training(options=None, kind="Adam"):
    nm.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    opt = getattr(optim, kind)(net.parameters(), **(options or {"lr": 0.05}))
    return net, opt


def steps(net, opt, count, start=0):
    for i in range(start, start + count):
        x = nm.array(gradient(i, (5, 3)))
        loss = nn.functional.cross_entropy(net(x), nm.array([0, 1, 1, 0, 1]))
        opt.zero_grad()
        loss.backward()
        opt.step()


def bits(net):
    return [p.detach().numpy().tobytes() for p in net.parameters()]


@pytest.mark.parametrize(("name", "options"), MORE_SETTINGS)
def test_saved_state_goes_on_bit_for_bit(name, options):
    net, opt = training(options, name)
    steps(net, opt, 3)
    saved = pickle.loads(pickle.dumps((net.state_dict(), opt.state_dict())))
    steps(net, opt, 3, start=3)
    other, fresh = training({**options, "lr": 0.9}, name)
    other.load_state_dict(saved[0])
    fresh.load_state_dict(saved[1])
    assert fresh.lr == options["lr"]
    steps(other, fresh, 3, start=3)
    assert bits(other) == bits(net)


def test_state_dicts_are_pytorch_s():
    torch = pytest.importorskip("torch")
    net, opt = training()
    steps(net, opt, 2)
    state = opt.state_dict()
    assert state["param_groups"][0]["params"] == [0, 1, 2, 3]
    assert {"step", "exp_avg", "exp_avg_sq"} <= set(state["state"][0])
    assert float(state["state"][3]["step"]) == 2
    theirs = [torch.tensor(p.detach().numpy(), requires_grad=True) for p in net.parameters()]
    peer = torch.optim.Adam(theirs, lr=0.05)
    for i in range(2):
        for p in theirs:
            p.grad = torch.tensor(gradient(i, tuple(p.shape)))
        peer.step()
    _, fresh = training()
    converted = {
        i: {k: v.numpy() for k, v in arrays.items()}
        for i, arrays in peer.state_dict()["state"].items()
    }
    fresh.load_state_dict(
        {"state": converted, "param_groups": [{"lr": 0.05, "params": [0, 1, 2, 3]}]}
    )
    np.testing.assert_allclose(float(fresh.state[0]["beta1_power"]), 0.81)
    assert fresh.state[0]["exp_avg"].tolist() == peer.state[theirs[0]]["exp_avg"].tolist()


def test_state_that_does_not_fit_changes_nothing():
    net, opt = training()
    steps(net, opt, 1)
    before = opt.state_dict()
    for spoil in (
        lambda s: s["param_groups"][0]["params"].pop(),
        lambda s: s["state"][2].pop("exp_avg"),
        lambda s: s["state"][2].update(exp_avg=np.zeros((9, 9))),
    ):
        broken = copy.deepcopy(opt.state_dict())
        for arrays in broken["state"].values():
            arrays["step"] = nm.array(77.0)
        broken["param_groups"][0]["lr"] = 9.0
        spoil(broken)
        with pytest.raises(ValueError, match="load_state_dict"):
            opt.load_state_dict(broken)
        assert opt.lr == 0.05
        assert float(opt.state[0]["step"]) == float(before["state"][0]["step"])


def test_saved_state_is_a_copy():
    net, opt = training()
    saved = opt.state_dict()
    steps(net, opt, 1)
    assert float(saved["state"][0]["step"]) == 0


def test_clocks_are_shared_until_a_parameter_rests():
    a, b, c = (nm.array([1.0], requires_grad=True) for _ in range(3))
    opt = optim.Adam([a, b, c], lr=0.1)
    assert opt.state[0]["step"] is opt.state[2]["step"]
    for p in (a, b):
        p.grad = [1.0]
    opt.step()
    assert [float(opt.state[i]["step"]) for i in range(3)] == [1, 1, 0]
    assert opt.state[0]["step"] is opt.state[1]["step"]
    c.grad = [1.0]
    opt.step()
    assert [float(opt.state[i]["step"]) for i in range(3)] == [2, 2, 1]
    assert a.tolist() == b.tolist()


def test_groups():
    a, b = nm.ones(2), nm.ones(2)
    a.requires_grad_()
    b.requires_grad_()
    opt = optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.1)
    a.grad, b.grad = [1.0, 1.0], [1.0, 1.0]
    opt.step()
    assert a.tolist() == [0.9, 0.9]
    assert b.tolist() == [0, 0]
    assert opt.lr == 0.1
    opt.lr = 0.5
    assert [g["lr"] for g in opt.param_groups] == [0.5, 0.5]
    opt.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0, 0]
    opt.zero_grad()
    assert a.grad is None
    assert "Parameter Group 1" in repr(opt)


def test_updates_are_in_place_and_leave_no_graph():
    net, opt = training()
    before = [p.detach().numpy() for p in net.parameters()]
    steps(net, opt, 1)
    for p, data in zip(net.parameters(), before, strict=True):
        assert np.shares_memory(p.detach().numpy(), data)
        assert p.is_leaf
    assert not any(array.requires_grad for state in opt.state.values() for array in state.values())


def test_bad_arguments():
    p = nm.array([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="empty"):
        optim.SGD([], lr=0.1)
    with pytest.raises(TypeError, match="Array"):
        optim.SGD([np.ones(1)], lr=0.1)
    with pytest.raises(ValueError, match="more than once"):
        optim.SGD([p, p], lr=0.1)
    with pytest.raises(ValueError, match="detach"):
        optim.SGD([p * 2], lr=0.1)
    with pytest.raises(ValueError, match="lr"):
        optim.SGD([p], lr=-1)
    with pytest.raises(ValueError, match="nesterov"):
        optim.SGD([p], lr=1, nesterov=True)
    with pytest.raises(ValueError, match="betas"):
        optim.Adam([p], betas=(1.0, 0.9))
    with pytest.raises(ValueError, match="eps"):
        optim.Adam([p], eps=-1)
    with pytest.raises(ValueError, match="lr"):
        optim.SGD([p], lr=float("nan"))
    with pytest.raises(ValueError, match="dampening"):
        optim.SGD([p], lr=1, nesterov=True, momentum=0.9, dampening=0.1)
    with pytest.raises(ValueError, match="alpha"):
        optim.RMSprop([p], alpha=-1)
    with pytest.raises(ValueError, match="lr_decay"):
        optim.Adagrad([p], lr_decay=-1)
    with pytest.raises(ValueError, match="initial_accumulator_value"):
        optim.Adagrad([p], initial_accumulator_value=-1)
    with pytest.raises(ValueError, match="betas"):
        optim.Lion([p], betas=(0.9,))


@pytest.mark.parametrize(("name", "options"), MORE_SETTINGS)
def test_parameters_on_another_device_take_their_state_with_them(name, options):
    data = np.array(START, np.float32)
    host, other = nm.array(data), nm.array(data).to_device("strict")
    for p in (host, other):
        p.requires_grad_()
        opt = getattr(optim, name)([p], **options)
        for i in range(3):
            p.grad = nm.array(gradient(i, p.shape)).to_device(p.device)
            nn.utils.clip_grad_norm_([p], 2.0)
            if i == 1:
                opt.load_state_dict(opt.state_dict())
            opt.step()
        assert all(v.device == p.device for v in opt.state[0].values() if v.ndim)
    assert other.detach().to_device("cpu").tolist() == host.tolist()
