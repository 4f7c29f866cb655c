"""Losses: PyTorch's values and gradients, cases with a known right value, errors, traces."""

import math

import numpy as np
import pytest

import numen as nm
from numen import nn
from numen.errors import DTypeError, IndexRangeError, ShapeError
from numen.nn import functional as F  # noqa: N812

RNG = np.random.default_rng(1)


def normal(*shape):
    return RNG.standard_normal(shape)


def signs(*shape):
    return np.where(RNG.random(shape) < 0.5, -1.0, 1.0)


X, Y, P = normal(4, 3), normal(4, 3), RNG.uniform(0.05, 0.95, (4, 3))
LABELS = np.array([2, 0, -100, 1])
SOFT = RNG.dirichlet(np.ones(3), 4)
WEIGHT = np.array([0.2, 1.5, 0.7])
BINARY = (RNG.random((4, 3)) < 0.5) * 1.0

# class, options, arrays
CASES = [
    ("MSELoss", {}, (X, Y)),
    ("L1Loss", {}, (X, Y)),
    ("SmoothL1Loss", {"beta": 0.7}, (X, Y)),
    ("SmoothL1Loss", {"beta": 0.0}, (X, Y)),
    ("HuberLoss", {"delta": 0.5}, (X, Y)),
    ("PoissonNLLLoss", {"full": True}, (X, np.abs(Y) * 3)),
    ("PoissonNLLLoss", {"log_input": False}, (P, np.abs(Y))),
    ("GaussianNLLLoss", {"full": True}, (X, Y, P)),
    ("GaussianNLLLoss", {}, (X, Y, P[:, :1])),
    ("MarginRankingLoss", {"margin": 0.3}, (X, Y, signs(4, 3))),
    ("HingeEmbeddingLoss", {}, (X, signs(4, 3))),
    ("SoftMarginLoss", {}, (X * 30, signs(4, 3))),
    ("CosineEmbeddingLoss", {"margin": 0.1}, (X, Y, signs(4))),
    ("TripletMarginLoss", {}, (X, Y, P)),
    ("TripletMarginLoss", {"p": 1, "swap": True}, (X, Y, P)),
    ("TripletMarginLoss", {"p": 3.0}, (X, Y, P)),
    ("CrossEntropyLoss", {}, (X, LABELS)),
    ("CrossEntropyLoss", {"label_smoothing": 0.1}, (X, LABELS)),
    ("CrossEntropyLoss", {"weight": WEIGHT}, (X, LABELS)),
    ("CrossEntropyLoss", {"weight": WEIGHT, "label_smoothing": 0.2}, (X, LABELS)),
    ("CrossEntropyLoss", {"ignore_index": 1}, (X, np.abs(LABELS) % 3)),
    ("CrossEntropyLoss", {}, (X, SOFT)),
    ("CrossEntropyLoss", {"weight": WEIGHT, "label_smoothing": 0.2}, (X, SOFT)),
    ("CrossEntropyLoss", {"weight": WEIGHT}, (normal(2, 3, 4), RNG.integers(0, 3, (2, 4)))),
    ("CrossEntropyLoss", {"weight": WEIGHT}, (normal(2, 3, 4), np.abs(normal(2, 3, 4)))),
    ("CrossEntropyLoss", {}, (X[0], np.array(2))),
    ("CrossEntropyLoss", {}, (X[0], SOFT[0])),
    ("NLLLoss", {"weight": WEIGHT}, (X, LABELS)),
    ("NLLLoss", {}, (normal(2, 3, 2, 2), RNG.integers(0, 3, (2, 2, 2)))),
    ("BCELoss", {}, (P, BINARY)),
    ("BCELoss", {"weight": WEIGHT}, (np.clip(np.round(P), 0, 1), BINARY)),
    ("BCEWithLogitsLoss", {}, (X * 40, BINARY)),
    ("BCEWithLogitsLoss", {"weight": WEIGHT, "pos_weight": WEIGHT}, (X, P)),
    ("KLDivLoss", {}, (np.log(P), SOFT)),
    ("KLDivLoss", {"log_target": True}, (np.log(P), np.log(SOFT))),
    ("MultiMarginLoss", {"p": 2, "weight": WEIGHT}, (X, np.abs(LABELS) % 3)),
    ("MultiMarginLoss", {}, (X[0], np.array(1))),
]


