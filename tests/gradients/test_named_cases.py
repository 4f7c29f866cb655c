"""Cases from public bug reports of other systems, by kind: eager and under jit, in both floats.

Where each kind is tested: here its numbers on every path, elsewhere the rest of it.

| kind | here | also |
|---|---|---|
| branch not taken, masked and sliced elements | test_branches_* | test_singular_points.py |
| norm at zero | test_lengths_of_nothing | test_singular_points.py |
| logsumexp with -inf | test_logsumexp | nn/test_losses.py |
| ties of max and min | test_ties | test_singular_points.py |
| prod and cumprod with zeros | test_products_with_zeros | test_singular_points.py |
| negative steps | test_negative_steps | namespace/test_indexing.py |
| einsum with repeated labels | test_repeated_labels | linalg/test_einsum.py |
| broadcasting that hides a mistake | test_broadcasting | nn/test_losses.py |
| pooling: divisors, NaN, -inf | test_pooling | nn/test_pooling.py |
| convolution and its transpose | test_convolution* | nn/test_convolution.py |
| batch normalisation of one value | test_batch_of_one | nn/test_normalization.py |
| cross-entropy: ignored labels | test_ignored_labels | nn/test_losses.py |
| recurrent layers and lengths | test_lengths_in_a_batch | nn/test_recurrent.py |
| order of decay | test_decay | optim/test_optimizers.py |
| clipping of what is not finite | test_clipping* | optim/test_clipping.py |
| loader: streams, empty data, faults | | data/test_loader.py |
| CTC without an alignment | test_ctc | nn/test_losses.py |
"""

import math

import numpy as np
import pytest

import numen as nm
from numen.nn import functional as F  # noqa: N812

inf, nan = math.inf, math.nan
DTYPES = ["float32", "float64"]
CLOSE = {"float32": {"rtol": 1e-5, "atol": 1e-6}, "float64": {"rtol": 1e-9, "atol": 1e-12}}

pytestmark = pytest.mark.parametrize("dtype", DTYPES)


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def ways(function):
    """The function as it is, jitted at its first call, and replayed."""
    jitted = nm.jit(function)
    return [function, jitted, jitted]


def holds(function, dtype, values, value, *gradients):
    """`function` of `values` has this value and these gradients of its sum, on every way."""

    def step(*xs):
        y = function(*xs)
        y.sum().backward()
        found = [x.grad for x in xs]
        for x in xs:
            x.grad = None
        return [y.detach(), *found]

    xs = [nm.array(np.array(v, dtype), requires_grad=True) for v in values]
    for way in ways(step):
        for ours, wanted in zip(way(*xs), (value, *gradients), strict=True):
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours.numpy(), np.array(wanted, dtype), **CLOSE[dtype])


# ------------------------------------------------------------ branches


def test_branches_not_taken(dtype):
    holds(lambda x: nm.where(x > 0, nm.sqrt(x), x).sum(), dtype, [[-1.0, -4.0]], -5.0, [1.0, 1.0])
    holds(lambda a: nm.where(a <= 0, nm.exp(a), 1 + a), dtype, [100.0], 101.0, 1.0)
    holds(lambda a: nm.where(a <= 0, nm.exp(a), 1 + a), dtype, [1000.0], 1001.0, 1.0)
    holds(lambda x: nm.where(x < 1, nm.cos(x), 0).sum(), dtype, [[0.0, inf]], 1.0, [0.0, 0.0])

    def length(x, y):
        return nm.maximum(nm.sqrt(x * x + y * y), 1e-10)

    holds(length, dtype, [0.0, 0.0], 1e-10, 0.0, 0.0)


def test_branches_picked_or_overwritten(dtype):
    def picked(x, d):
        q = x / d
        return q[d != 0].sum()

    def overwritten(x, d):
        q = x / d
        q[d == 0] = 0
        return q.sum()

    def overwritten_by_number(x, d):
        q = x / d
        q[0] = 0.0
        return q.sum()

    for function in (picked, overwritten, overwritten_by_number):
        holds(function, dtype, [[1.0, 1.0], [0.0, 1.0]], 1.0, [0.0, 1.0], [0.0, -1.0])


