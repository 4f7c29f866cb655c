"""Schedules of the learning rate, with PyTorch's names and values.

Each writes `param_groups[i]["lr"]` of its optimiser when made and at each `step()`. `base.py` is
the base class; then `factors.py`, `annealing.py`, `cycles.py`, `plateau.py`, `combining.py`.
"""

from numen.optim.lr_scheduler.annealing import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    PolynomialLR,
)
from numen.optim.lr_scheduler.base import LRScheduler
from numen.optim.lr_scheduler.combining import ChainedScheduler, SequentialLR
from numen.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from numen.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    StepLR,
)
from numen.optim.lr_scheduler.plateau import ReduceLROnPlateau

__all__ = ["LRScheduler", "LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR"]
__all__ += ["ExponentialLR", "ConstantLR", "LinearLR", "PolynomialLR", "CosineAnnealingLR"]
__all__ += ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR", "ReduceLROnPlateau"]
__all__ += ["SequentialLR", "ChainedScheduler"]
