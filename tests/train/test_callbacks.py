"""Callbacks: order of the hooks, stopping, storing, and a run that is killed and goes on."""

import math
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import numen as nm
from numen import nn, optim
from numen.data import ArrayDataset, DataLoader
from numen.formats.model import load_model
from numen.nn.functional import mse_loss
from numen.train import (
    BackupAndRestore,
    Callback,
    CSVLogger,
    EarlyStopping,
    LambdaCallback,
    LearningRateScheduler,
    ModelCheckpoint,
    TerminateOnNaN,
    fit,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3)).astype(np.float32)
Y = (X @ np.array([[1.0], [2.0], [-1.0]])).astype(np.float32)


def model(seed=0, lr=0.05):
    nm.manual_seed(seed)
    net = nn.Linear(3, 1)
    return net, optim.SGD(net.parameters(), lr=lr, momentum=0.5)


def train(net, opt, callbacks, epochs=4, **options):
    data = DataLoader(ArrayDataset(X, Y), 10, shuffle=True, seed=1)
    options = {"jit": False, "progress": False, **options}
    return fit(net, mse_loss, opt, data, epochs, callbacks=callbacks, **options)


def test_hooks_are_called_in_keras_s_order():
    calls = []
    names = [n for n in vars(Callback) if n.startswith("on_")]
    hooks = {n: lambda *a, n=n: calls.append((n, a[0] if len(a) == 2 else None)) for n in names}
    train(*model(), [LambdaCallback(**hooks)], epochs=1, validation=(X, Y))
    batches = [(f"on_train_batch_{when}", i) for i in range(4) for when in ("begin", "end")]
    assert calls == [
        ("on_train_begin", None),
        ("on_epoch_begin", 0),
        *batches,
        ("on_test_begin", None),
        ("on_test_end", None),
        ("on_epoch_end", 0),
        ("on_train_end", None),
    ]
    with pytest.raises(TypeError, match="on_lunch"):
        LambdaCallback(on_lunch=print)


def feign(values, name="val_loss"):
    """Puts values into the logs, one an epoch."""
    return LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update({name: values[epoch]}))


def test_early_stopping():
    stop = EarlyStopping(patience=2, restore_best_weights=True)
    kept = {}
    note = LambdaCallback(
        on_epoch_end=lambda epoch, logs: kept.update({epoch: net.weight.tolist()})
    )
    net, opt = model()
    history = train(net, opt, [feign([3, 2, 2.5, 2.1, 1, 1]), note, stop], epochs=6)
    assert history.epoch == [0, 1, 2, 3]
    assert (stop.best, stop.best_epoch, stop.stopped_epoch) == (2, 1, 3)
    assert net.weight.tolist() == kept[1]
    for options, values, epochs in (
        ({"min_delta": 0.5}, [3, 2.8, 1, 1], 2),
        ({"monitor": "val_accuracy", "patience": 1}, [0.1, 0.2, 0.2, 0.9], 3),
        ({"mode": "max", "patience": 1}, [1, 2, 1, 3], 3),
        ({"start_from_epoch": 2, "patience": 1}, [1, 2, 3, 4], 4),
        ({"baseline": 0.5, "patience": 2}, [1, 0.9, 0.8, 0.7], 2),
    ):
        stop = EarlyStopping(**options)
        watched = feign(values, options.get("monitor", "val_loss"))
        assert len(train(*model(), [watched, stop]).epoch) == epochs, options
    with pytest.raises(ValueError, match="validation="):
        train(*model(), [EarlyStopping()])
    with pytest.raises(ValueError, match="mode"):
        EarlyStopping(mode="up")


def test_stopping_by_hand():
    def stop(batch, logs):
        if batch == 1:
            by_batch.training.stop_training = True

    by_batch = LambdaCallback(on_train_batch_end=stop)
    history = train(*model(), [by_batch])
    assert history.epoch == [0]
    assert by_batch.training.steps == 2
    net, opt = model()
    keras = LambdaCallback(on_epoch_end=lambda e, logs: setattr(net, "stop_training", e == 1))
    assert train(net, opt, [keras]).epoch == [0, 1]
    assert not hasattr(net, "stop_training")


def test_nan_ends_the_run_quietly():
    net, opt = model()
    batches = [(X, Y), (X, Y * math.nan), (X, Y)]
    stop = TerminateOnNaN()
    history = fit(net, mse_loss, opt, batches, 3, callbacks=[stop], progress=False)
    assert history.epoch == [0]
    assert math.isnan(history.history["loss"][0])
    other, opt = model()
    fit(other, mse_loss, opt, batches[:1], progress=False)
    assert net.weight.tolist() == other.weight.tolist()


def test_learning_rates():
    rates = []
    note = LambdaCallback(on_epoch_begin=lambda e, logs: rates.append(opt.lr))
    net, opt = model()
    train(net, opt, [LearningRateScheduler(lambda epoch, rate: rate / 2), note], epochs=2)
    train(net, opt, [LearningRateScheduler(lambda epoch: 0.01 * epoch), note], epochs=2)
    opt.lr = 0.1
    schedule = optim.lr_scheduler.ExponentialLR(opt, 0.5)
    train(net, opt, [LearningRateScheduler(schedule), note], epochs=2)
    plateau = LearningRateScheduler(optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0))
    train(net, opt, [feign([1, 1, 1]), plateau, note], epochs=3)
    assert rates == pytest.approx([0.025, 0.0125, 0.0, 0.01, 0.1, 0.05, 0.025, 0.025, 0.0025])
    with pytest.raises(ValueError, match="every"):
        LearningRateScheduler(schedule, every="year")


