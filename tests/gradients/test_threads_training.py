"""Sixteen threads share one model: results are those of one thread, gradients add up, modes stay
per thread."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import numen as nm

THREADS, EACH = 16, 500


def network():
    nm.manual_seed(0)
    return nm.nn.Sequential(
        nm.nn.Linear(6, 16), nm.nn.ReLU(), nm.nn.Dropout(0.5), nm.nn.Linear(16, 4)
    ).eval()


def in_threads(work, count=THREADS):
    """Run work(0), work(1) ... at once, from one starting line; their results in order."""
    line = threading.Barrier(count)

    def run(i):
        line.wait()
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return [future.result(timeout=60) for future in [pool.submit(run, i) for i in range(count)]]


def inputs(i, count=EACH):
    return np.random.default_rng(i).standard_normal((count, 3, 6)).astype(np.float32)


def test_forward_and_backward_are_those_of_one_thread():
    net = network()

    def work(i):
        """The loss and the gradient of the input, for each of 500 inputs."""
        found = []
        for rows in inputs(i):
            x = nm.array(rows)
            value, slope = nm.value_and_grad(lambda v: (net(v) ** 2).sum())(x)
            found.append((value.detach().numpy().tobytes(), slope.detach().numpy().tobytes()))
        return found

    together = in_threads(work)
    for i in (0, 5, 10, 15):
        assert together[i] == work(i)
    assert len({loss for results in together for loss, _ in results}) > 0.9 * THREADS * EACH


def test_gradients_of_shared_parameters_add_up():
    net = network()
    parameters = list(net.parameters())
    count = 60

    def work(i):
        for rows in inputs(i, count):
            # whole numbers: sums are exact in any order, so that a lost update would show
            x = nm.array(np.rint(rows * 2))
            (net(x).round().sum() * 0 + sum(p.sum() for p in parameters) * x.sum()).backward()

    in_threads(work)
    total = sum(np.rint(inputs(i, count) * 2).sum(dtype=np.float64) for i in range(THREADS))
    for p in parameters:
        np.testing.assert_array_equal(p.grad.numpy(), np.full(p.shape, total, np.float32))


def test_gradients_of_a_loss_add_up():
    net = network()
    count = 20

    def work(i):
        for rows in inputs(i, count):
            (net(nm.array(rows)) ** 2).sum().backward()

    in_threads(work)
    together = [p.grad.numpy().copy() for p in net.parameters()]
    net.zero_grad()
    for i in range(THREADS):
        work(i)
    for ours, p in zip(together, net.parameters(), strict=True):
        np.testing.assert_allclose(ours, p.grad.numpy(), rtol=1e-4, atol=1e-4)


def test_modes_are_per_thread():
    net = network()
    x = nm.array(inputs(0, 1)[0])

    def work(i):
        for _ in range(200):
            if i % 2:
                with nm.no_grad():
                    assert not net(x).requires_grad
            else:
                assert net(x).requires_grad
        return True

    assert all(in_threads(work))


def test_an_engine_is_per_thread():
    def work(i):
        for _ in range(50):
            with nm.config(engine=["numpy", "kernels"][i % 2]):
                assert nm.config.engine == ["numpy", "kernels"][i % 2]
        return nm.config.engine

    assert set(in_threads(work, 8)) == {"auto"}


@pytest.mark.parametrize("training", [False, True])
def test_a_first_call_raced_by_eight_threads(training):
    net = network()
    xs = inputs(1, 8)

    @nm.jit
    def run(x):
        if not training:
            return net(x)
        return nm.grad(lambda v: (net(v) ** 2).sum())(x)

    def work(i):
        return [run(nm.array(xs[i])).detach().numpy().tobytes() for _ in range(5)]

    found = in_threads(work, 8)
    explained = nm.explain(run)
    assert explained.eager == 0
    with nm.config(engine="kernels"):
        for i, results in enumerate(found):
            x = nm.array(xs[i])
            eager = net(x) if not training else nm.grad(lambda v: (net(v) ** 2).sum())(x)
            assert set(results) == {eager.detach().numpy().tobytes()}


def test_a_jitted_training_step_of_each_thread():
    """Eight models, eight optimisers, one time: each ends where it ends alone."""

    def work(i):
        net = nm.nn.Linear(6, 2)
        nm.nn.init.constant_(net.weight, 0.1)
        nm.nn.init.zeros_(net.bias)
        optimizer = nm.optim.Adam(net.parameters(), lr=0.05)

        @nm.jit
        def step(x, y):
            optimizer.zero_grad()
            loss = nm.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss.item()

        y = nm.array([0, 1, 1])
        losses = [step(nm.array(rows), y) for rows in inputs(i, 20)]
        return losses, net.weight.detach().numpy().tobytes()

    assert in_threads(work, 8) == [work(i) for i in range(8)]
