"""What training refuses, eagerly and under jit: a typed error naming layer, argument and sample, or
the documented value; and the process, the model and the jitted step stay usable."""

import os
import signal

import numpy as np
import pytest

import numen as nm
from numen.data import DataLoader, Dataset
from numen.errors import DTypeError, IndexRangeError, ShapeError
from numen.nn import functional as F  # noqa: N812
from numen.train.steps import NonFiniteLossError

X = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
Y = np.array([0, 1, 2, 0, 1, 2])


class Net(nm.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nm.nn.Linear(4, 8)
        self.norm = nm.nn.BatchNorm1d(8)
        self.rest = nm.nn.Sequential(nm.nn.ReLU(), nm.nn.Linear(8, 3))

    def forward(self, x):
        return self.rest(self.norm(self.first(x)))


def training(loss, jit):
    """A model, its state as bytes, and a step that has run twice on good batches."""
    nm.manual_seed(0)
    net = Net()
    optimizer = nm.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x, y):
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        return value.item()

    run = nm.jit(step) if jit else step
    good = nm.array(Y) if loss is F.cross_entropy else nm.zeros((6, 3), dtype=np.float32)
    for _ in range(2):
        run(nm.array(X), good)
    return net, run, good


def weights(net):
    return [p.detach().numpy().tobytes() for p in net.parameters()]


def notes(error):
    return " ".join(getattr(error.value, "__notes__", []))


REFUSED = [
    pytest.param(
        *(F.cross_entropy, X, [0, 1, 2, 3, 0, 1], IndexRangeError),
        r"cross_entropy: label 3 \(row 3\) is out of bounds for 3 classes",
        id="label too large",
    ),
    pytest.param(
        *(F.cross_entropy, X, [0, 1, -1, 1, 0, 1], IndexRangeError),
        r"cross_entropy: label -1 \(row 2\)",
        id="negative label",
    ),
    pytest.param(
        *(F.cross_entropy, X, [0.0, 1, 2, 1, 0, 1], DTypeError),
        "cross_entropy: expected integer labels",
        id="floating labels",
    ),
    pytest.param(
        *(F.cross_entropy, X, [[0], [1], [2], [0], [1], [2]], ShapeError),
        r"cross_entropy: .*\(6, 1\)",
        id="a column of labels",
    ),
    pytest.param(
        *(F.cross_entropy, X, [0, 1, 2], ShapeError),
        r"cross_entropy: .*\(3,\)",
        id="too few labels",
    ),
    pytest.param(
        *(F.mse_loss, X, np.zeros((6, 1), np.float32), ShapeError),
        r"mse_loss: .*same shape.*\(6, 3\).*\(6, 1\)",
        id="target that would broadcast",
    ),
    pytest.param(
        *(F.l1_loss, X, np.zeros(3, np.float32), ShapeError),
        r"l1_loss: .*same shape",
        id="target of one row",
    ),
]


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize(("loss", "x", "y", "kind", "text"), REFUSED)
def test_refused_targets(loss, x, y, kind, text, jit):
    net, run, good = training(loss, jit)
    before = weights(net)
    with pytest.raises(kind, match=text):
        run(nm.array(x), nm.array(y))
    assert weights(net) == before
    assert np.isfinite(run(nm.array(X), good))


REFUSED_INPUTS = [
    pytest.param(X[:, :3], ShapeError, r"linear: .*\(6, 3\)", "first (Linear)", id="too narrow"),
    pytest.param(np.ones((6, 4), int), DTypeError, "linear: expected floating", "first", id="ints"),
    pytest.param(X[:1], ValueError, "BatchNorm1d: expected more than 1", "norm (Bat", id="one row"),
    pytest.param(X[None], ShapeError, "BatchNorm1d: .*2 or 3 axes", "layer norm", id="an axis"),
]


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize(("x", "kind", "text", "layer"), REFUSED_INPUTS)
def test_refused_inputs_name_the_layer(x, kind, text, layer, jit):
    net, run, good = training(F.cross_entropy, jit)
    before = [value.numpy().tobytes() for value in net.state_dict().values()]
    with pytest.raises(kind, match=text) as error:
        run(nm.array(x), good)
    assert layer in notes(error)
    assert notes(error).count("in layer") == 1
    assert notes(error).endswith("of Net")
    assert [value.numpy().tobytes() for value in net.state_dict().values()] == before
    assert np.isfinite(run(nm.array(X), good))


