"""Optimisers and clipping of complex parameters: each part is a number of its own."""

import numpy as np
import pytest

import numen as nm
from numen import optim
from numen.nn import utils

START = np.array([[1 + 2j, -0.5j, 3.0], [0.25 - 1j, 2j, -1 - 1j]])
TARGET = np.array([[1 - 1j, 2.0, 0.5j], [1.0, 1j, 3 - 2j]])
SETTINGS = [
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.05, "amsgrad": True}),
    ("RMSprop", {"lr": 0.02, "momentum": 0.7, "centered": True}),
    ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.5}),
    ("Lion", {"lr": 0.05, "weight_decay": 0.1}),
]


def distance(p, target):
    return (nm.abs(p - target) ** 2).sum()


def descend(parameter, options, name, steps=4):
    opt = getattr(optim, name)([parameter], **options)
    for _ in range(steps):
        opt.zero_grad()
        if parameter.dtype.kind == "c":
            distance(parameter, nm.array(TARGET).reshape(parameter.shape)).backward()
        else:
            target = nm.array(TARGET.view(float)).reshape(parameter.shape)
            ((parameter - target) ** 2).sum().backward()
        opt.step()
    return parameter.detach().numpy()


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_steps_are_those_of_the_parts(name, options):
    z = descend(nm.array(START, requires_grad=True), options, name)
    parts = descend(nm.array(START.view(float), requires_grad=True), options, name)
    np.testing.assert_allclose(z.view(float), parts, rtol=1e-13)


@pytest.mark.parametrize(("name", "options"), SETTINGS[:-1])
def test_steps_are_pytorchs(name, options):
    torch = pytest.importorskip("torch")
    found = descend(nm.array(START, requires_grad=True), options, name)
    p = torch.tensor(START, requires_grad=True)
    opt = getattr(torch.optim, name)([p], **options)
    for _ in range(4):
        opt.zero_grad()
        ((p - torch.tensor(TARGET)).abs() ** 2).sum().backward()
        opt.step()
    np.testing.assert_allclose(found, p.detach().numpy(), rtol=1e-10)


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_compiled_steps_are_the_eager_ones(name, options):
    results = []
    for compiled in (False, True):
        p = nm.array(START, requires_grad=True)
        opt = getattr(optim, name)([p], **options)

        def step(target, p=p, opt=opt):
            opt.zero_grad()
            loss = distance(p, target)
            loss.backward()
            opt.step()
            return loss

        run = nm.jit(step) if compiled else step
        with nm.config(engine="kernels"):
            losses = [float(run(nm.array(TARGET * k))) for k in (1, 2, 3, 4)]
        results.append((losses, p.tolist()))
    assert results[0] == results[1]


def test_a_single_complex_number():
    z = nm.array(1 + 2j, requires_grad=True)
    opt = optim.Adam([z], lr=0.1)
    (nm.abs(z) ** 2).backward()
    opt.step()
    np.testing.assert_allclose(z.item(), 0.9 + 1.9j, rtol=1e-7)


def test_clipping():
    z = nm.array([0j, 0j], requires_grad=True)
    z.grad = nm.array([3 + 4j, 12j])
    x = nm.array([0.0], requires_grad=True)
    x.grad = nm.array([84.0])
    norm = utils.clip_grad_norm_([z, x], 8.5)
    assert norm.dtype == np.float64
    assert float(norm) == 85.0
    np.testing.assert_allclose(z.grad.numpy(), [0.3 + 0.4j, 1.2j], rtol=1e-6)
    z.grad = nm.array([3 + 4j, -12j])
    utils.clip_grad_value_([z], 3.5)
    assert z.grad.tolist() == [3 + 3.5j, -3.5j]
