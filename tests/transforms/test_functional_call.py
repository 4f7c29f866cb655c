"""functional_call and stack_module_state: networks as functions of their parameters."""

import threading

import numpy as np
import pytest

import numen as nm
from numen.nn import functional_call, stack_module_state


def network(seed=0):
    nm.manual_seed(seed)
    return nm.nn.Sequential(nm.nn.Linear(3, 4), nm.nn.Tanh(), nm.nn.Linear(4, 2)).double()


def data(*shape):
    return nm.array(np.random.default_rng(1).normal(size=shape))


def others(net, seed=5):
    rng = np.random.default_rng(seed)
    return {n: nm.array(rng.normal(size=p.shape)) for n, p in net.named_parameters()}


def close(a, b, tol=1e-12):
    values = [v.detach() if isinstance(v, nm.Array) else np.asarray(v) for v in (a, b)]
    np.testing.assert_allclose(*map(np.asarray, values), rtol=tol, atol=tol)


def by_hand(p, x):
    return nm.tanh(x @ p["0.weight"].T + p["0.bias"]) @ p["2.weight"].T + p["2.bias"]


def test_values_and_gradients_by_the_given_parameters():
    net, x = network(), data(5, 3)
    own = dict(net.named_parameters())
    new = others(net)
    close(functional_call(net, new, (x,)), by_hand(new, x))
    close(functional_call(net, new, x), by_hand(new, x))

    def loss(p):
        return (functional_call(net, p, (x,)) ** 2).sum()

    got = nm.grad(loss)(new)
    want = nm.grad(lambda p: (by_hand(p, x) ** 2).sum())(new)
    for name in new:
        close(got[name], want[name])
    close(
        nm.jvp(loss, (new,), (new,)), nm.jvp(lambda p: (by_hand(p, x) ** 2).sum(), (new,), (new,))
    )
    assert all(a is b for a, b in zip(net.parameters(), own.values(), strict=True))
    assert all(p.grad is None for p in net.parameters())
    # leaves of the user's own get their gradients
    leaves = {n: p.copy().requires_grad_() for n, p in new.items()}
    (functional_call(net, leaves, (x,)) ** 2).sum().backward()
    close(leaves["2.bias"].grad, want["2.bias"])


