"""Normalisation: formulas, running statistics, one value a channel, jit, PyTorch's results."""

import numpy as np
import pytest
from against_torch import compare_function, compare_layer

import numen as nm
from numen.errors import DTypeError, ShapeError
from numen.nn import functional as F  # noqa: N812
from tolerances import assert_close

RNG = np.random.default_rng(0)


def formula(x, axis, eps=1e-5):
    mean = x.mean(axis, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis, keepdims=True) + eps)


def test_values_are_the_formulas():
    x = RNG.standard_normal((4, 6, 5))
    assert_close(F.layer_norm(nm.array(x), (6, 5)).numpy(), formula(x, (1, 2)))
    assert_close(F.instance_norm(nm.array(x)).numpy(), formula(x, (2,)))
    assert_close(F.batch_norm(nm.array(x), None, None, training=True).numpy(), formula(x, (0, 2)))
    groups = formula(x.reshape(4, 2, 15), (2,)).reshape(x.shape)
    assert_close(F.group_norm(nm.array(x), 2).numpy(), groups)
    root = np.sqrt((x * x).mean(2, keepdims=True) + 1e-6)
    assert_close(F.rms_norm(nm.array(x), 5, eps=1e-6).numpy(), x / root)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_both_ways_to_normalise_agree(dtype):
    """One row for plain small arrays; other rows where kernels are asked for."""
    data = RNG.standard_normal((3, 4, 5)).astype(dtype)
    results = []
    for engine in ("auto", "kernels"):
        with nm.config(engine=engine):
            x = nm.array(data, requires_grad=True)
            out = F.layer_norm(x, 5)
            (out * nm.array(data) ** 2).sum().backward()
            results.append((out.detach().numpy(), x.grad.numpy()))
    for a, b in zip(*results, strict=True):
        assert_close(a, b, 4)


def test_small_floats_are_computed_in_float32():
    x = nm.array(RNG.standard_normal((2, 256)) + 100, dtype=nm.bfloat16)
    out = F.layer_norm(x, 256)
    assert out.dtype == nm.bfloat16
    expected = formula(x.astype("float64").numpy(), (1,))
    np.testing.assert_allclose(out.astype("float64").numpy(), expected, rtol=1e-2, atol=1e-2)


def test_running_statistics_divide_by_one_less():
    layer = nm.nn.BatchNorm1d(2, momentum=0.5, dtype=nm.float64)
    x = nm.array([[1.0, 2.0], [3.0, 6.0], [5.0, 10.0]])
    held = layer.running_mean
    out = layer(x)
    assert layer.running_mean is held
    assert held.tolist() == [1.5, 3.0]
    assert layer.running_var.tolist() == [0.5 + 0.5 * 4, 0.5 + 0.5 * 16]  # 1/(m - 1)
    np.testing.assert_allclose(out.detach().numpy(), formula(x.numpy(), (0,)))  # 1/m
    assert layer.num_batches_tracked.item() == 1
    layer.reset_running_stats()
    assert layer.running_var.tolist() == [1, 1]
    assert layer.num_batches_tracked.item() == 0


def test_without_momentum_all_batches_weigh_alike():
    layer = nm.nn.BatchNorm1d(1, momentum=None, dtype=nm.float64)
    batches = RNG.standard_normal((4, 5, 1))
    for batch in batches:
        layer(nm.array(batch))
    np.testing.assert_allclose(layer.running_mean.numpy()[0], batches.mean())
    np.testing.assert_allclose(layer.running_var.numpy()[0], batches.var(1, ddof=1).mean())


def test_one_value_a_channel_is_refused_and_spoils_nothing():
    layer = nm.nn.BatchNorm1d(3)
    layer(nm.ones((4, 3)))
    before = [b.tolist() for b in layer.buffers()]
    with pytest.raises(ValueError, match=r"more than 1 value per channel.*\(1, 3\)"):
        layer(nm.ones((1, 3)))
    assert [b.tolist() for b in layer.buffers()] == before
    assert nm.nn.BatchNorm2d(3)(nm.ones((1, 3, 1, 4))).shape == (1, 3, 1, 4)
    layer.eval()
    assert layer(nm.ones((1, 3))).shape == (1, 3)
    assert [b.tolist() for b in layer.buffers()] == before
    with pytest.raises(ValueError, match="more than 1"):
        nm.nn.InstanceNorm1d(3)(nm.ones((2, 3, 1)))


def test_statistics_under_jit_are_those_of_eager_kernels():
    data = RNG.standard_normal((6, 4, 3, 5)).astype(np.float32)

    def run(jitted):
        layer = nm.nn.BatchNorm2d(3)
        opt = nm.optim.SGD(layer.parameters(), lr=0.1)

        def step(x):
            opt.zero_grad()
            loss = (layer(x) ** 2 * x).sum()
            loss.backward()
            opt.step()
            return loss

        function = nm.jit(step) if jitted else step
        losses = [function(nm.array(x.reshape(4, 3, 5, 1))).item() for x in data]
        if jitted:
            assert "0 eager" in str(nm.explain(function))
        return losses, {k: v.tolist() for k, v in layer.state_dict().items()}

    with nm.config(engine="kernels"):
        expected = run(False)
    assert run(True) == expected
    assert expected[1]["num_batches_tracked"] == 6


