"""Metrics against values by hand and scikit-learn's."""

import numpy as np
import pytest

import numen as nm
from numen import train
from numen.errors import ShapeError
from numen.train.metrics import as_metrics


def value(metric, *batches):
    for output, target in batches:
        metric.update(nm.array(output), nm.array(target))
    return metric.result()


def test_accuracies():
    scores = [[0.1, 0.9, 0.0], [0.8, 0.1, 0.1], [0.2, 0.3, 0.5]]
    assert value(train.Accuracy(), (scores, [1, 0, 1])) == pytest.approx(2 / 3)
    assert value(train.Accuracy(), (scores, np.eye(3)[[1, 0, 1]])) == pytest.approx(2 / 3)
    assert value(train.Accuracy(), ([[-1.0], [2.0]], [0, 1])) == 1.0
    assert value(train.Accuracy(), ([-1.0, 2.0, 3.0], [0, 1, 0])) == pytest.approx(2 / 3)
    images = np.zeros((2, 3, 4, 4))
    images[:, 2] = 1
    assert value(train.Accuracy(), (images, np.full((2, 4, 4), 2))) == 1.0
    assert value(train.BinaryAccuracy(), ([0.4, 0.6], [0, 0])) == 0.5
    assert value(train.TopKAccuracy(2), (scores, [0, 1, 0])) == pytest.approx(1 / 3)
    with pytest.raises(ShapeError, match="accuracy"):
        value(train.Accuracy(), (scores, [1, 0]))


def test_errors():
    batches = ([1.0, 2.0], [0.0, 0.0]), ([5.0], [2.0])
    assert value(train.MeanSquaredError(), *batches) == pytest.approx(14 / 3)
    assert value(train.RootMeanSquaredError(), *batches) == pytest.approx((14 / 3) ** 0.5)
    assert value(train.MeanAbsoluteError(), *batches) == 2.0
    assert value(train.MeanAbsoluteError(), ([[1.0], [2.0]], [0.0, 0.0])) == 1.5
    with pytest.raises(ShapeError, match="mean_squared_error"):
        value(train.MeanSquaredError(), ([[1.0, 2.0]], [0.0]))


def test_precision_and_recall_are_scikit_learn_s():
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    scores, truth = rng.random(200), rng.integers(0, 2, 200)
    halves = [(scores[i : i + 100], truth[i : i + 100]) for i in (0, 100)]
    assert value(train.Precision(0.3), *halves) == pytest.approx(
        sklearn.precision_score(truth, scores > 0.3)
    )
    assert value(train.Recall(0.3), *halves) == pytest.approx(
        sklearn.recall_score(truth, scores > 0.3)
    )
    assert value(train.Precision(), ([0.0], [1])) == 0.0


def test_functions_names_and_state():
    batch = nm.array([[1.0, 2.0], [3.0, 4.0]]), nm.array([0, 1])
    mean = train.MeanMetric(lambda output, target: output.mean(), "mean")
    mean.update(*batch)
    mean.update(nm.array([[8.5, 8.5]]), nm.array([0]))
    assert mean.result() == pytest.approx((2.5 * 2 + 8.5) / 3)
    other = train.MeanMetric(lambda output, target: output.mean(), "mean")
    other.load_state_dict(mean.state_dict())
    assert other.result() == mean.result()
    mean.reset()
    assert np.isnan(mean.result())

    def largest(output, target):
        return output.max()

    metrics = as_metrics(["accuracy", largest, train.Recall(name="r")])
    assert [m.name for m in metrics] == ["accuracy", "largest", "r"]
    assert as_metrics("mse")[0].name == "mse"
    with pytest.raises(ValueError, match="'auc'"):
        as_metrics(["auc"])
    for bad in (["mse", "mse"], [train.Recall(name="loss")]):
        with pytest.raises(ValueError, match="differ"):
            as_metrics(bad)