def test_branches_of_missing_data(dtype):
    """What a mask hides has no influence: gradients of what it is multiplied by are exactly 0."""

    def loss(x, w):
        return nm.where(nm.isnan(x), 0, (x * w) ** 2 + nm.log(x) + w / x).sum()

    x, w = [nan, 2.0, nan], [3.0, 1.0, 2.0]
    value = 4.0 + math.log(2.0) + 0.5
    holds(loss, dtype, [x, w], value, [0.0, 4.25, 0.0], [0.0, 8.5, 0.0])


def test_second_derivatives_of_masked_elements(dtype):
    def slopes(x):
        return nm.grad(lambda v: nm.where(v > 0, nm.sqrt(v) + nm.log(v), v).sum())(x)

    found = [-0.25 * 4**-1.5 - 1 / 16]
    holds(slopes, dtype, [[-1.0, 0.0, 4.0]], [1.0, 1.0, 0.5], [0.0, 0.0, *found])


# a zero that no mask made keeps its second derivative
def test_second_derivatives_at_a_minimum(dtype):
    def slopes(x):
        return nm.grad(lambda v: ((nm.sqrt(v) - 2.0) ** 2).sum())(x)

    holds(slopes, dtype, [[4.0]], [0.0], [0.125])


# ------------------------------------------------------------ reductions


@pytest.mark.parametrize("order", [None, 1, 2, 3, "fro"])
def test_lengths_of_nothing(order, dtype):
    matrix = [[0.0] * 3] * 3
    if order != "fro":
        holds(lambda x: nm.linalg.norm(x, order), dtype, [[0.0] * 3], 0.0, [0.0] * 3)
        holds(lambda x: nm.linalg.norm(x, order, axis=1), dtype, [matrix], [0.0] * 3, matrix)
    if order != 3:
        holds(lambda x: nm.linalg.norm(x, order), dtype, [matrix], 0.0, matrix)
    holds(lambda x: nm.sqrt((x * x).sum()), dtype, [[3.0, 4.0]], 5.0, [0.6, 0.8])
    holds(lambda x: F.normalize(x, dim=0)[0], dtype, [[3.0, 4.0]], 0.6, [0.128, -0.096])
    zero = nm.zeros(2, dtype=dtype, requires_grad=True)
    F.normalize(zero, dim=0).sum().backward()
    assert nm.isfinite(zero.grad).all()


def test_logsumexp(dtype):
    lse = nm.logsumexp
    holds(lse, dtype, [[-inf, -inf]], -inf, [0.0, 0.0])
    holds(lse, dtype, [[-inf, 1.0]], 1.0, [0.0, 1.0])
    holds(lambda x: lse(nm.stack([x * 0 - inf, x - inf])), dtype, [1.0], -inf, 0.0)
    holds(lambda x: lse(x, where=nm.array([True, False])), dtype, [[0.0, 100.0]], 0.0, [1.0, 0.0])
    holds(lse, dtype, [[1000.0, 1000.0]], 1000 + math.log(2), [0.5, 0.5])
    assert lse(nm.array(np.array([inf, 0.0], dtype))) == inf
    assert lse(nm.array(np.array([], dtype))) == -inf


def test_ties(dtype):
    holds(lambda x: x.max(), dtype, [[0.6, 0.6, 0.3]], 0.6, [0.5, 0.5, 0.0])
    holds(lambda x: x.max(axis=0), dtype, [[0.6, 0.6, 0.3]], 0.6, [0.5, 0.5, 0.0])
    holds(lambda x: nm.amax(x, axis=1), dtype, [[[0.6, 0.6, 0.3]]], [0.6], [[0.5, 0.5, 0.0]])
    holds(lambda x: nm.maximum(x, x), dtype, [2.0], 2.0, 1.0)
    holds(lambda x: nm.minimum(x, x).sum(), dtype, [[2.0, 3.0]], 5.0, [1.0, 1.0])
    pooled = [[[[1.0, 0.0], [0.0, 0.0]]]]
    holds(lambda x: F.max_pool2d(x, 2), dtype, [[[[[1.0] * 2] * 2]]], [[[[1.0]]]], pooled)


