"""Dtypes and constants under NumPy's names, with ml_dtypes' small floats beside them.

`numen` re-exports all of it; importing ml_dtypes is what registers the small floats with NumPy.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

__all__ = ["bool", "bool_", "int8", "int16", "int32", "int64", "intp", "int_"]
__all__ += ["uint8", "uint16", "uint32", "uint64", "uintp", "uint"]
__all__ += ["float16", "float32", "float64", "single", "double", "complex64", "complex128"]
__all__ += ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"]
__all__ += ["float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
__all__ += ["dtype", "finfo", "iinfo", "newaxis", "e", "euler_gamma", "inf", "nan", "pi"]

bool_ = bool = np.bool_
int8, int16, int32, int64, intp = np.int8, np.int16, np.int32, np.int64, np.intp
uint8, uint16, uint32, uint64, uintp = np.uint8, np.uint16, np.uint32, np.uint64, np.uintp
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
int_, uint, single, double = np.int_, np.uint, np.single, np.double

bfloat16 = ml_dtypes.bfloat16
float8_e3m4 = ml_dtypes.float8_e3m4
float8_e4m3 = ml_dtypes.float8_e4m3
float8_e4m3b11fnuz = ml_dtypes.float8_e4m3b11fnuz
float8_e4m3fn = ml_dtypes.float8_e4m3fn
float8_e4m3fnuz = ml_dtypes.float8_e4m3fnuz
float8_e5m2 = ml_dtypes.float8_e5m2
float8_e5m2fnuz = ml_dtypes.float8_e5m2fnuz
float8_e8m0fnu = ml_dtypes.float8_e8m0fnu

dtype = np.dtype
finfo = ml_dtypes.finfo
iinfo = ml_dtypes.iinfo

newaxis = None
e: float = np.e
euler_gamma: float = np.euler_gamma
inf: float = np.inf
nan: float = np.nan
pi: float = np.pi
