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
        ("AdamW", {}),
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
