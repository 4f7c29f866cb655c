"""evaluate and predict: a model over data, in evaluation mode and without gradients."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable, Iterator
from typing import Any

from numen.dispatch.modes import no_grad
from numen.namespace import concatenate
from numen.tracing import jit as compiled_by
from numen.train.metrics import Metric, as_metrics
from numen.train.running import Means
from numen.train.steps import apply, arrays, batches_of, evaluation_step, pair, rows_of


class Evaluation:
    """Evaluates a model on the same data again and again."""

    def __init__(
        self, model: Any, loss: Any, data: Any, metrics: list[Metric], compiled: bool
    ) -> None:
        self.model = model
        self.data = data
        self.means = Means([_like(m) for m in metrics])
        self.step = evaluation_step(model, loss, bool(metrics), compiled)

    def run(self, prefix: str = "") -> dict[str, float]:
        """The means over the data."""
        self.means.restart()
        with evaluating(self.model):
            for batch in self.data:
                x, y = pair(batch, "evaluate")
                value, output = self.step(x, y)
                self.means.add(value, rows_of(x), output, y)
        return self.means.logs(prefix)


def _like(metric: Metric) -> Metric:
    """Another metric of the same kind and options."""
    other = copy.copy(metric)
    other.reset()
    return other


@contextlib.contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode and no gradients; each module's mode comes back afterwards."""
    modes = [(m, m.training) for m in model.modules()] if hasattr(model, "modules") else []
    for module, _ in modes:
        module.training = False
    try:
        with no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training


def evaluate(
    model: Any,
    loss: Any,
    data: Any,
    metrics: Iterable[Any] = (),
    jit: bool = True,
    *,
    batch_size: int = 32,
) -> dict[str, float]:
    """Mean loss and metrics of a model over data, in evaluation mode.

    Parameters
    ----------
    model, loss, data, metrics, jit, batch_size
        As for `fit`.

    Returns
    -------
    dict of float
        "loss" and the metrics by name.

    Raises
    ------
    ValueError
        If batches are no pairs.
    """
    batches = batches_of(data, batch_size, False, "evaluate")
    return Evaluation(model, loss, batches, as_metrics(metrics), jit).run()


def predict(model: Any, data: Any, jit: bool = True, *, batch_size: int = 32) -> Any:
    """Outputs of a model over data, in evaluation mode, joined along the first axis.

    Parameters
    ----------
    model : Module
        Whose outputs are arrays.
    data : Array, DataLoader, Dataset or iterable
        Inputs; of pairs the first part is taken.
    jit, batch_size
        As for `fit`.

    Returns
    -------
    Array
        One row a sample.

    Raises
    ------
    ValueError
        If there is no data.
    """
    if hasattr(data, "shape"):
        data = [data[at : at + batch_size] for at in range(0, data.shape[0], batch_size)]
    else:
        data = batches_of(data, batch_size, False, "predict")

    def step(x: Any) -> Any:
        return apply(model, x)

    run = compiled_by(step) if jit else step
    outputs = []
    with evaluating(model):
        for batch in data:
            outputs.append(run(arrays(batch[0] if isinstance(batch, (tuple, list)) else batch)))
    if not outputs:
        raise ValueError("predict: there is no data")
    return concatenate(outputs)
