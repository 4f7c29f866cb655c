"""NumPy's linear algebra on Arrays: `numpy.linalg` under the same names.

Plain calls are NumPy's own (LAPACK's values, stacked forms, errors); recorded ones run the rows of
`ops/matrices.py` and the files it names, so they differentiate. `expm` is not NumPy's.
`systems.py` solves, `spectral.py` takes apart, `lengths.py` measures, `multiplying.py` multiplies.
"""

from numen.linalg.lengths import cond, matrix_norm, matrix_rank, norm, vector_norm
from numen.linalg.matrix_functions import expm
from numen.linalg.multiplying import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    matrix_transpose,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from numen.linalg.spectral import eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from numen.linalg.systems import (
    LinAlgError,
    cholesky,
    det,
    inv,
    lstsq,
    pinv,
    slogdet,
    solve,
    tensorinv,
    tensorsolve,
)

__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals"]
__all__ += ["eigvalsh", "inv", "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank"]
__all__ += ["matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve"]
__all__ += ["svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot"]
__all__ += ["vector_norm", "expm"]