NO_TARGET_GRADIENT = {
    *("MarginRankingLoss", "HingeEmbeddingLoss", "CosineEmbeddingLoss", "SoftMarginLoss"),
    "BCELoss",  # PyTorch's is infinite where the loss is bounded
}


@pytest.mark.filterwarnings("ignore:reduction.*mean:UserWarning")  # PyTorch's, about KLDivLoss
@pytest.mark.parametrize("reduction", ["mean", "sum", "none", "batchmean"])
@pytest.mark.parametrize(("name", "options", "arrays"), CASES)
def test_values_and_gradients_are_pytorch_s(name, options, arrays, reduction):
    torch = pytest.importorskip("torch")
    if reduction == "batchmean" and name != "KLDivLoss":
        return
    theirs = getattr(torch.nn, name)(
        **{k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()},
        reduction=reduction,
    )
    ours = getattr(nn, name)(**options, reduction=reduction)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    a = [nm.array(v, requires_grad=v.dtype.kind == "f") for v in arrays]
    b = [torch.tensor(v, requires_grad=v.dtype.kind == "f") for v in arrays]
    if name in NO_TARGET_GRADIENT:
        a[-1].requires_grad_(False)
        b[-1].requires_grad_(False)
    out, expected = ours(*a), theirs(*b)
    assert out.shape == tuple(expected.shape)
    np.testing.assert_allclose(out.detach().numpy(), expected.detach().numpy(), rtol=1e-9)
    out.sum().backward()
    expected.sum().backward()
    for mine, other in zip(a, b, strict=True):
        if other.grad is not None:
            np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-7, atol=1e-12)


def test_ignored_labels_with_weights_and_smoothing():
    logits, labels = nm.array([[1.0, 2.0], [3.0, 0.4]]), [-100, 1]
    options = {"weight": [0.2, 0.3], "label_smoothing": 0.1}
    mean = F.cross_entropy(logits, labels, **options)
    total = F.cross_entropy(logits, labels, **options, reduction="sum")
    np.testing.assert_allclose(float(mean), 2.540450613768, rtol=1e-11)
    np.testing.assert_allclose(float(total), 0.762135184130, rtol=1e-11)


@pytest.mark.parametrize("options", [{}, {"weight": [0.2, 0.3]}, {"label_smoothing": 0.1}])
def test_everything_ignored_leaves_the_weights_alone(options):
    nm.manual_seed(0)
    net = nn.Linear(3, 2)
    before = net.weight.tolist()
    opt = nm.optim.SGD(net.parameters(), lr=1.0, momentum=0.9)
    loss = F.cross_entropy(net(nm.ones((2, 3))), [-100, -100], **options)
    loss.backward()
    opt.step()
    assert math.isnan(float(loss))
    assert net.weight.grad.tolist() == [[0, 0, 0]] * 2
    assert net.weight.tolist() == before
    none = F.cross_entropy(net(nm.ones((2, 3))), [-100, -100], reduction="none", **options)
    assert none.tolist() == [0, 0]


def test_labels_out_of_range():
    for loss in (F.cross_entropy, F.nll_loss, F.multi_margin_loss):
        for label in (3, -1, -4):
            with pytest.raises(IndexRangeError, match=rf"label {label} \(row 1\).*3 classes"):
                loss(nm.zeros((2, 3)), nm.array([0, label]))


@pytest.mark.parametrize(
    "loss",
    [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.kl_div, F.soft_margin_loss]
    + [F.binary_cross_entropy_with_logits, F.binary_cross_entropy, F.poisson_nll_loss]
    + [F.hinge_embedding_loss],
)
def test_nothing_is_broadcast(loss):
    for a, b in (((2, 1), (2,)), ((2, 1), (2, 1, 1, 1)), ((3,), ())):
        with pytest.raises(ShapeError, match="same shape"):
            loss(nm.zeros(a), nm.zeros(b))
    with pytest.raises(DTypeError):
        loss(nm.zeros(2, int), nm.zeros(2))
    with pytest.raises(ValueError, match="reduction"):
        loss(nm.zeros(2), nm.zeros(2), reduction="avg")
    assert float(loss(nm.zeros((0, 2)), nm.zeros((0, 2)), reduction="sum")) == 0
    assert math.isnan(float(loss(nm.zeros((0, 2)), nm.zeros((0, 2)))))
    assert loss(nm.full(2, 0.5, dtype="f4"), nm.ones(2, int)).dtype == np.float32
    half = nm.full(2, 0.5, dtype="f4")
    half.requires_grad_()
    loss(half, np.ones(2)).backward()
    assert half.grad.dtype == np.float32