def test_products_with_zeros(dtype):
    holds(nm.prod, dtype, [[2.0, 0.0, 3.0, 4.0]], 0.0, [0.0, 24.0, 0.0, 0.0])
    holds(nm.prod, dtype, [[2.0, 0.0, 3.0, 0.0]], 0.0, [0.0] * 4)
    cumprod = nm.cumprod
    holds(lambda x: cumprod(x).sum(), dtype, [[2.0, 0.0, 3.0, 4.0]], 2.0, [1.0, 32.0, 0.0, 0.0])
    holds(lambda x: (cumprod(x) ** 2).sum(), dtype, [[1.0, 0.0]], 1.0, [2.0, 0.0])
    holds(cumprod, dtype, [[0.0]], [0.0], [1.0])
    holds(lambda x: cumprod(x[::-1])[::-1].sum(), dtype, [[0.0, 2.0, 3.0]], 9.0, [6.0, 3.0, 3.0])

    def exclusive(x):
        return nm.concatenate([nm.ones_like(x[:1]), cumprod(x[:-1])]).sum()

    holds(exclusive, dtype, [[2.0, 0.0, 3.0]], 3.0, [1.0, 2.0, 0.0])

    def slope(x):
        return nm.grad(lambda v: cumprod(v).sum())(x)

    # of a + ab + abc at (2, 0, 3): b c + b + 1, a + a c, a b and the derivatives of their sum
    holds(slope, dtype, [[2.0, 0.0, 3.0]], [1.0, 8.0, 0.0], [4.0, 6.0, 2.0])


# ------------------------------------------------------------ indexing and einsum


def test_negative_steps(dtype):
    w = np.array([1.0, 2.0, 3.0, 4.0], dtype)
    q = [0.0, 1.0, 2.0, 3.0]
    holds(lambda x: (nm.array(w) * x[::-1]).sum(), dtype, [q], 10.0, w[::-1])
    holds(lambda x: x[-1:-10:-2], dtype, [q], [3.0, 1.0], [0.0, 1.0, 0.0, 1.0])
    holds(lambda x: x[3:0:-1], dtype, [q], [3.0, 2.0, 1.0], [0.0, 1.0, 1.0, 1.0])
    holds(lambda x: x[2:-1:-1] * 1, dtype, [q], [], [0.0] * 4)

    def assigned(x, y):
        z = x * 1
        z[::-2] = y
        return z * nm.array(w)

    value = [0.0, 2 * 8.0, 3 * 2.0, 4 * 7.0]
    holds(assigned, dtype, [q, [7.0, 8.0]], value, [1.0, 0.0, 3.0, 0.0], [4.0, 2.0])
    grid = np.arange(6.0).reshape(2, 3)
    holds(lambda x: x[::-1, ::2], dtype, [grid], [[3, 5], [0, 2]], [[1, 0, 1], [1, 0, 1]])
    for way in ways(lambda x: x[::0]):
        with pytest.raises(ValueError, match="step"):
            way(nm.array(q))