def test_checkpoints_of_weights(tmp_path):
    net, opt = model()
    every = ModelCheckpoint(tmp_path / "all" / "net-{epoch:02d}-{loss:.1f}.safetensors")
    best = ModelCheckpoint(tmp_path / "best", save_best_only=True)
    often = ModelCheckpoint(tmp_path / "batch-{epoch}", save_freq=3)
    kept = {}
    note = LambdaCallback(
        on_epoch_end=lambda epoch, logs: kept.update({epoch: net.weight.tolist()})
    )
    train(net, opt, [feign([3, 1, 2, 1.5]), note, every, best, often])
    assert len(list((tmp_path / "all").glob("net-0[1-4]-*.safetensors"))) == 4
    other, _ = model(1)
    load_model(other, tmp_path / "best")
    assert other.weight.tolist() == kept[1]
    assert best.best == 1
    assert {p.name for p in tmp_path.glob("batch-*")} == {f"batch-{i}" for i in (1, 2, 3, 4)}
    with pytest.raises(ValueError, match="save_freq"):
        ModelCheckpoint("x", save_freq=0)


def test_tables(tmp_path):
    path = tmp_path / "log.csv"
    history = train(*model(), [CSVLogger(path)], epochs=2, metrics=["mae"])
    lines = path.read_text().splitlines()
    assert lines[0] == "epoch,loss,mae"
    assert [float(line.split(",")[1]) for line in lines[1:]] == history.history["loss"]
    train(*model(), [CSVLogger(path, append=True)], epochs=1, metrics=["mae"])
    assert len(path.read_text().splitlines()) == 4
    train(*model(), [CSVLogger(path, separator=";")], epochs=1)
    assert path.read_text().startswith("epoch;loss\n0;")


# ------------------------------------------------------------ going on


class InterruptedRunError(Exception):
    pass


def interrupt(after):
    def count(batch, logs):
        nonlocal after
        after -= 1
        if not after:
            raise InterruptedRunError

    return LambdaCallback(on_train_batch_end=count)


@pytest.mark.parametrize("save_freq", ["epoch", 1, 3])
def test_an_interrupted_run_goes_on_with_the_same_bits(tmp_path, save_freq):
    def callbacks(opt, *more):
        schedule = optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=30)
        backup = BackupAndRestore(tmp_path / "run", save_freq)
        stop = EarlyStopping("loss", patience=3, mode="max")
        table = CSVLogger(tmp_path / "log.csv")
        return [backup, stop, table, LearningRateScheduler(schedule, "batch"), *more]

    net, opt = model()
    whole = train(net, opt, callbacks(opt, LambdaCallback()), epochs=6, metrics=["mae"])
    assert not (tmp_path / "run").exists()
    table = (tmp_path / "log.csv").read_text()
    other, opt = model()
    with pytest.raises(InterruptedRunError):
        train(other, opt, callbacks(opt, interrupt(7)), epochs=6, metrics=["mae"])
    assert (tmp_path / "run").exists()
    fresh, opt = model(5)
    history = train(fresh, opt, callbacks(opt, LambdaCallback()), epochs=6, metrics=["mae"])
    assert fresh.weight.tolist() == net.weight.tolist()
    assert history.history == whole.history
    assert history.epoch == whole.epoch
    assert (tmp_path / "log.csv").read_text() == table
    assert not (tmp_path / "run").exists()


def test_a_stored_run_with_other_callbacks_is_refused(tmp_path):
    backup = BackupAndRestore(tmp_path / "run", 1)
    with pytest.raises(InterruptedRunError):
        train(*model(), [backup, interrupt(2)])
    with pytest.raises(ValueError, match="callbacks"):
        train(*model(), [BackupAndRestore(tmp_path / "run", 1)])


SCRIPT = """
import os, signal, sys
import numpy as np
import numen as nm
from numen import nn, optim
from numen.data import DataLoader, Dataset
from numen.nn import functional as F
from numen.train import BackupAndRestore, LambdaCallback, fit

class Noisy(Dataset):
    def __len__(self):
        return 40
    def __getitem__(self, i):
        x = np.random.standard_normal(3).astype(np.float32)
        return x, x.sum(keepdims=True)

nm.manual_seed(int(sys.argv[3]))
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = optim.Adam(net.parameters(), lr=0.01)
left = int(sys.argv[2])

def count(batch, logs):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

data = DataLoader(Noisy(), 10, shuffle=True, seed=4)
callbacks = [BackupAndRestore(sys.argv[1], save_freq=2), LambdaCallback(on_train_batch_end=count)]
history = fit(net, F.mse_loss, opt, data, epochs=3, callbacks=callbacks, progress=False)
print(history.history)
for p in net.parameters():
    print(p.detach().numpy().tobytes().hex())
"""


def test_a_killed_run_goes_on_with_the_same_bits(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))

    def run(path, kill_after, seed):
        command = [sys.executable, str(script), str(tmp_path / path), str(kill_after), str(seed)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    whole = run("a", -1, 0)
    assert whole.returncode == 0, whole.stderr
    killed = run("b", 7, 0)
    assert killed.returncode == -signal.SIGKILL
    resumed = run("b", -1, 9)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout == whole.stdout
