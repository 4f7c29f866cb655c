"""Training with one call: `fit`, with callbacks and metrics named as Keras names them.

`fitting.py` holds the loop, `running.py` its state, `steps.py` the step that it compiles,
`evaluating.py` evaluation, `metrics.py` what is measured, `callbacks.py`, `stopping.py` and
`storing.py` what is called on the way, `progress.py` what is printed.
"""

from numen.train.callbacks import Callback, History, LambdaCallback, LearningRateScheduler
from numen.train.evaluating import evaluate, predict
from numen.train.fitting import fit
from numen.train.metrics import (
    Accuracy,
    BinaryAccuracy,
    MeanAbsoluteError,
    MeanMetric,
    MeanSquaredError,
    Metric,
    Precision,
    Recall,
    RootMeanSquaredError,
    TopKAccuracy,
)
from numen.train.steps import NonFiniteLossError
from numen.train.stopping import EarlyStopping, TerminateOnNaN
from numen.train.storing import BackupAndRestore, CSVLogger, ModelCheckpoint

__all__ = ["fit", "evaluate", "predict", "History", "NonFiniteLossError"]
__all__ += ["Callback", "LambdaCallback", "LearningRateScheduler", "EarlyStopping"]
__all__ += ["TerminateOnNaN", "ModelCheckpoint", "CSVLogger", "BackupAndRestore"]
__all__ += ["Metric", "MeanMetric", "Accuracy", "BinaryAccuracy", "TopKAccuracy", "Precision"]
__all__ += ["Recall", "MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError"]
