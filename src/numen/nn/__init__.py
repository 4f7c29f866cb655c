"""Layers and networks, with PyTorch's names.

`module.py` is the base class, `layers.py` and `containers.py` hold layers, `functional.py` the
functions they call. `optim` trains the parameters.
"""

from numen.nn import functional
from numen.nn.containers import Sequential
from numen.nn.layers import Flatten, Linear, ReLU, Tanh
from numen.nn.module import Module, StateDictError
from numen.nn.parameter import Parameter

__all__ = ["Module", "Parameter", "Sequential", "Linear", "ReLU", "Tanh", "Flatten"]
__all__ += ["functional", "StateDictError"]
