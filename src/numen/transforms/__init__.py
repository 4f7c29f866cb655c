"""Function transforms: `grad`, `value_and_grad` and `vjp`, nested freely.

`reverse.py` holds them; they alias their arguments with fresh nodes and run dispatch's backward
pass.
"""

from numen.transforms.reverse import grad, value_and_grad, vjp

__all__ = ["grad", "value_and_grad", "vjp"]
