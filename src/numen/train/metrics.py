"""Metrics: numbers that are gathered over batches, as Keras names them.

`fit` calls `reset()` at the start of an epoch, `update(output, target)` for each batch and
`result()` after it. Their state is plain numbers, so that a stored run goes on exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from numen.errors import ShapeError, describe
from numen.namespace import abs, take_along_axis, where

NAMES: dict[str, Callable[[], Metric]] = {}
"""Short names that `fit(metrics=[...])` takes."""


class Metric:
    """The base of the metrics. Subclasses give `update(output, target)`, `result()` and, where they
    keep more than numbers set in `reset`, a `reset` of their own.

    Parameters
    ----------
    name : str, optional
        Its name in logs and history.
    """

    default_name = "metric"

    def __init__(self, name: str | None = None) -> None:
        self.name = name or self.default_name
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        raise NotImplementedError

    def update(self, output: Any, target: Any) -> None:
        """Take in a batch."""
        raise NotImplementedError

    def result(self) -> float:
        """The value over all batches since `reset`."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The numbers gathered so far."""
        return {k: v for k, v in vars(self).items() if type(v) in (int, float)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        vars(self).update(state_dict)


class MeanMetric(Metric):
    """The mean of a function's values, over all elements.

    Parameters
    ----------
    function : callable
        (output, target) to an array of one value for each thing measured, or a number for the
        batch, which then counts as often as the batch has rows.
    name : str, optional
        The function's unless given.

    Examples
    --------
    >>> import numen as nm
    >>> bias = nm.train.MeanMetric(lambda output, target: output - target, "bias")
    >>> bias.update(nm.array([1.0, 2.0]), nm.array([0.0, 0.0]))
    >>> bias.update(nm.array([6.0]), nm.array([0.0]))
    >>> bias.result()
    3.0
    """

    def __init__(self, function: Callable[[Any, Any], Any], name: str | None = None) -> None:
        self.function = function
        super().__init__(name or getattr(function, "__name__", self.default_name))

    def reset(self) -> None:
        self.total = 0.0
        self.count = 0

    def measure(self, output: Any, target: Any) -> Any:
        """The function's values for a batch."""
        return self.function(output, target)

    def update(self, output: Any, target: Any) -> None:
        value = self.measure(output, target)
        if getattr(value, "ndim", 0):
            self.total += float(value.sum())
            self.count += value.size
        else:
            rows = output.shape[0] if getattr(output, "ndim", 0) else 1
            self.total += float(value) * rows
            self.count += rows

    def result(self) -> float:
        return self.total / self.count if self.count else float("nan")


class _Named(MeanMetric):
    """A mean of what the class itself measures."""

    def __init__(self, name: str | None = None) -> None:
        Metric.__init__(self, name)


class Accuracy(_Named):
    """Share of right classes.

    Outputs of shape (N, C, ...) are scores, of which the largest counts; targets are classes of
    shape (N, ...), or scores or one-hot rows of the outputs' shape. Outputs with one column, or of
    the shape of integer or bool targets, are binary: above `threshold` means 1.

    Parameters
    ----------
    name : str, optional
        "accuracy" unless given.
    threshold : float
        For binary outputs; 0 is right for logits, 0.5 for probabilities.

    Examples
    --------
    >>> import numen as nm
    >>> accuracy = nm.train.Accuracy()
    >>> accuracy.update(nm.array([[0.1, 0.9], [0.8, 0.2]]), nm.array([1, 1]))
    >>> accuracy.result()
    0.5
    """

    default_name = "accuracy"

    def __init__(self, name: str | None = None, threshold: float = 0.0) -> None:
        self.threshold = threshold
        super().__init__(name)

    def measure(self, output: Any, target: Any) -> Any:
        if output.ndim > 1 and output.shape[1] > 1:
            if output.shape == target.shape:
                target = target.argmax(axis=1)
            _check_shapes(self.name, output.shape[:1] + output.shape[2:], output, target)
            return output.argmax(axis=1) == target
        return _binary(self.name, output, target, self.threshold)


class BinaryAccuracy(_Named):
    """Share of outputs that lie on the target's side of `threshold`; targets are 0 or 1."""

    default_name = "binary_accuracy"

    def __init__(self, name: str | None = None, threshold: float = 0.5) -> None:
        self.threshold = threshold
        super().__init__(name)

    def measure(self, output: Any, target: Any) -> Any:
        return _binary(self.name, output, target, self.threshold)


class TopKAccuracy(_Named):
    """Share of rows whose class is among the k largest scores; ties count as above it."""

    default_name = "top_k_accuracy"

    def __init__(self, k: int = 5, name: str | None = None) -> None:
        self.k = k
        super().__init__(name)

    def measure(self, output: Any, target: Any) -> Any:
        _check_shapes(self.name, output.shape[:1], output, target)
        own = take_along_axis(output, target.reshape(-1, 1), axis=1)
        return (output >= own).sum(axis=1) <= self.k


class MeanSquaredError(_Named):
    """Mean squared difference."""

    default_name = "mean_squared_error"

    def measure(self, output: Any, target: Any) -> Any:
        difference = _difference(self.name, output, target)
        return difference * difference


class RootMeanSquaredError(MeanSquaredError):
    """Root of the mean squared difference."""

    default_name = "root_mean_squared_error"

    def result(self) -> float:
        return float(super().result() ** 0.5)


class MeanAbsoluteError(_Named):
    """Mean absolute difference."""

    default_name = "mean_absolute_error"

    def measure(self, output: Any, target: Any) -> Any:
        return abs(_difference(self.name, output, target))


class _Ratio(Metric):
    """True positives over something; 0 where that is 0."""

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        self.threshold = threshold
        super().__init__(name)

    def reset(self) -> None:
        self.hits = 0
        self.all = 0

    def counted(self, guess: Any, truth: Any) -> Any:
        raise NotImplementedError

    def update(self, output: Any, target: Any) -> None:
        output = _column(output, target)
        _check_shapes(self.name, target.shape, output, target)
        guess, truth = output > self.threshold, target.astype(bool)
        self.hits += int((guess & truth).sum())
        self.all += int(self.counted(guess, truth).sum())

    def result(self) -> float:
        return self.hits / self.all if self.all else 0.0


class Precision(_Ratio):
    """Share of the outputs above `threshold` whose target is 1."""

    default_name = "precision"

    def counted(self, guess: Any, truth: Any) -> Any:
        return guess


class Recall(_Ratio):
    """Share of the targets 1 whose output is above `threshold`."""

    default_name = "recall"

    def counted(self, guess: Any, truth: Any) -> Any:
        return truth


def _binary(name: str, output: Any, target: Any, threshold: float) -> Any:
    output = _column(output, target)
    _check_shapes(name, target.shape, output, target)
    return where(output > threshold, 1, 0) == target


def _column(output: Any, target: Any) -> Any:
    """(N, 1) as (N,) where the targets are."""
    if output.ndim == target.ndim + 1 and output.shape[-1] == 1:
        return output.reshape(output.shape[:-1])
    return output


def _difference(name: str, output: Any, target: Any) -> Any:
    output = _column(output, target)
    _check_shapes(name, output.shape, output, target)
    return output - target


def _check_shapes(name: str, expected: Any, output: Any, target: Any) -> None:
    if tuple(target.shape) != tuple(expected) or output.shape[:1] != target.shape[:1]:
        raise ShapeError(
            f"{name}: output and target do not fit: {describe(output)}, {describe(target)}"
        )


NAMES["accuracy"] = NAMES["acc"] = Accuracy
NAMES["mse"] = MeanSquaredError
NAMES["rmse"] = RootMeanSquaredError
NAMES["mae"] = MeanAbsoluteError


def as_metrics(given: Iterable[Any]) -> list[Metric]:
    """Metrics from what users pass: metrics, functions and names.

    Raises
    ------
    ValueError
        If a name is unknown or comes twice.
    """
    metrics = []
    for metric in [given] if isinstance(given, (str, Metric)) else given:
        if isinstance(metric, str):
            if metric not in NAMES:
                raise ValueError(f"metrics: expected one of {', '.join(NAMES)}, got {metric!r}")
            made = NAMES[metric](name=metric)  # type: ignore[call-arg]
        else:
            made = metric if isinstance(metric, Metric) else MeanMetric(metric)
        metrics.append(made)
    names = [m.name for m in metrics]
    if len({*names, "loss"}) != len(names) + 1:
        raise ValueError(f"metrics: names must differ, and none be 'loss'; got {names}")
    return metrics
