"""fit: the loop over epochs and batches.

It compiles one training step (`steps.py`) and calls it for each batch. The state of a run, which
callbacks see, is in `running.py`; `evaluating.py` holds `evaluate` and `predict`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from numen.train.callbacks import Callback, History
from numen.train.evaluating import Evaluation
from numen.train.metrics import as_metrics
from numen.train.progress import Progress
from numen.train.running import Means, Training
from numen.train.steps import NonFiniteLossError, batches_of, pair, rows_of, training_step
from numen.train.stopping import TerminateOnNaN


def fit(
    model: Any,
    loss: Any,
    optimizer: Any,
    data: Any,
    epochs: int = 1,
    validation: Any = None,
    metrics: Iterable[Any] = (),
    callbacks: Iterable[Callback] = (),
    jit: bool = True,
    progress: bool = True,
    *,
    batch_size: int = 32,
    shuffle: bool = True,
    clip_grad_norm: float | None = None,
) -> History:
    """Train a model.

    Parameters
    ----------
    model : Module
        What is trained.
    loss : callable
        (output, target) to a scalar Array.
    optimizer : Optimizer
        Made with the model's parameters.
    data : DataLoader, Dataset, pair of arrays, or iterable of (inputs, targets)
        What it is trained with. Inputs may be a tuple or a dict: the model's arguments.
    epochs : int
        How often it goes through the data.
    validation : as data, optional
        What it is evaluated with after each epoch.
    metrics : iterable of Metric, callable or str
        "accuracy", "mse", "rmse", "mae", metrics, or functions of (output, target).
    callbacks : iterable of Callback
        What is called on the way.
    jit : bool
        Whether the steps are compiled; results are those of eager kernels.
    progress : bool
        Whether a line is printed for each epoch, and a bar shown on a terminal.
    batch_size, shuffle
        For data sets and pairs of arrays.
    clip_grad_norm : float, optional
        The largest norm of all gradients together.

    Returns
    -------
    History
        Means of each epoch: `.history["loss"]` and so on.

    Raises
    ------
    NonFiniteLossError
        If a loss is NaN or infinite, with epoch and batch; TerminateOnNaN ends the run instead.
    ValueError
        If batches are no pairs, or options make no sense.
    TypeError
        If the data can't be iterated over.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.train import fit
    >>> x = nm.linspace(-1, 1, 32, dtype=nm.float32).reshape(-1, 1)
    >>> net = nm.nn.Linear(1, 1)
    >>> opt = nm.optim.SGD(net.parameters(), lr=0.5)
    >>> mse = nm.nn.functional.mse_loss
    >>> history = fit(net, mse, opt, (x, 3 * x), epochs=40, progress=False, batch_size=16)
    >>> round(net.weight.item(), 3), len(history.history["loss"])
    (3.0, 40)
    """
    if epochs < 0:
        raise ValueError(f"fit: epochs must not be negative, got {epochs}")
    means = Means(as_metrics(metrics))
    batches = batches_of(data, batch_size, shuffle, "fit")
    run = Training(model, optimizer, batches, epochs, means)
    history = History()
    run.callbacks = [history, *callbacks, *([Progress()] if progress else [])]
    quiet = any([isinstance(c, TerminateOnNaN) for c in run.callbacks])
    for callback in run.callbacks:
        callback.set_training(run)
    step = training_step(model, loss, optimizer, clip_grad_norm, bool(means.metrics), jit)
    check = None
    if validation is not None:
        checked = batches_of(validation, batch_size, False, "fit")
        check = Evaluation(model, loss, checked, means.metrics, jit)
    if not getattr(model, "training", True):
        model.train()
    vars(model).pop("stop_training", None)
    try:
        run.call("on_train_begin")
        run.after("begin")
        while run.epoch < epochs and not run.stopped:
            _epoch(run, step, check, quiet)
        run.call("on_train_end")
    finally:
        vars(model).pop("stop_training", None)
        for callback in run.callbacks:
            if isinstance(callback, Progress):
                callback.close()
    return history


def _epoch(run: Training, step: Any, check: Evaluation | None, quiet: bool) -> None:
    """One epoch, or what is left of it."""
    if not run.batch:
        run.means.restart()
    run.call("on_epoch_begin", run.epoch, {})
    for x, y in _remaining(run):
        run.call("on_train_batch_begin", run.batch, {})
        try:
            run.last_loss, output = step(x, y)
        except Exception as error:
            error.add_note(f"fit: at {_position(run)}")
            raise
        if not math.isfinite(run.last_loss) and not quiet:
            raise NonFiniteLossError(
                f"fit: the loss is {run.last_loss} at {_position(run)}. Hint: run fit inside `with "
                "nm.detect_anomaly():`, which names the op and the line where it began; often a "
                "smaller learning rate or clip_grad_norm= helps, or NaN is in this batch"
            )
        run.means.add(run.last_loss, rows_of(x), output, y)
        run.steps += 1
        run.batch += 1
        run.call("on_train_batch_end", run.batch - 1, run.means.logs())
        run.after("batch")
        if run.stopped:
            break
    logs = run.means.logs()
    if check is not None and not run.stopped:
        run.call("on_test_begin")
        logs.update(check.run("val_"))
        run.call("on_test_end", logs)
    epoch, run.epoch, run.batch = run.epoch, run.epoch + 1, 0
    run.call("on_epoch_end", epoch, logs)
    run.after("epoch")


def _position(run: Training) -> str:
    """Where a run is: epoch, batch and step, counted from 1."""
    return (
        f"epoch {run.epoch + 1} of {run.epochs}, batch {run.batch + 1} of {run.batches or 'it'} "
        f"(step {run.steps + 1})"
    )


def _remaining(run: Training) -> Iterator[Any]:
    """The batches of the epoch that are not done; a loader knows by itself which those are."""
    done = 0 if hasattr(run.data, "load_state_dict") else run.batch
    for number, batch in enumerate(run.data):
        if number >= done:
            yield pair(batch, "fit")
