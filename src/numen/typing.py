"""`numpy.typing`: types for annotations. `ArrayLike` also takes Arrays."""

import numpy.typing as npt
from numpy.typing import DTypeLike, NBitBase, NDArray

from numen.namespace.array import Array

ArrayLike = npt.ArrayLike | Array

__all__ = ["ArrayLike", "DTypeLike", "NBitBase", "NDArray"]
