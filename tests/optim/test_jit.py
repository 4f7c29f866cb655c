"""Training steps under jit have the bits of eager kernels, for every optimiser."""

import numpy as np
import pytest

import numen as nm
from numen import nn, optim

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 8, 4)).astype(np.float32)
Y = RNG.integers(0, 3, (6, 8))


def training(name, options):
    nm.manual_seed(2)
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    opt = getattr(optim, name)(net.parameters(), **options)

    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()

    return net, opt, step


def run(step, opt):
    losses = []
    for i in range(6):
        opt.lr = 0.1 / (i + 1)
        losses.append(step(nm.array(X[i]), nm.array(Y[i])))
    return losses


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        ("Adam", {"weight_decay": 0.01}),
        ("AdamW", {"amsgrad": True}),
        ("SGD", {"momentum": 0.9, "dampening": 0.1, "maximize": True}),
        ("RMSprop", {"centered": True, "momentum": 0.5}),
        ("Adagrad", {"lr_decay": 0.1}),
        ("Lion", {"weight_decay": 0.1}),
    ],
)
def test_steps_under_jit_have_the_bits_of_eager_kernels(name, options):
    net, opt, step = training(name, options)
    with nm.config(engine="kernels"):
        expected = run(step, opt)
    jitted, other, plain = training(name, options)
    compiled = nm.jit(plain)
    assert run(compiled, other) == expected
    assert "0 eager" in str(nm.explain(compiled))
    for p, q in zip(net.parameters(), jitted.parameters(), strict=True):
        assert p.detach().numpy().tobytes() == q.detach().numpy().tobytes()
    for i, arrays in opt.state.items():
        for key, array in arrays.items():
            assert array.numpy().tobytes() == other.state[i][key].numpy().tobytes(), (i, key)


def test_a_replayed_loss_refuses_labels_out_of_range():
    _, _, step = training("SGD", {"lr": 0.1})
    compiled = nm.jit(step)
    for _ in range(3):
        compiled(nm.array(X[0]), nm.array(Y[0]))
    for label in (-1, -3, 3):
        labels = nm.array(Y[0])
        labels[2] = label
        with pytest.raises(IndexError, match=f"label {label}"):
            compiled(nm.array(X[0]), labels)
    compiled(nm.array(X[0]), nm.array(Y[0]))


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Lion"])
def test_a_new_rate_at_each_step_compiles_nothing_anew(name):
    _, opt, step = training(name, {})
    compiled = nm.jit(step)
    schedule = optim.lr_scheduler.ExponentialLR(opt, 0.99)

    def go(count):
        before = nm.profile.counters()
        for i in range(count):
            compiled(nm.array(X[i % 6]), nm.array(Y[i % 6]))
            schedule.step()
        after = nm.profile.counters()
        return after.get("jit_traces", 0) - before.get("jit_traces", 0)

    assert go(8) <= 4
    assert go(30) == 0
    assert "0 eager" in str(nm.explain(compiled))


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_cycled_momentum_compiles(name):
    _, opt, step = training(name, {"momentum": 0.9} if name == "SGD" else {})
    compiled = nm.jit(step)
    schedule = optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=60)
    _, plain_opt, plain = training(name, {"momentum": 0.9} if name == "SGD" else {})
    other = optim.lr_scheduler.OneCycleLR(plain_opt, 0.1, total_steps=60)
    for i in range(20):
        if i == 8:
            traces = nm.profile.counters()["jit_traces"]
        loss = compiled(nm.array(X[i % 6]), nm.array(Y[i % 6]))
        schedule.step()
        with nm.config(engine="kernels"):
            assert plain(nm.array(X[i % 6]), nm.array(Y[i % 6])) == loss
        other.step()
    assert nm.profile.counters()["jit_traces"] == traces
    assert "0 eager" in str(nm.explain(compiled))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}),
        ("AdamW", {"amsgrad": True}),
        ("RMSprop", {"centered": True, "momentum": 0.5}),
        ("Adagrad", {"lr_decay": 0.1}),
        ("Lion", {"weight_decay": 0.1}),
    ],
)
def test_a_float32_step_computes_nothing_of_the_parameter_s_size_in_float64(name, options):
    p = nm.array(np.ones(3, np.float32), requires_grad=True)
    opt = getattr(optim, name)([p], **options)

    @nm.jit
    def step(x):
        opt.zero_grad()
        (p * x).sum().backward()
        nm.nn.utils.clip_grad_norm_([p], 1.0)
        opt.step()

    for _ in range(3):
        step(nm.ones(3, nm.float32))
    text = str(nm.explain(step, stages=True))
    assert "float32[3]" in text
    assert "float64[3]" not in text
    assert "float64[1]" not in text
