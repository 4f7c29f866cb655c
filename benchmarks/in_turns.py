"""Smaller figures in one process, both sides in turns: `python benchmarks/in_turns.py [rounds]`.

Prints the ratio of the least times: anomaly mode against none, per-example gradients, recurrent
layers, convolutions and pooling against torch (rows that need it are left out without it).
`bench.py` holds what is asked of the main cases, each side in a process of its own.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from workloads import batch, perceptron, random

import numen as nm

Work = Callable[[], Any]
Pair = tuple[str, Work, Work]


def ratio(ours: Work, other: Work, rounds: int) -> tuple[float, float]:
    """The least time of each side, called in turns after two calls that do not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for i in range(rounds + 2):
        for side, work in zip(times, (ours, other), strict=True):
            start = time.perf_counter()
            work()
            if i >= 2:
                side.append(time.perf_counter() - start)
    return min(times[0]), min(times[1])


def training_step() -> Work:
    """An eager step of an MLP 784-256-256-10 with Adam."""
    nn = nm.nn
    net = nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
    )
    optimizer = nm.optim.Adam(net.parameters(), lr=1e-3)
    images, labels = map(nm.array, batch())

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()

    return step


def anomaly() -> Iterator[Pair]:
    step = training_step()

    def watched() -> None:
        with nm.detect_anomaly():
            step()

    yield "anomaly mode / none, MLP step, eager", watched, step


def per_example() -> Iterator[Pair]:
    import torch

    def gradients(functional: Any, grad: Any, vmap: Any) -> Any:
        def loss(p: Any, image: Any, label: Any) -> Any:
            hidden = functional.relu(functional.linear(image, p["w1"], p["b1"]))
            logits = functional.linear(hidden, p["w2"], p["b2"])
            return functional.cross_entropy(logits[None], label[None])

        return vmap(grad(loss), (None, 0, 0))

    ours = gradients(nm.nn.functional, nm.grad, nm.vmap)
    fast = nm.jit(ours)
    theirs = gradients(torch.nn.functional, torch.func.grad, torch.func.vmap)
    p = {name: nm.array(value) for name, value in perceptron().items()}
    q = {name: torch.from_numpy(value) for name, value in perceptron().items()}
    x, y = map(nm.array, batch())
    s, t = map(torch.from_numpy, batch())
    yield (
        "per-example gradients, eager / torch.func",
        lambda: ours(p, x, y),
        lambda: theirs(q, s, t),
    )
    yield "per-example gradients, jit / torch.func", lambda: fast(p, x, y), lambda: theirs(q, s, t)


def layers() -> Iterator[Pair]:
    import torch

    def both(name: str, shape: tuple[int, ...], *args: Any, **kwargs: Any) -> Pair:
        ours, theirs = (
            getattr(nm.nn, name)(*args, **kwargs),
            getattr(torch.nn, name)(*args, **kwargs),
        )
        data = random(*shape)
        x, t = nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)

        def run(net: Any, x: Any) -> None:
            out = net(x)
            out = out[0] if isinstance(out, tuple) else out
            (out * out).sum().backward()
            x.grad = None

        text = f"{name}{args}{kwargs or ''} on {shape}, forward and backward, eager / torch"
        return text, lambda: run(ours, x), lambda: run(theirs, t)

    for name in ("RNN", "LSTM", "GRU"):
        yield both(name, (100, 16, 32), 32, 32)
    yield both("Conv2d", (50, 1, 28, 28), 1, 12, 5, padding=2)
    yield both("Conv2d", (50, 12, 14, 14), 12, 24, 5, padding=2)
    yield both("Conv2d", (16, 64, 28, 28), 64, 64, 3, padding=1, groups=64)
    yield both("MaxPool2d", (16, 64, 28, 28), 2)


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    families = [anomaly]
    if importlib.util.find_spec("torch") is not None:
        families += [per_example, layers]
    for family in families:
        for text, ours, other in family():
            a, b = ratio(ours, other, rounds)
            print(f"{a / b:6.2f}  {a * 1e3:8.2f} ms {b * 1e3:8.2f} ms  {text}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