def test_large_values_do_not_spoil_the_variance():
    x = nm.array([[1e4, 1e4 + 1, 1e4 + 2]], nm.float32)
    np.testing.assert_allclose(F.layer_norm(x, 3).numpy(), [[-1.2247, 0, 1.2247]], atol=1e-3)


def test_no_float64_in_a_float32_layer():
    net = nm.nn.Sequential(nm.nn.BatchNorm1d(4), nm.nn.LayerNorm(4), nm.nn.GroupNorm(2, 4))
    with nm.config(engine="kernels"):
        out = net(nm.array(RNG.standard_normal((5, 4)))).sum()
    nodes, stack = set(), [out._n]
    while stack:
        node = stack.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            stack.extend(getattr(node, "parents", ()))
    assert {n.dtype for n in nodes} == {np.dtype("float32")}
    assert all(b.dtype in ("float32", "int64") for b in net.buffers())


def test_unit_length_without_overflow_and_at_zero():
    x = nm.array([[3e30, 4e30], [0.0, 0.0]], nm.float32, requires_grad=True)
    out = F.normalize(x)
    np.testing.assert_allclose(out.detach().numpy(), [[0.6, 0.8], [0, 0]], rtol=1e-6)
    (out * nm.array([[0.0, 0.0], [1.0, 1.0]], nm.float32)).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.layer_norm(nm.ones((2, 3)), 2), ShapeError),
        (lambda: F.layer_norm(nm.ones((2, 3)), 3, nm.ones(2)), ShapeError),
        (lambda: F.layer_norm(nm.ones((2, 3), "int64"), 3), DTypeError),
        (lambda: F.rms_norm(nm.ones((2, 3)), (3, 2)), ShapeError),
        (lambda: F.group_norm(nm.ones((2, 3)), 2), ShapeError),
        (lambda: F.group_norm(nm.ones((2, 4)), 2, nm.ones(3)), ShapeError),
        (lambda: F.batch_norm(nm.ones(3), None, None, training=True), ShapeError),
        (lambda: F.batch_norm(nm.ones((2, 3)), None, None), ValueError),
        (lambda: F.batch_norm(nm.ones((2, 3)), nm.ones(2), nm.ones(2)), ShapeError),
        (lambda: F.instance_norm(nm.ones((2, 3))), ShapeError),
        (lambda: F.instance_norm(nm.ones((2, 3, 4)), use_input_stats=False), ValueError),
        (lambda: F.local_response_norm(nm.ones((2, 3)), 2), ShapeError),
        (lambda: nm.nn.BatchNorm1d(3)(nm.ones((2, 4))), ShapeError),
        (lambda: nm.nn.BatchNorm2d(3)(nm.ones((2, 3, 4))), ShapeError),
        (lambda: nm.nn.InstanceNorm2d(3, affine=True)(nm.ones((2, 4, 3, 3))), ShapeError),
        (lambda: nm.nn.GroupNorm(2, 3), ValueError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


def test_functions_match_pytorch():
    pytest.importorskip("torch")
    shape = (4, 6, 5)
    compare_function("layer_norm", shape, [6, 5])
    compare_function("rms_norm", shape, [5])
    compare_function("group_norm", shape, 3, (6,), (6,))
    compare_function("instance_norm", shape)
    compare_function("batch_norm", shape, None, None, (6,), (6,), training=True)
    for p in (1.0, 2.0, 3.0, float("inf")):
        compare_function("normalize", shape, p=p)
    compare_function("local_response_norm", shape, 3)
    compare_function("local_response_norm", (2, 4, 3, 2), 4, alpha=0.5)


LAYERS = [
    ("BatchNorm1d", (5,), {}, (7, 5)),
    ("BatchNorm1d", (5,), {"momentum": None}, (7, 5, 3)),
    ("BatchNorm2d", (5,), {"affine": False}, (3, 5, 4, 4)),
    ("BatchNorm3d", (5,), {"track_running_stats": False}, (2, 5, 2, 3, 4)),
    ("LayerNorm", (5,), {}, (7, 5)),
    ("LayerNorm", ((3, 5),), {"bias": False}, (7, 3, 5)),
    ("LayerNorm", ((3, 5),), {"elementwise_affine": False}, (7, 3, 5)),
    ("GroupNorm", (2, 6), {}, (3, 6, 4)),
    ("GroupNorm", (2, 6), {"affine": False}, (3, 6)),
    ("RMSNorm", (5,), {}, (3, 5)),
    ("InstanceNorm1d", (5,), {}, (3, 5, 4)),
    ("InstanceNorm2d", (5,), {"affine": True, "track_running_stats": True}, (3, 5, 4, 4)),
    ("InstanceNorm3d", (5,), {}, (5, 4, 4, 4)),
    ("LocalResponseNorm", (2,), {}, (3, 5, 4, 4)),
]


@pytest.mark.parametrize(("name", "args", "settings", "shape"), LAYERS)
def test_layers_match_pytorch(name, args, settings, shape):
    torch = pytest.importorskip("torch")
    if name in ("BatchNorm1d", "GroupNorm") and "bias" not in repr(torch.nn.BatchNorm1d(1)):
        pytest.skip("this PyTorch has no bias setting")
    compare_layer(name, args, settings, shape)
