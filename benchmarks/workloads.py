"""The work that is timed, once for numen and once for torch.

`CASES` lists what `bench.py` prints and what is asked. `numen_cases` and `torch_cases` give, by
case name, functions of no arguments that do the work once and return when it is done. `worker.py`
calls them in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Work = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A row of the table.

    asked: the bound, on ours / peer where `peer` is named, else on our seconds.
    """

    name: str
    text: str
    asked: float
    peer: str | None


CASES = (
    Case("add", "4x4 add", 0.9, "torch"),
    Case("chain", "ten ops on 4x4, forward and backward", 0.6, "torch"),
    Case("fused", "tanh(x*1.3+0.2)*exp(-x*x)+sqrt(abs(x)), 10 M, jit", 0.5, "torch.compile"),
    Case("mlp", "MLP 784-256-256-10 step, batch 64, Adam, jit", 1.0, "torch, fused Adam"),
    Case("rnn", "RNN of 100 steps, hidden 32, forward and backward, jit", 0.7, "torch"),
    Case("per_example", "gradients of each of 64 examples, MLP 784-256-10, jit", 0.7, "torch.func"),
    Case("call", "jit call of x*y on 4x4", 3e-6, None),
)

FUSED_ITEMS = 10_000_000
RATE = 1e-3
STEPS, SEQUENCES, HIDDEN = 100, 16, 32


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def batch() -> tuple[np.ndarray, np.ndarray]:
    """One batch of the MLP: images (64, 784) and labels (64,)."""
    return random(64, 784), np.random.default_rng(0).integers(0, 10, 64)


def perceptron() -> dict[str, np.ndarray]:
    """Weights of an MLP 784-256-10."""
    scale = np.float32(0.05)
    return {
        "w1": random(256, 784) * scale,
        "b1": random(256) * scale,
        "w2": random(10, 256) * scale,
        "b2": random(10) * scale,
    }


# ------------------------------------------------------------ numen


def numen_cases() -> dict[str, Callable[[], Work]]:
    import numen as nm

    def add() -> Work:
        x, y = nm.array(random(4, 4)), nm.array(random(4, 4) + 1)
        return lambda: x + y

    def chain() -> Work:
        x, y = nm.array(random(4, 4), requires_grad=True), nm.array(random(4, 4))

        def run() -> None:
            z = x
            for _ in range(5):
                z = z * y
                z = z + y
            z.sum().backward()
            x.grad = None

        return run

    def fused() -> Work:
        x = nm.array(random(FUSED_ITEMS))

        @nm.jit
        def f(x: Any) -> Any:
            return nm.tanh(x * 1.3 + 0.2) * nm.exp(-x * x) + nm.sqrt(nm.abs(x))

        return lambda: f(x)

    def mlp() -> Work:
        nn = nm.nn
        net = nn.Sequential(
            nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
        )
        optimizer = nm.optim.Adam(net.parameters(), lr=RATE)
        images, labels = map(nm.array, batch())

        @nm.jit
        def step(images: Any, labels: Any) -> float:
            loss = nn.functional.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss.item()

        return lambda: step(images, labels)

    def rnn() -> Work:
        net = nm.nn.RNN(HIDDEN, HIDDEN)
        x = nm.array(random(STEPS, SEQUENCES, HIDDEN))

        @nm.jit
        def step(x: Any) -> None:
            net.zero_grad()
            out, _ = net(x)
            (out * out).sum().backward()

        return lambda: step(x)

    def per_example() -> Work:
        functional = nm.nn.functional
        parameters = {name: nm.array(value) for name, value in perceptron().items()}
        images, labels = map(nm.array, batch())

        def loss(p: Any, image: Any, label: Any) -> Any:
            hidden = functional.relu(functional.linear(image, p["w1"], p["b1"]))
            logits = functional.linear(hidden, p["w2"], p["b2"])
            return functional.cross_entropy(logits[None], label[None])

        gradients = nm.jit(nm.vmap(nm.grad(loss), in_axes=(None, 0, 0)))
        return lambda: gradients(parameters, images, labels)

    def call() -> Work:
        x, y = nm.array(random(4, 4)), nm.array(random(4, 4))
        f = nm.jit(lambda x, y: x * y)
        return lambda: f(x, y)

    return {
        "add": add,
        "chain": chain,
        "fused": fused,
        "mlp": mlp,
        "rnn": rnn,
        "per_example": per_example,
        "call": call,
    }


# ------------------------------------------------------------ torch


def torch_cases(threads: int) -> dict[str, Callable[[], Work]]:
    import torch
    from torch import nn

    torch.set_num_threads(threads)
    torch.manual_seed(0)

    def add() -> Work:
        x, y = torch.tensor(random(4, 4)), torch.tensor(random(4, 4) + 1)
        return lambda: x + y

    def chain() -> Work:
        x, y = torch.tensor(random(4, 4), requires_grad=True), torch.tensor(random(4, 4))

        def run() -> None:
            z = x
            for _ in range(5):
                z = z * y
                z = z + y
            z.sum().backward()
            x.grad = None

        return run

    def fused() -> Work:
        x = torch.from_numpy(random(FUSED_ITEMS))

        def f(x: Any) -> Any:
            return torch.tanh(x * 1.3 + 0.2) * torch.exp(-x * x) + torch.sqrt(torch.abs(x))

        compiled = torch.compile(f, dynamic=False)
        return lambda: compiled(x)

    def mlp() -> Work:
        net = nn.Sequential(
            nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
        )
        optimizer = torch.optim.Adam(net.parameters(), lr=RATE, fused=True)
        images, labels = map(torch.from_numpy, batch())

        def step() -> float:
            loss = nn.functional.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            return loss.item()

        return step

    def rnn() -> Work:
        net = nn.RNN(HIDDEN, HIDDEN)
        x = torch.from_numpy(random(STEPS, SEQUENCES, HIDDEN))

        def step() -> None:
            net.zero_grad()
            out, _ = net(x)
            (out * out).sum().backward()

        return step

    def per_example() -> Work:
        functional = nn.functional
        parameters = {name: torch.from_numpy(value) for name, value in perceptron().items()}
        images, labels = map(torch.from_numpy, batch())

        def loss(p: Any, image: Any, label: Any) -> Any:
            hidden = functional.relu(functional.linear(image, p["w1"], p["b1"]))
            logits = functional.linear(hidden, p["w2"], p["b2"])
            return functional.cross_entropy(logits[None], label[None])

        gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
        return lambda: gradients(parameters, images, labels)

    return {
        "add": add,
        "chain": chain,
        "fused": fused,
        "mlp": mlp,
        "rnn": rnn,
        "per_example": per_example,
    }


def torch_eager_fused() -> Work:
    """The "fused" case where torch.compile does not work: it needs a C++ compiler."""
    import torch

    x = torch.from_numpy(random(FUSED_ITEMS))
    return lambda: torch.tanh(x * 1.3 + 0.2) * torch.exp(-x * x) + torch.sqrt(torch.abs(x))