def test_repeated_labels(dtype):
    x = np.arange(16.0).reshape(2, 2, 4)
    first = np.zeros((2, 2, 4))
    first[[0, 1], [0, 1]] = 1
    holds(lambda a: nm.einsum("iij->ij", a), dtype, [x], [[0, 1, 2, 3], [12, 13, 14, 15]], first)
    holds(lambda a: nm.einsum("iij->i", a), dtype, [x], [6.0, 54.0], first)
    b = np.arange(4.0)
    expected = [[0, 1, 4, 9], [0, 13, 28, 45]]
    holds(lambda a, c: nm.einsum("iij,j->ij", a, c), dtype, [x, b], expected, first * b, 12 + 2 * b)
    holds(lambda a: nm.einsum("ii", a), dtype, [np.arange(9.0).reshape(3, 3)], 12.0, np.eye(3))
    t = np.arange(16.0).reshape(1, 2, 2, 2, 2)
    value = np.einsum("tiijj->ij", t)
    twice = np.zeros(t.shape)
    for i in range(2):
        for j in range(2):
            twice[0, i, i, j, j] = 1
    holds(lambda a: nm.einsum("tiijj->ij", a), dtype, [t], value, twice)
    with pytest.raises(ValueError, match="einsum"):
        nm.einsum("i->ii", nm.array(b))


def test_broadcasting(dtype):
    for shapes in (((2, 1), (2, 1, 1, 1)), ((3, 1), (3,))):
        a, b = (nm.zeros(shape, dtype=dtype) for shape in shapes)
        for way in ways(F.mse_loss):
            with pytest.raises(ValueError, match="same shape"):
                way(a, b)
    a, b = np.ones((3, 1)), np.ones((1, 4))
    full = np.full((3, 4), 2.0)
    holds(lambda x, y: x + y, dtype, [a, b], full, np.full((3, 1), 4.0), np.full((1, 4), 3.0))
    holds(lambda x, y: x * y, dtype, [[2.0], np.ones(0)], np.ones(0), [0.0], np.ones(0))
    with pytest.raises(ValueError, match="read-only"):
        nm.broadcast_to(nm.array(a), (3, 4))[0] = 1


# ------------------------------------------------------------ layers and losses


def test_pooling(dtype):
    row = np.arange(1.0, 6.0).reshape(1, 1, 5)
    halves = [[[0.5, 0.5, 0.5, 0.5, 1.0]]]
    holds(lambda x: F.avg_pool1d(x, 2, 2, ceil_mode=True), dtype, [row], [[[1.5, 3.5, 5]]], halves)
    ones, pads = np.ones((1, 2, 2)), ((0, 1), (0, 1))
    value, each = [[[1, 0.5], [0.5, 0.25]]], [[[0.25, 0.5], [0.5, 1.0]]]
    holds(lambda x: F.avg_pool2d(x, 2, 1, pads), dtype, [ones], value, each)
    grid = np.arange(1.0, 17.0).reshape(1, 4, 4)
    for way in ways(lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True)):
        out = way(nm.array(grid.astype(dtype)))
        assert out.tolist() == [[[6, 7.5], [12, 13.5]]]
    nans = [[[1.0, nan, -inf, -inf]]]
    holds(lambda x: F.max_pool1d(x, 2), dtype, [nans], [[[nan, -inf]]], [[[0, 1, 1, 0]]])


def test_convolution(dtype):
    x = np.arange(40.0).reshape(1, 2, 4, 5).astype(dtype)
    w = np.arange(1.0, 13.0).reshape(2, 1, 2, 3).astype(dtype)
    value = [[[[34, 19, 28], [230, 131, 143]], [[730, 463, 484], [1712, 1079, 1115]]]]

    def convolved(x, w):
        return F.conv2d(x, w, None, (2, 1), ((1, 0), (0, 2)), (1, 2), 2)

    # <conv(x), y> is linear in each: its gradients are the adjoint, checked by <x, gx> = <conv, y>
    y = np.random.default_rng(0).integers(-3, 4, (1, 2, 2, 3)).astype(dtype)

    def step(x, w):
        out = convolved(x, w)
        (out * nm.array(y)).sum().backward()
        found = out.detach(), x.grad, w.grad
        x.grad = w.grad = None
        return found

    a, b = nm.array(x, requires_grad=True), nm.array(w, requires_grad=True)
    for way in ways(step):
        out, gx, gw = way(a, b)
        assert out.tolist() == value
        total = float((out * nm.array(y)).sum())
        assert float((gx * nm.array(x)).sum()) == total == float((gw * nm.array(w)).sum())


