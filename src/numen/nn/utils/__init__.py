"""Helpers around modules, with PyTorch's names.

`clip.py` clips gradients, `convert.py` sees parameters as one vector, `segments.py` computes parts
of a chain again to save memory, `stateless.py` calls modules with other parameters.
"""

from numen.nn.utils.clip import clip_grad_norm_, clip_grad_value_, get_total_norm
from numen.nn.utils.convert import parameters_to_vector, vector_to_parameters
from numen.nn.utils.segments import checkpoint_sequential
from numen.nn.utils.stateless import functional_call, stack_module_state

__all__ = ["clip_grad_norm_", "clip_grad_value_", "get_total_norm"]
__all__ += ["parameters_to_vector", "vector_to_parameters"]
__all__ += ["checkpoint_sequential"]
__all__ += ["functional_call", "stack_module_state"]