def test_a_part_of_the_parameters_and_keyword_arguments():
    class Scaled(nm.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nm.nn.Parameter(nm.array(2.0))
            self.register_buffer("shift", nm.array(1.0))
            self.plain = nm.array(0.5)

        def forward(self, x, times=1):
            return (x * self.factor + self.shift) * times * self.plain

    module = Scaled()
    assert functional_call(module, {"factor": nm.array(3.0)}, (1.0,)).item() == 2
    assert functional_call(module, {"shift": nm.array(0.0)}, 1.0, {"times": 2}).item() == 2
    both = ({"factor": nm.array(1.0)}, {"shift": nm.array(5.0), "plain": nm.array(1.0)})
    assert functional_call(module, both, (1.0,)).item() == 6
    assert functional_call(module, {}, (1.0,)).item() == 1.5
    assert functional_call(module, {"unknown": nm.array(1.0)}, (1.0,)).item() == 1.5
    with pytest.raises(ValueError, match="more than one"):
        functional_call(module, ({"factor": nm.array(1.0)}, {"factor": nm.array(1.0)}), (1.0,))
    with pytest.raises(RuntimeError, match=r"missing \['shift'\], unexpected \['unknown'\]"):
        functional_call(
            module, {"factor": nm.array(1.0), "unknown": nm.array(1.0)}, (1.0,), strict=True
        )
    assert functional_call(module, dict(module.state_dict()), (1.0,), strict=True).item() == 1.5
    with pytest.raises(TypeError, match="Module"):
        functional_call(lambda x: x, {}, (1.0,))
    with pytest.raises(TypeError, match="dict"):
        functional_call(module, [1], (1.0,))


def test_everything_is_restored_after_an_exception():
    class Failing(nm.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nm.nn.Linear(2, 2)

        def forward(self, x):
            assert len(list(self.parameters())) == 2  # also while others take their places
            raise KeyError("no")

    module = Failing()
    weight = module.inner.weight
    with pytest.raises(KeyError):
        functional_call(module, {"inner.weight": nm.ones((2, 2))}, (1.0,))
    assert module.inner.weight is weight
    assert "_swapped" not in vars(module.inner)
    assert [n for n, _ in module.named_parameters()] == ["inner.weight", "inner.bias"]
    assert list(module.state_dict()) == ["inner.weight", "inner.bias"]


def test_shared_parameters():
    class Tied(nm.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nm.nn.Linear(2, 2, bias=False)
            self.b = nm.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    module, x = Tied(), nm.ones(2)
    eye, two = nm.eye(2), 2 * nm.eye(2)
    close(functional_call(module, {"a.weight": two}, x), [4, 4])
    close(functional_call(module, {"b.weight": two}, x, strict=True), [4, 4])
    one = functional_call(module, {"b.weight": two}, x, tie_weights=False)
    close(
        one,
        functional_call(
            module, {"a.weight": module.a.weight, "b.weight": two}, x, tie_weights=False
        ),
    )
    with pytest.raises(ValueError, match="one parameter"):
        functional_call(module, {"a.weight": eye, "b.weight": two}, x)
    close(functional_call(module, {"a.weight": eye, "b.weight": two}, x, tie_weights=False), [2, 2])


def test_ensembles_and_gradients_of_each_example():
    models = [network(seed) for seed in range(3)]
    x = data(5, 3)
    params, buffers = stack_module_state(models)
    assert buffers == {} and params["0.weight"].shape == (3, 4, 3)
    assert all(p.requires_grad for p in params.values())

    def run(p, v):
        return functional_call(models[0], p, (v,))

    frozen = {n: p.detach() for n, p in params.items()}
    close(nm.vmap(run, (0, None))(frozen, x), nm.stack([m(x).detach() for m in models]))
    (nm.vmap(run, (0, None))(params, x) ** 2).sum().backward()
    (models[1](x) ** 2).sum().backward()
    close(params["2.weight"].grad[1], models[1][2].weight.grad)

    net, p = models[0], others(models[0])
    each = nm.vmap(nm.grad(lambda q, v: (run(q, v) ** 2).sum()), (None, 0))(p, x)
    for i in range(5):
        close(
            each["0.weight"][i],
            nm.grad(lambda q, i=i: (by_hand(q, x[i]) ** 2).sum())(p)["0.weight"],
        )
    norm = nm.nn.BatchNorm1d(3)
    assert set(stack_module_state([norm, norm])[1]) == {
        "running_mean",
        "running_var",
        "num_batches_tracked",
    }
    with pytest.raises(ValueError, match="at least one"):
        stack_module_state([])
    with pytest.raises(ValueError, match="classes"):
        stack_module_state([net, norm])
    with pytest.raises(ValueError, match="training"):
        stack_module_state([network(), network().eval()])
    with pytest.raises(ValueError, match="different parameters"):
        stack_module_state([nm.nn.Linear(2, 2), nm.nn.Linear(2, 2, bias=False)])


def test_buffers_that_are_given_are_the_ones_written():
    norm = nm.nn.BatchNorm1d(3)
    state = {n: b.copy() for n, b in norm.named_buffers()}
    functional_call(norm, state, (nm.ones((4, 3), nm.float32) * 5,))
    assert norm.running_mean.tolist() == [0, 0, 0] and norm.num_batches_tracked == 0
    assert state["running_mean"].tolist() == [0.5, 0.5, 0.5] and state["num_batches_tracked"] == 1


def test_jit_and_checkpoint():
    net, x = network(), data(5, 3)
    new = others(net)

    def loss(p, v):
        return (functional_call(net, p, (v,)) ** 2).sum()

    want = nm.grad(loss)(new, x)
    step = nm.jit(nm.grad(loss))
    for _ in range(3):
        got = step(new, x)
        for name in new:
            close(got[name], want[name])
    got = nm.grad(lambda p: nm.checkpoint(loss, p, x))(new)
    for name in new:
        close(got[name], want[name])


def test_threads_take_turns():
    net, x = network(), data(5, 3)
    settings = [others(net, seed) for seed in range(4)]
    wrong = []

    def work(new):
        for _ in range(20):
            if not np.allclose(functional_call(net, new, (x,)).numpy(), by_hand(new, x).numpy()):
                wrong.append(1)

    threads = [threading.Thread(target=work, args=(s,)) for s in settings]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_it_agrees_with_torch():
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
    ).double()
    ours, x = network(), data(5, 3)
    new = others(ours)
    theirs = {n: torch.tensor(np.asarray(p)) for n, p in new.items()}
    t = torch.tensor(np.asarray(x))
    want = torch.func.grad(lambda p: (torch.func.functional_call(net, p, (t,)) ** 2).sum())(theirs)
    got = nm.grad(lambda p: (functional_call(ours, p, (x,)) ** 2).sum())(new)
    for name in new:
        close(got[name], want[name].numpy())
