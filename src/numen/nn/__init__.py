"""Layers and networks, with PyTorch's names.

`module.py` is the base class, `layers.py` and `containers.py` hold layers, `functional.py` the
functions they call. `optim` trains the parameters.
"""

from numen.nn import (
    activations,
    attention,
    containers,
    convolution,
    distances,
    dropout,
    embedding,
    functional,
    init,
    losses,
    normalization,
    padding,
    parameter_containers,
    pooling,
    recurrent,
    recurrent_cells,
    shapes,
    transformer,
)
from numen.nn.activations import *  # noqa: F403
from numen.nn.attention import *  # noqa: F403
from numen.nn.containers import *  # noqa: F403
from numen.nn.convolution import *  # noqa: F403
from numen.nn.distances import *  # noqa: F403
from numen.nn.dropout import *  # noqa: F403
from numen.nn.embedding import *  # noqa: F403
from numen.nn.layers import Bilinear, Flatten, Linear
from numen.nn.losses import *  # noqa: F403
from numen.nn.module import Module, StateDictError
from numen.nn.normalization import *  # noqa: F403
from numen.nn.padding import *  # noqa: F403
from numen.nn.parameter import Parameter
from numen.nn.parameter_containers import *  # noqa: F403
from numen.nn.pooling import *  # noqa: F403
from numen.nn.recurrent import *  # noqa: F403
from numen.nn.recurrent_cells import *  # noqa: F403
from numen.nn.shapes import *  # noqa: F403
from numen.nn.transformer import *  # noqa: F403
from numen.nn.utils.stateless import functional_call, stack_module_state

__all__ = ["Module", "Parameter", "Linear", "Bilinear", "Flatten"]
__all__ += ["functional", "functional_call", "init", "stack_module_state", "StateDictError"]
__all__ += activations.__all__ + convolution.__all__ + pooling.__all__ + normalization.__all__
__all__ += (
    padding.__all__ + distances.__all__ + dropout.__all__ + embedding.__all__ + shapes.__all__
)
__all__ += containers.__all__ + parameter_containers.__all__ + losses.__all__
__all__ += recurrent.__all__ + recurrent_cells.__all__ + attention.__all__ + transformer.__all__
