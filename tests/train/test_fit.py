"""fit: the loop, what it compiles, its data, its errors, evaluate and predict."""

import math

import numpy as np
import pytest

import numen as nm
from numen import nn, optim
from numen.data import ArrayDataset, DataLoader
from numen.errors import ShapeError
from numen.nn.functional import cross_entropy, mse_loss
from numen.train import Callback, NonFiniteLossError, evaluate, fit, predict

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] > 0).astype(np.int64)


def classifier(seed=0):
    nm.manual_seed(seed)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    return net, optim.Adam(net.parameters(), lr=0.05)


def loader(**options):
    return DataLoader(ArrayDataset(X, Y), 10, **{"shuffle": True, "seed": 0, **options})


def bits(net):
    return [p.detach().numpy().tobytes() for p in net.parameters()]


def test_a_classifier_learns():
    net, opt = classifier()
    history = fit(
        net,
        cross_entropy,
        opt,
        loader(),
        epochs=15,
        validation=(X, Y),
        metrics=["accuracy"],
        progress=False,
    )
    assert history.epoch == list(range(15))
    assert set(history.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert history.history["loss"][-1] < 0.5 * history.history["loss"][0]
    assert history.history["val_accuracy"][-1] > 0.95
    scores = evaluate(net, cross_entropy, (X, Y), ["accuracy"])
    assert scores["accuracy"] == history.history["val_accuracy"][-1]
    assert scores["loss"] == history.history["val_loss"][-1]
    outputs = predict(net, nm.array(X), batch_size=25)
    assert outputs.shape == (60, 2)
    assert float((outputs.argmax(axis=1) == nm.array(Y)).mean()) == scores["accuracy"]
    assert predict(net, ArrayDataset(X), jit=False).shape == (60, 2)


def by_hand(net, opt, batches, epochs):
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            opt.zero_grad()
            loss = cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        losses.append(total / 60)
    return losses


@pytest.mark.parametrize("jit", [False, True])
def test_steps_are_those_of_a_plain_loop(jit):
    net, opt = classifier()
    other, other_opt = classifier()
    with nm.config(engine="kernels"):
        history = fit(net, cross_entropy, opt, loader(), epochs=3, jit=jit, progress=False)
        assert history.history["loss"] == by_hand(other, other_opt, loader(), 3)
    assert bits(net) == bits(other)


def test_the_step_is_compiled(monkeypatch):
    from numen.train import fitting

    made = []
    monkeypatch.setattr(
        fitting,
        "training_step",
        lambda *a, make=fitting.training_step: made.append(make(*a)) or made[0],
    )
    net, opt = classifier()
    schedule = optim.lr_scheduler.CosineAnnealingLR(opt, 12)
    fit(
        net,
        cross_entropy,
        opt,
        loader(),
        epochs=2,
        metrics=["accuracy"],
        callbacks=[nm.train.LearningRateScheduler(schedule, every="batch")],
        progress=False,
        clip_grad_norm=1.0,
    )
    assert "0 eager" in str(nm.explain(made[0]))
    assert schedule.last_epoch == 12


def test_data_of_all_kinds():
    batches = [(X[i : i + 10], Y[i : i + 10]) for i in range(0, 60, 10)]
    results = []
    for data in (batches, ArrayDataset(X, Y), (X, Y), (nm.array(X), nm.array(Y))):
        net, opt = classifier()
        fit(net, cross_entropy, opt, data, batch_size=10, shuffle=False, progress=False)
        results.append(bits(net))
    assert all(r == results[0] for r in results)
    net, opt = classifier()
    with pytest.raises(TypeError, match="read only once"):
        fit(net, cross_entropy, opt, iter(batches), progress=False)
    with pytest.raises(TypeError, match="DataLoader"):
        fit(net, cross_entropy, opt, 5, progress=False)
    with pytest.raises(ValueError, match=r"\(inputs, targets\)"):
        fit(net, cross_entropy, opt, ArrayDataset(X), progress=False)
    with pytest.raises(ValueError, match="epochs"):
        fit(net, cross_entropy, opt, batches, epochs=-1, progress=False)
    with pytest.raises(ValueError, match="no data"):
        predict(net, [])


def test_several_inputs_by_place_and_by_name():
    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(4, 1)
            self.b = nn.Linear(4, 1)

        def forward(self, left, right):
            return self.a(left) + self.b(right)

    target = np.zeros((60, 1), np.float32)
    results = []
    for inputs in ((X, X), {"right": X, "left": X}):
        nm.manual_seed(0)
        net = Sum()
        opt = optim.SGD(net.parameters(), lr=0.1)
        fit(net, mse_loss, opt, [(inputs, target)], epochs=3, progress=False)
        results.append(bits(net))
    assert results[0] == results[1]


@pytest.mark.parametrize("jit", [False, True])
def test_a_loss_that_is_not_finite_names_epoch_and_batch(jit):
    seen = []

    class Note(Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(bits(self.model))

    x = X.copy()
    x[25] = math.nan
    batches = [(x[i : i + 10], Y[i : i + 10]) for i in range(0, 60, 10)]
    net, opt = classifier()
    with pytest.raises(NonFiniteLossError, match=r"nan at epoch 1 of 2, batch 3 of 6 \(step 3\)"):
        fit(net, cross_entropy, opt, batches, 2, callbacks=[Note()], jit=jit, progress=False)
    assert len(seen) == 2
    assert bits(net) == seen[-1]  # the weights before the batch
    assert issubclass(NonFiniteLossError, FloatingPointError)


def test_modes_come_back():
    net, opt = classifier()
    net.eval()
    net[0].training = False
    modes = []

    class Note(Callback):
        def on_train_batch_end(self, batch, logs=None):
            modes.append(net.training)

        def on_test_begin(self, logs=None):
            modes.append("test")

    fit(net, cross_entropy, opt, loader(), validation=(X, Y), callbacks=[Note()], progress=False)
    assert modes == [True] * 6 + ["test"]
    assert net.training
    net[0].training = False
    evaluate(net, cross_entropy, (X, Y))
    assert net.training
    assert not net[0].training


def test_clipping_bounds_the_step():
    net, _ = classifier()
    opt = optim.SGD(net.parameters(), lr=1.0)
    before = [p.detach().copy() for p in net.parameters()]
    fit(net, cross_entropy, opt, [(X * 100, Y)], progress=False, clip_grad_norm=1e-3)
    moved = [(p.detach() - q).reshape(-1) for p, q in zip(net.parameters(), before, strict=True)]
    assert float(nm.linalg.norm(nm.concatenate(moved))) == pytest.approx(1e-3, rel=1e-3)


def test_progress_prints_a_line_an_epoch(capsys):
    net, opt = classifier()
    fit(net, cross_entropy, opt, loader(), epochs=2, validation=(X, Y), metrics=["accuracy"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("epoch 2/2: loss ")
    assert "val_accuracy" in lines[1]


def test_no_epochs_and_no_data():
    net, opt = classifier()
    before = bits(net)
    assert fit(net, cross_entropy, opt, loader(), epochs=0, progress=False).history == {}
    history = fit(net, cross_entropy, opt, [], epochs=1, progress=False)
    assert math.isnan(history.history["loss"][0])
    assert bits(net) == before


def test_a_metric_that_does_not_fit_says_so():
    net, opt = classifier()
    with pytest.raises(ShapeError, match="mse"):
        fit(net, cross_entropy, opt, loader(), metrics=["mse"], progress=False)