def test_convolution_transposed(dtype):
    x, w = [[[1.0, 2.0, 3.0, 4.0]]], [[[1.0, 10.0, 100.0]]]

    def turned(x, w):
        return F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1, dilation=2)

    # position 2 i + 2 k - 1: the first product of the first element is cut off
    value = [[[0, 12, 0, 123, 0, 234, 0, 340, 0, 400]]]
    holds(turned, dtype, [x, w], value, [[[110, 111, 111, 111]]], [[[9.0, 10.0, 10.0]]])
    long = F.conv_transpose1d(
        nm.ones((1, 1, 50), dtype=dtype), nm.ones((1, 1, 3), dtype=dtype), None, 2, 4, 0, 1, 3
    )
    assert long.shape == (1, 1, 97)


def test_batch_of_one(dtype):
    layer = nm.nn.BatchNorm1d(3).to(dtype=dtype)
    single, image = nm.ones((1, 3), dtype=dtype), nm.ones((1, 3, 4), dtype=dtype)

    def forward(x):
        return layer(x)

    before = [np.array(b.tolist()) for b in layer.buffers()]
    for way in ways(forward):
        with pytest.raises(ValueError, match="more than 1 value per channel"):
            way(single)
    for ours, wanted in zip(layer.buffers(), before, strict=True):
        np.testing.assert_array_equal(ours.numpy(), wanted)
    assert all(not way(image).detach().numpy().any() for way in ways(forward))
    layer.eval()
    assert all(way(single).shape == (1, 3) for way in ways(forward))
    # the running variance divides by m - 1, the output by m
    fresh = nm.nn.BatchNorm1d(1, momentum=1.0).to(dtype=dtype)
    out = fresh(nm.array(np.array([[0.0], [2.0]], dtype)))
    np.testing.assert_allclose(fresh.running_var.numpy(), [2.0])
    np.testing.assert_allclose(out.detach().numpy(), [[-1.0], [1.0]], rtol=1e-4)


def test_ignored_labels(dtype):
    logits = [[1.0, 2.0], [3.0, 0.4]]
    labels, weights = nm.array([-100, 1]), nm.array(np.array([0.2, 0.3], dtype))
    options = {"weight": weights, "label_smoothing": 0.1}
    close = {"rtol": 1e-5 if dtype == "float32" else 1e-11}
    for expected, settings in (
        (2.540450613768, options),
        (0.762135184130, {**options, "reduction": "sum"}),
        (2.541644691968, {"label_smoothing": 0.1}),
    ):

        def loss(x, settings=settings):
            return F.cross_entropy(x, labels, **settings)

        for way in ways(loss):
            found = way(nm.array(np.array(logits, dtype)))
            np.testing.assert_allclose(float(found), expected, **close)
    nothing = nm.array([-100, -100])
    zero = [[0.0, 0.0]] * 2
    for reduction, value in (("none", [0.0, 0.0]), ("sum", 0.0), ("mean", nan)):
        holds(
            lambda x, r=reduction: F.cross_entropy(x, nothing, reduction=r),
            dtype,
            [logits],
            value,
            zero,
        )
    for way in ways(lambda x, y: F.cross_entropy(x, y)):
        with pytest.raises(IndexError, match=r"label -4 \(row 1\)"):
            way(nm.array(np.array(logits, dtype)), nm.array([0, -4]))


