"""NumPy's functions and the class `Array`, over the rows in `ops`.

`array.py` is the class (`access.py` its indexing, `methods.py` its methods, `operators.py` its
operators, `protocols.py` what other libraries ask of it); the other files hold functions by family.
`calling.py` says how a function runs: NumPy's own on plain arrays, rows where a gradient or a trace
is concerned. `numen` re-exports `__all__`.
"""

from numen.namespace import (
    axes,
    bits,
    buffers,
    calendar,
    complex_numbers,
    contractions,
    creation,
    cumulative,
    deviations,
    diagonals,
    differences,
    dtypes,
    exponential_sums,
    filled,
    filtering,
    flat,
    functional,
    grids,
    histograms,
    hosted,
    index_tricks,
    interpolation,
    io,
    iterating,
    joining,
    layout,
    logic,
    manipulation,
    nan_functions,
    padding,
    places,
    placing,
    pointwise,
    polynomials,
    products,
    quantiles,
    ranges,
    reductions,
    repeating,
    selecting,
    sets,
    sorting,
    special,
    splitting,
    state,
    statistics,
    stride_tricks,
    text,
    types,
    ufunc_class,
    ufunc_methods,
    ufuncs,
    windows,
)
from numen.namespace.array import Array, ndarray
from numen.namespace.axes import *  # noqa: F403
from numen.namespace.bits import *  # noqa: F403
from numen.namespace.buffers import *  # noqa: F403
from numen.namespace.calendar import *  # noqa: F403
from numen.namespace.complex_numbers import *  # noqa: F403
from numen.namespace.contractions import *  # noqa: F403
from numen.namespace.creation import *  # noqa: F403
from numen.namespace.cumulative import *  # noqa: F403
from numen.namespace.deviations import *  # noqa: F403
from numen.namespace.diagonals import *  # noqa: F403
from numen.namespace.differences import *  # noqa: F403
from numen.namespace.dtypes import *  # noqa: F403
from numen.namespace.exponential_sums import *  # noqa: F403
from numen.namespace.filled import *  # noqa: F403
from numen.namespace.filtering import *  # noqa: F403
from numen.namespace.flat import *  # noqa: F403
from numen.namespace.functional import *  # noqa: F403
from numen.namespace.grids import *  # noqa: F403
from numen.namespace.histograms import *  # noqa: F403
from numen.namespace.hosted import *  # noqa: F403
from numen.namespace.index_tricks import *  # noqa: F403
from numen.namespace.interpolation import *  # noqa: F403
from numen.namespace.io import *  # noqa: F403
from numen.namespace.iterating import *  # noqa: F403
from numen.namespace.joining import *  # noqa: F403
from numen.namespace.layout import *  # noqa: F403
from numen.namespace.logic import *  # noqa: F403
from numen.namespace.manipulation import *  # noqa: F403
from numen.namespace.nan_functions import *  # noqa: F403
from numen.namespace.padding import *  # noqa: F403
from numen.namespace.places import *  # noqa: F403
from numen.namespace.placing import *  # noqa: F403
from numen.namespace.pointwise import *  # noqa: F403
from numen.namespace.polynomials import *  # noqa: F403
from numen.namespace.products import *  # noqa: F403
from numen.namespace.quantiles import *  # noqa: F403
from numen.namespace.ranges import *  # noqa: F403
from numen.namespace.reductions import *  # noqa: F403
from numen.namespace.repeating import *  # noqa: F403
from numen.namespace.selecting import *  # noqa: F403
from numen.namespace.sets import *  # noqa: F403
from numen.namespace.sorting import *  # noqa: F403
from numen.namespace.special import *  # noqa: F403
from numen.namespace.splitting import *  # noqa: F403
from numen.namespace.state import *  # noqa: F403
from numen.namespace.statistics import *  # noqa: F403
from numen.namespace.stride_tricks import *  # noqa: F403
from numen.namespace.text import *  # noqa: F403
from numen.namespace.types import *  # noqa: F403
from numen.namespace.ufunc_class import *  # noqa: F403
from numen.namespace.ufuncs import *  # noqa: F403
from numen.namespace.windows import *  # noqa: F403

FAMILIES = (
    dtypes,
    types,
    creation,
    filled,
    flat,
    ranges,
    grids,
    buffers,
    ufunc_class,
    ufunc_methods,
    ufuncs,
    reductions,
    places,
    deviations,
    cumulative,
    statistics,
    sets,
    quantiles,
    nan_functions,
    histograms,
    logic,
    manipulation,
    axes,
    diagonals,
    joining,
    layout,
    padding,
    repeating,
    splitting,
    stride_tricks,
    selecting,
    placing,
    bits,
    index_tricks,
    sorting,
    differences,
    interpolation,
    special,
    exponential_sums,
    pointwise,
    complex_numbers,
    products,
    windows,
    polynomials,
    filtering,
    contractions,
    calendar,
    functional,
    hosted,
    io,
    iterating,
    state,
    text,
)
"""The files of functions; each lists its public names in `__all__`."""

__all__ = ["Array", "ndarray"]
for _family in FAMILIES:
    __all__ += _family.__all__
