"""Window functions: tapers of M points for spectra and filters.

NumPy's own values, as Arrays. Next: `filtering.py`.
"""

from __future__ import annotations

import numpy as np

from numen.namespace.calling import host

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]

bartlett = host(
    np.bartlett,
    """A triangle of M points that ends in zeros; empty where M < 1.

    >>> import numen as nm
    >>> nm.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """,
)
blackman = host(
    np.blackman,
    """A window of M points of three cosines, with close to the least leakage; empty where M < 1.

    >>> import numen as nm
    >>> nm.blackman(3).round(6)
    array([-0.,  1., -0.])
    """,
)
hamming = host(
    np.hamming,
    """A raised cosine of M points on a pedestal of 0.08; empty where M < 1.

    >>> import numen as nm
    >>> nm.hamming(3)
    array([0.08, 1.  , 0.08])
    """,
)
hanning = host(
    np.hanning,
    """A raised cosine of M points that ends in zeros; empty where M < 1.

    >>> import numen as nm
    >>> nm.hanning(3)
    array([0., 1., 0.])
    """,
)
kaiser = host(
    np.kaiser,
    """A window of M points made from Bessel functions; `beta` trades width for leakage.

    >>> import numen as nm
    >>> nm.kaiser(3, beta=0.0)
    array([1., 1., 1.])
    """,
)
