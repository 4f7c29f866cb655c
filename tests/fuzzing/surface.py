"""Templates of statements that call NumPy's functions, by family, over names of functions.

Used by `statements.py`; `words.py` says what the keys stand for.
"""

from __future__ import annotations

UNARY = (
    *("exp", "tanh", "sqrt", "absolute", "negative", "log", "sin", "cos", "arctan", "floor"),
    *("ceil", "rint", "trunc", "sign", "square", "reciprocal", "expm1", "log1p", "exp2", "cbrt"),
    *("sinh", "arcsin", "isnan", "isfinite", "signbit", "logical_not", "positive", "deg2rad"),
)

BINARY = (
    *("add", "multiply", "subtract", "maximum", "minimum", "divide", "floor_divide", "remainder"),
    *("fmod", "power", "arctan2", "hypot", "logaddexp", "fmax", "fmin", "copysign", "greater"),
    *("logical_and", "logical_or", "logical_xor", "less_equal", "float_power", "heaviside"),
)

BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm")

REDUCING = ("sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "ptp")

MASKED = ("sum", "prod", "mean", "std", "var", "any", "all")

RUNNING = ("cumsum", "cumprod")

ELEMENTWISE = (
    *("{new} = nm.{unary}({x})",) * 4,
    *("{new} = nm.{binary}({x}, {yc})",) * 4,
    "{new} = nm.{binary}({c}, {x})",
    "{new} = nm.{bits}({integers}, {yc})",
    "{new} = nm.where({x} {compare} {y}, {x}, {y})",
    "{new} = nm.where({x} {compare} {c}, {yc}, {x})",
    "{new} = nm.clip({x}, {c}, {yc})",
    "{new} = {x}.clip({c})",
    "{new} = nm.round({x}, 1)",
    "{new} = nm.nan_to_num({x})",
    "{new} = nm.modf({x})[{item}]",
    "{new} = nm.frexp({floats})[{item}]",
    "{new} = nm.{binary}.outer({x}, {y})",
    "{new} = nm.add.reduce({x}, axis={axis})",
    "{new} = nm.multiply.accumulate({x}, axis={one})",
)

REDUCTIONS = (
    *("{new} = {x}.{reduction}(axis={axis}{keep})",) * 3,
    *("{new} = nm.{reduction}({x}, axis={axis}{keep})",) * 3,
    "{new} = nm.{masked}({x}, axis={axis}, where={x} > {c})",
    "{new} = nm.max({x}, axis={axis}, initial=0, where={x} > {c})",
    "{new} = nm.sum({x}, axis={axis}, dtype='{dtype}')",
    "{new} = {x}.{running}(axis={line})",
    "{new} = {x}.argmax(axis={line}{keep})",
    "{new} = nm.argmin({x}, axis={line}{keep})",
    "{new} = nm.var({floats}, axis={axis}, ddof=1)",
    "{new} = nm.average({x}, axis={one})",
    "{new} = nm.diff({x}, axis={one})",
    "{new} = nm.nansum({x}, axis={axis}{keep})",
    "{new} = nm.nanmax({floats}, axis={line})",
    "{new} = nm.linalg.norm({floats}, axis={one}{keep})",
)

ORDER = (
    "{new} = nm.sort({x}, axis={line})",
    "{new} = nm.argsort({x}, axis={line}, kind='stable')",
    "{new} = nm.median({x}, axis={axis}{keep})",
    "{new} = nm.quantile({floats}, {level}, axis={line}, method='{method}')",
    "{new} = nm.partition({x}, {kth}, axis={one})",
    "{x}.sort(axis={one})",
    "{new} = nm.take_along_axis({x}, nm.argsort({x}, axis={one}, kind='stable'), axis={one})",
)

SHAPES = (
    "{new} = nm.concatenate([{x}, {y}], axis={join})",
    "{new} = nm.stack([{x}, {x} * 2], axis={one})",
    "{new} = nm.hstack([{x}, {x}])",
    "{new} = nm.vstack([{x}, {y}])",
    "{new} = nm.moveaxis({x}, 0, -1)",
    "{new} = nm.swapaxes({x}, 0, {one})",
    "{new} = nm.flip({x}, axis={line})",
    "{new} = nm.roll({x}, {shift_by}, axis={line})",
    "{new} = nm.tile({x}, 2)",
    "{new} = nm.repeat({x}, 2, axis={line})",
    "{new} = nm.split({x}, {halves})[0]",
    "{new} = nm.array_split({x}, 2, axis={one})[-1]",
    "{new} = nm.pad({x}, {width}, mode='{padding}')",
    "{new} = nm.diagonal({matrix}, {k})",
    "{new} = nm.tril({x}, {k})",
    "{new} = nm.triu({x})",
    "{new} = nm.expand_dims({x}, {one})",
    "{new} = nm.squeeze({x})",
    "{new} = nm.broadcast_to({x}, (2, *{x}.shape))",
    "{new} = nm.ravel({x})",
    "{new} = nm.rot90({matrix})",
    "{new} = nm.atleast_2d({x})",
    "{new} = nm.append({x}, {y})",
    "{new} = nm.insert({x}, 0, {c}, axis={line})",
    "{new} = nm.delete({x}, 0, axis={line})",
    "{new} = nm.full_like({x}, {c})",
    "{new} = nm.diag({vector})",
    "{new} = nm.meshgrid({vector}, {vector})[{item}]",
)

PRODUCTS = (
    "{new} = nm.dot({x}, {y})",
    "{new} = nm.outer({vector}, {vector})",
    "{new} = nm.einsum('ij,kj->ik', {matrix}, {x})",
    "{new} = nm.einsum('...i->...', {x})",
    "{new} = nm.einsum('ij->ji', {matrix})",
    "{new} = nm.tensordot({x}, {x}, axes={x}.ndim)",
    "{new} = nm.tensordot({x}, {y}, axes=0)",
    "{new} = nm.inner({x}, {x})",
    "{new} = nm.vecdot({x}, {x})",
    "{new} = nm.kron({vector}, {vector})",
    "{new} = nm.trace({matrix})",
    "{new} = nm.convolve({vector}, {there})",
    "{new} = nm.interp({x}, nm.arange(3.0), {there})",
)

PICKS = (
    "{new} = nm.take({x}, {there}, axis={line})",
    "{new} = {x}.take({there}, mode='wrap')",
    "{new} = {x}[{there}, {slice}]",
    "{new} = {x}[{there}]",
    "{new} = {x}[..., {there}]",
    "{new} = {x}[{there}, {there}]",
    "{x}[{x} > {c}] = {c}",
    "{x}[{x} {compare} {y}] = 0",
    "{x}[{there}, {slice}] {sign}= {c}",
    "nm.put({x}, [0, -1], {yc})",
    "nm.putmask({x}, {x} > {c}, {yc})",
    "nm.copyto({x}, {yc}, casting='unsafe')",
    "nm.copyto({x}, {c}, where={x} > 0, casting='unsafe')",
    "nm.fill_diagonal({matrix}, {c})",
    "{new} = nm.select([{x} > {c}, {x} < 0], [{x}, -{x}], {c})",
    "{new} = nm.choose(nm.array([0, 1, 0]), [{c}, {x}])",
    "nm.add.at({x}, {there}, {c})",
    "{x}.fill({c})",
)

BY_VALUE = (
    "{new} = {x}[{x} > {c}]",
    "{x}[{x} > {c}] {sign}= {yc}",
    "{new} = nm.unique({x})",
    "{new} = nm.nonzero({x})[0]",
    "{new} = nm.searchsorted(nm.sort({vector}), {yc})",
    "{new} = nm.nanmedian({floats}, axis={line})",
    "{new} = nm.compress({x}.reshape(-1) > {c}, {x})",
    "{new} = nm.isin({x}, {there})",
    "{new} = nm.count_nonzero({x}, axis={axis})",
)
