"""Optimisers with PyTorch's names, and schedules of their learning rates.

`optimizer.py` is the base class; each optimiser writes its parameters and state in place.
`lr_scheduler` changes the options from step to step.
"""

from numen.optim import lr_scheduler
from numen.optim.adagrad import Adagrad
from numen.optim.adam import Adam, AdamW
from numen.optim.lion import Lion
from numen.optim.optimizer import Optimizer
from numen.optim.rmsprop import RMSprop
from numen.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Lion", "Optimizer", "lr_scheduler"]