def test_shapes_of_the_others():
    zero = nm.zeros((2, 3))
    for call in (
        lambda: F.cosine_embedding_loss(zero, zero, nm.ones((2, 1))),
        lambda: F.margin_ranking_loss(zero, zero, nm.ones(2)),
        lambda: F.triplet_margin_loss(zero, zero, nm.zeros(3)),
        lambda: F.gaussian_nll_loss(zero, zero, nm.ones(3)),
        lambda: F.mse_loss(zero, zero, weight=nm.ones((3, 2, 3))),
        lambda: F.cross_entropy(zero, [0, 1], weight=[1.0, 2.0]),
    ):
        with pytest.raises(ShapeError):
            call()
    with pytest.raises(ValueError, match=r"index \(0, 1\)"):
        F.binary_cross_entropy(nm.array([[0.5, 1.5]]), nm.zeros((1, 2)))
    with pytest.raises(ValueError, match="negative"):
        F.gaussian_nll_loss(zero, zero, zero - 1)


def test_weighted_mean_of_squares():
    loss = F.mse_loss(nm.array([1.0, 2.0]), nm.array([0.0, 0.0]), weight=nm.array([3.0, 1.0]))
    assert float(loss) == 7 / 4


def test_logits_of_any_size_are_finite():
    x = nm.array([800.0, -800.0, 0.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, nm.array([0.0, 1.0, 0.0]), reduction="none")
    assert loss.tolist()[:2] == [800, 800]
    loss.sum().backward()
    assert x.grad.tolist() == [1, -1, 0.5]


# softmax and logsumexp of what is masked


def test_logsumexp_of_infinities():
    inf = math.inf

    def value_and_slope(values, **options):
        x = nm.array(values, requires_grad=True)
        y = nm.logsumexp(x, **options)
        y.backward()
        return float(y), x.grad.tolist()

    for engine in ("auto", "kernels"):
        with nm.config(engine=engine):
            assert value_and_slope([-inf, -inf]) == (-inf, [0, 0])
            assert value_and_slope([-inf, 1.0]) == (1, [0, 1])
            assert value_and_slope([0.0, 100.0], where=[True, False]) == (0, [1, 0])
            assert value_and_slope([1000.0, 1000.0]) == (1000 + math.log(2), [0.5, 0.5])
            assert float(nm.logsumexp(nm.array([inf, 0.0]))) == inf
            assert float(nm.logsumexp(nm.zeros(0))) == -inf
            x = nm.array(1.0, requires_grad=True)
            y = nm.logsumexp(nm.stack([nm.array(-inf), x - inf]))
            y.backward()
            assert (float(y), float(x.grad)) == (-inf, 0)


def test_softmax_of_masked_rows():
    mask = nm.array([[True, False], [False, False]])
    for engine in ("auto", "kernels"):
        with nm.config(engine=engine):
            x = nm.array([[1.0, math.nan], [3.0, math.inf]], requires_grad=True)
            y = nm.softmax(x, where=mask)
            assert y.tolist() == [[1, 0], [0, 0]]
            assert nm.log_softmax(x, where=mask).tolist() == [[0, -math.inf], [-math.inf] * 2]
            (y * nm.array([[2.0, 3.0], [4.0, 5.0]])).sum().backward()
            assert x.grad.tolist() == [[0, 0], [0, 0]]
            z = nm.array([[-math.inf, -math.inf]], requires_grad=True)
            nm.softmax(z).sum().backward()
            assert z.grad.tolist() == [[0, 0]]


def test_softmax_over_axes_and_dtypes():
    x = normal(2, 3, 4)
    e = np.exp(x)
    np.testing.assert_allclose(nm.softmax(x, dim=0), e / e.sum(0), rtol=1e-14)
    np.testing.assert_allclose(nm.softmax(x, (0, 2)), e / e.sum((0, 2), keepdims=True), rtol=1e-14)
    lse = nm.logsumexp(x, (1, 2), keepdims=True)
    np.testing.assert_allclose(lse, np.log(e.sum((1, 2), keepdims=True)), rtol=1e-14)
    assert nm.softmax(nm.arange(3)).dtype == np.float64
    for dtype in (np.float16, nm.bfloat16):
        small = nm.array(x[0], dtype=dtype)
        for f in (nm.softmax, nm.log_softmax, nm.logsumexp):
            wide = f(small.astype(np.float32)).astype(dtype)
            assert f(small).dtype == dtype
            assert f(small).tolist() == wide.tolist()
            assert nm.jit(f)(small).dtype == dtype
    with pytest.raises(DTypeError, match="complex"):
        nm.softmax(nm.ones(2, complex))
    with pytest.raises(np.exceptions.AxisError):
        nm.logsumexp(x, 3)


# ctc


def test_ctc_of_uniform_probabilities():
    uniform = nm.full((4, 1, 3), -math.log(3.0))
    empty = F.ctc_loss(uniform, np.zeros((1, 0), int), [4], [0], reduction="sum")
    np.testing.assert_allclose(float(empty), 4 * math.log(3), rtol=1e-12)
    x = nm.array(normal(2, 1, 3), requires_grad=True)
    for zero, expected in ((False, math.inf), (True, 0.0)):
        loss = F.ctc_loss(nm.log_softmax(x), [[1, 2, 1]], [2], [3], zero_infinity=zero)
        assert float(loss) == expected
        x.grad = None
        loss.backward()
        assert x.grad.tolist() == nm.zeros((2, 1, 3)).tolist()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ctc_is_pytorch_s(reduction):
    torch = pytest.importorskip("torch")
    logits = normal(7, 3, 5)
    targets, lengths, sizes = np.array([[1, 1, 2], [4, 3, 0], [2, 2, 2]]), [7, 4, 6], [3, 2, 1]
    x, t = nm.array(logits, requires_grad=True), torch.tensor(logits, requires_grad=True)
    for given in (targets, np.array([1, 1, 2, 4, 3, 2])):
        x.grad = t.grad = None
        ours = F.ctc_loss(nm.log_softmax(x), given, lengths, sizes, reduction=reduction)
        theirs = torch.nn.functional.ctc_loss(
            torch.log_softmax(t, -1), torch.tensor(given), lengths, sizes, reduction=reduction
        )
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-10)
        ours.sum().backward()
        theirs.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), atol=1e-12)
        np.testing.assert_allclose(x.grad.numpy().sum(-1), 0, atol=1e-12)


