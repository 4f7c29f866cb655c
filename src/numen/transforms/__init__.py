"""Function transforms: gradients, directional derivatives, batching, nested freely.

`reverse.py` holds grad and vjp, `forward.py` jvp, `batching.py` vmap, `jacobians.py` what is made
of them; `trees.py` takes containers of arrays apart. What they carry through a function is
`dispatch/frames.py`'s.
"""

from numen.transforms.batching import vmap
from numen.transforms.forward import jvp, linearize
from numen.transforms.jacobians import hessian, hvp, jacfwd, jacrev
from numen.transforms.reverse import grad, value_and_grad, vjp

__all__ = ["grad", "hessian", "hvp", "jacfwd", "jacrev", "jvp", "linearize"]
__all__ += ["value_and_grad", "vjp", "vmap"]