def test_the_path_is_that_of_the_outermost_model():
    inner = nm.nn.Sequential(nm.nn.Linear(4, 4), nm.nn.Sequential(nm.nn.Linear(3, 3)))
    outer = nm.nn.Sequential(nm.nn.ReLU(), inner)
    with pytest.raises(ShapeError) as error:
        outer(nm.array(X))
    assert notes(error) == "in layer 1.1.0 (Linear) of Sequential"
    with pytest.raises(ShapeError) as error:
        nm.nn.Linear(3, 3)(nm.array(X))
    assert not notes(error)


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        pytest.param(X, [-100] * 6, id="all labels ignored"),
        pytest.param(X[:0], np.zeros(0, int), id="empty batch"),
    ],
)
def test_a_mean_of_nothing_is_nan_and_changes_no_weight(x, y, jit):
    nm.manual_seed(0)
    net = Net()
    optimizer = nm.optim.SGD(net.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        value = F.cross_entropy(net(x), y)
        value.backward()
        optimizer.step()
        return value.item()

    run = nm.jit(step) if jit else step
    run(nm.array(X), nm.array(Y))
    before = weights(net)
    for _ in range(2):
        assert np.isnan(run(nm.array(x), nm.array(y)))
        assert weights(net) == before
        assert all(not p.grad.numpy().any() for p in net.parameters())


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("index", [5, -1, -6])
def test_embedding_index(index, jit):
    layer = nm.nn.Embedding(5, 3)

    def total(indices):
        return layer(indices).sum()

    run = nm.jit(total) if jit else total
    run(nm.array([0, 4]))
    with pytest.raises(IndexRangeError, match=rf"embedding: index {index} .*out of bounds for 5"):
        run(nm.array([0, index]))
    assert np.isfinite(run(nm.array([0, 4])).item())


# ------------------------------------------------------------ fit


def fit(x, y, jit, **options):
    nm.manual_seed(0)
    net = nm.nn.Linear(4, 3)
    optimizer = nm.optim.SGD(net.parameters(), lr=0.1)
    settings = {"batch_size": 2, "shuffle": False, "progress": False, "jit": jit}
    try:
        return nm.fit(net, F.cross_entropy, optimizer, (x, y), **settings, **options), net
    finally:
        assert np.isfinite(net.weight.tolist()).all()


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
def test_fit_names_the_batch(jit):
    labels = Y.copy()
    labels[4] = 7
    with pytest.raises(IndexRangeError, match=r"label 7 \(row 0\)") as error:
        fit(X, labels, jit)
    assert "fit: at epoch 1 of 1, batch 3 of 3 (step 3)" in notes(error)
    bad = X.copy()
    bad[2, 1] = np.nan
    with pytest.raises(NonFiniteLossError, match="epoch 1 of 1, batch 2 of 3"):
        fit(bad, Y, jit)
    with pytest.raises(ShapeError, match="ArrayDataset: expected arrays of one length"):
        fit(X, Y[:3], jit)
    history, _ = fit(X[:0], Y[:0], jit)
    assert np.isnan(history.history["loss"]).all()


class Faulty(Dataset):
    """Raises at one sample, or ends its process there."""

    def __init__(self, dies):
        self.dies = dies
        self.parent = os.getpid()

    def __len__(self):
        return 24

    def __getitem__(self, i):
        if i == 17:
            if self.dies and os.getpid() != self.parent:
                os.kill(os.getpid(), signal.SIGKILL)
            raise KeyError("no such file")
        return X[i % 6], Y[i % 6]


@pytest.mark.parametrize("workers", [0, 2])
def test_fit_passes_on_what_a_sample_raises(workers):
    net = nm.nn.Linear(4, 3)
    optimizer = nm.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(Faulty(dies=False), batch_size=4, num_workers=workers)
    with pytest.raises(KeyError, match="no such file") as error:
        nm.fit(net, F.cross_entropy, optimizer, loader, progress=False, jit=False)
    assert "17" in notes(error) + str(error.value)


def test_fit_ends_when_a_worker_dies():
    net = nm.nn.Linear(4, 3)
    optimizer = nm.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(Faulty(dies=True), batch_size=4, num_workers=2)
    with pytest.raises(RuntimeError, match="worker"):
        nm.fit(net, F.cross_entropy, optimizer, loader, progress=False, jit=False)
