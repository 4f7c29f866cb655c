"""Functions of matrices that NumPy lacks: the matrix exponential.

Next: `ops/matrix_functions.py`.
"""

from __future__ import annotations

from typing import Any

from numen.dispatch.convert import as_array
from numen.ops import table

__all__ = ["expm"]


def expm(a: Any, /) -> Any:
    """The matrix exponential: the sum of a**k / k! over matrix powers.

    Parameters
    ----------
    a : (..., M, M) array_like
        Real or complex, in single or double precision; integers count as float64.

    Returns
    -------
    (..., M, M) Array
        Of the argument's dtype. Computed by scaling and squaring (Higham, "The scaling and squaring
        method for the matrix exponential revisited", 2005).

    Raises
    ------
    LinAlgError
        If `a` is not square.
    TypeError
        If LAPACK does not compute in its dtype (float16, longdouble).

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import expm
    >>> expm(nm.array([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]])
    >>> quarter = nm.array([[0.0, -nm.pi / 2], [nm.pi / 2, 0.0]])
    >>> abs(expm(quarter).round(6))
    array([[0., 1.],
           [1., 0.]])
    """
    return table["expm"](as_array(a))