def test_ctc_errors():
    logp = nm.zeros((4, 2, 3))
    for targets, lengths, sizes, error, text in (
        ([[1], [3]], [4, 4], [1, 1], IndexRangeError, r"label 3 \(sample 1, position 0\)"),
        ([[0], [1]], [4, 4], [1, 1], IndexRangeError, "blank"),
        ([[1], [1]], [5, 4], [1, 1], ValueError, r"input_lengths\[0\] is 5"),
        ([[1], [1]], [4], [1, 1], ShapeError, "2 input_lengths"),
        ([[1], [1]], [4, 4], [2, 1], ShapeError, "targets"),
        ([[1.0], [1.0]], [4, 4], [1, 1], DTypeError, "integer"),
    ):
        with pytest.raises(error, match=text):
            F.ctc_loss(logp, targets, lengths, sizes)


# traces


@pytest.mark.parametrize(("name", "options", "arrays"), CASES)
def test_a_traced_loss_is_compiled_and_has_the_eager_values(name, options, arrays):
    loss = getattr(nn, name)(**options)

    def step(*values):
        return nm.value_and_grad(lambda x: loss(x, *values[1:]))(values[0])

    traced, values = nm.jit(step), [nm.array(v) for v in arrays]
    expected = step(*values)
    for _ in range(3):
        found = traced(*values)
    assert "0 eager" in str(nm.explain(traced))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
