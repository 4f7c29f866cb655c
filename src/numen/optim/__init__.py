"""Optimisers with PyTorch's names: SGD, Adam, AdamW.

`optimizer.py` is the base class; each optimiser writes its parameters and state in place.
"""

from numen.optim.adam import Adam, AdamW
from numen.optim.optimizer import Optimizer
from numen.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