def test_lengths_in_a_batch(dtype):
    """Three sequences in one batch are the three alone, whatever the padding holds."""
    nm.manual_seed(0)
    layer = nm.nn.LSTM(2, 3, bidirectional=True).to(dtype=dtype)
    lengths, rng = [6, 3, 5], np.random.default_rng(0)
    data = rng.standard_normal((6, 3, 2)).astype(dtype)
    alone = [
        layer(nm.array(data[:n, i : i + 1]))[0].detach().numpy() for i, n in enumerate(lengths)
    ]
    for padding in (0.0, 1e30, nan):
        for i, n in enumerate(lengths):
            data[n:, i] = padding

        def run(x):
            packed = nm.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
            out, _ = layer(packed)
            return nm.nn.utils.rnn.pad_packed_sequence(out)[0]

        for way in ways(run):
            out = way(nm.array(data)).detach().numpy()
            for i, n in enumerate(lengths):
                np.testing.assert_allclose(out[:n, i], alone[i][:, 0], **CLOSE[dtype])


# ------------------------------------------------------------ optimisers


def test_decay(dtype):
    for way in (lambda f: f, nm.jit):
        p = nm.nn.Parameter(nm.ones((), dtype=dtype))
        optimizer = nm.optim.AdamW([p], lr=0.1, weight_decay=0.1)

        def step(g, p=p, optimizer=optimizer):
            optimizer.zero_grad()
            (p * g).backward()
            optimizer.step()

        run, found = way(step), []
        for g in (1.0, -2.0, 0.5):
            run(nm.array(np.array(g, dtype)))
            found.append(float(p.detach()))
        close = 1e-6 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(found[0], 0.890000001, rtol=max(close, 1e-9))
        np.testing.assert_allclose(found[2], 0.9222023161292, rtol=close)


def test_clipping(dtype):
    norm = nm.nn.utils.clip_grad_norm_
    for way in (lambda f: f, nm.jit):
        p = nm.nn.Parameter(nm.zeros(100, dtype=dtype))

        def clipped(p=p):
            return norm([p], 1.0)

        run = way(clipped)
        for _ in range(2):
            p.grad = nm.full(100, 1e20, dtype=dtype)
            np.testing.assert_allclose(float(run()), 1e21, rtol=1e-6)
            np.testing.assert_allclose(p.grad.numpy(), 0.1, rtol=1e-6)
        p.grad = nm.zeros(100, dtype=dtype)
        assert float(run()) == 0
        assert not p.grad.numpy().any()
    assert float(norm([], 1.0)) == 0


@pytest.mark.parametrize("bad", [inf, nan])
def test_clipping_of_what_is_not_finite(bad, dtype):
    p = nm.nn.Parameter(nm.zeros(3, dtype=dtype))
    p.grad = nm.array(np.array([1.0, bad, 2.0], dtype))
    before = p.grad.numpy().copy()
    total = nm.nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=False)
    assert not math.isfinite(float(total))
    np.testing.assert_array_equal(p.grad.numpy(), before)
    with pytest.raises((ValueError, RuntimeError, ArithmeticError), match="finite"):
        nm.nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)


def test_ctc(dtype):
    uniform = nm.full((4, 1, 3), -math.log(3.0), dtype=dtype)
    for way in ways(lambda x: F.ctc_loss(x, np.zeros((1, 0), int), [4], [0], reduction="sum")):
        np.testing.assert_allclose(float(way(uniform)), 4 * math.log(3), rtol=1e-6)
    logits = np.random.default_rng(0).standard_normal((2, 1, 3))
    zero = np.zeros((2, 1, 3))
    for as_zero, value in ((False, inf), (True, 0.0)):

        def loss(x, as_zero=as_zero):
            return F.ctc_loss(nm.log_softmax(x), [[1, 2, 1]], [2], [3], zero_infinity=as_zero)

        holds(loss, dtype, [logits], value, zero)
    x = nm.array(np.random.default_rng(1).standard_normal((5, 1, 3)).astype(dtype))
    x.requires_grad_()
    F.ctc_loss(nm.log_softmax(x), [[1, 2]], [5], [2]).backward()
    np.testing.assert_allclose(x.grad.numpy().sum(-1), 0, atol=1e-6)
