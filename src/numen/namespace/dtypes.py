"""Dtypes and constants under NumPy's names, with ml_dtypes' small floats beside them.

`numen` re-exports all of it; importing ml_dtypes is what registers the small floats with NumPy.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

_SCALAR_TYPES = """bool bool_ int8 int16 int32 int64 intp int_ uint8 uint16 uint32 uint64 uintp uint
byte ubyte short ushort intc uintc long ulong longlong ulonglong
float16 float32 float64 half single double longdouble
complex64 complex128 csingle cdouble clongdouble
bytes_ str_ object_ void datetime64 timedelta64 record
generic number integer signedinteger unsignedinteger inexact floating complexfloating flexible
character"""
SCALAR_TYPES = _SCALAR_TYPES.split()
"""NumPy's scalar types under their names; `float128` and `complex256` where the platform has
them."""

_SMALL_FLOATS = """bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz
float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"""
SMALL_FLOATS = _SMALL_FLOATS.split()

__all__ = [*SCALAR_TYPES, *SMALL_FLOATS]
_WIDE = ("float96", "float128", "complex192", "complex256")
__all__ += [name for name in _WIDE if hasattr(np, name)]
__all__ += ["dtype", "sctypeDict", "typecodes", "ScalarType", "little_endian", "True_", "False_"]
__all__ += ["newaxis", "e", "euler_gamma", "inf", "nan", "pi"]

bool_ = bool = np.bool_
int8, int16, int32, int64, intp = np.int8, np.int16, np.int32, np.int64, np.intp
uint8, uint16, uint32, uint64, uintp = np.uint8, np.uint16, np.uint32, np.uint64, np.uintp
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
int_, uint, single, double = np.int_, np.uint, np.single, np.double
byte, short, intc, long, longlong = np.byte, np.short, np.intc, np.long, np.longlong
ubyte, ushort, uintc, ulong, ulonglong = np.ubyte, np.ushort, np.uintc, np.ulong, np.ulonglong
half, longdouble, csingle, cdouble = np.half, np.longdouble, np.csingle, np.cdouble
clongdouble = np.clongdouble
bytes_, str_, object_, void, record = np.bytes_, np.str_, np.object_, np.void, np.record
datetime64, timedelta64 = np.datetime64, np.timedelta64
generic, number, inexact, floating = np.generic, np.number, np.inexact, np.floating
integer, signedinteger, unsignedinteger = np.integer, np.signedinteger, np.unsignedinteger
complexfloating, flexible, character = np.complexfloating, np.flexible, np.character
for _name in _WIDE:
    if hasattr(np, _name):
        globals()[_name] = getattr(np, _name)

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
sctypeDict, typecodes, ScalarType = np.sctypeDict, np.typecodes, np.ScalarType  # noqa: N816
little_endian, True_, False_ = np.little_endian, np.True_, np.False_

newaxis = None
e: float = np.e
euler_gamma: float = np.euler_gamma
inf: float = np.inf
nan: float = np.nan
pi: float = np.pi
