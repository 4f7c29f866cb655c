"""Implicit differentiation: derivatives of solutions by the equations that they solve.

`equations.py` has the public functions: `root` of f(x) = 0, `fixed_point` of x = f(x),
`linear_solve`. `problem.py` differentiates, `iterations.py` and `systems.py` hold the default
solvers.
"""

from numen.implicit.equations import fixed_point, linear_solve, root
from numen.implicit.vectors import ConvergenceError

__all__ = ["ConvergenceError", "fixed_point", "linear_solve", "root"]
