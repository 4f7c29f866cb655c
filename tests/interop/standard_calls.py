"""One call or more for every function of the array API standard, as source text over `xp`.

The names are those of `samples(xp)`; `test_array_api.py` runs each text with two libraries.
"""

import numpy as np


def samples(xp):
    """Arguments of both libraries: `x` (2, 3) and `y` (2, 3) real, `v` a line, `i` integers ..."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(3, 3))
    values = {
        "x": rng.normal(size=(2, 3)),
        "y": rng.normal(size=(2, 3)),
        "f": rng.normal(size=(2, 3)).astype(np.float32),
        "unit": rng.uniform(0.1, 0.9, size=(2, 3)),
        "big": rng.uniform(1.5, 4.0, size=(2, 3)),
        "v": np.asarray([3.0, -1.0, 2.0, -1.0]),
        "z": rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)),
        "i": np.asarray([[5, -2, 3], [1, 0, -7]]),
        "j": np.asarray([[2, 3, 1], [4, 1, 2]]),
        "u": np.asarray([3, 200, 7, 3], dtype=np.uint8),
        "places": np.asarray([2, 0]),
        "b": np.asarray([[True, False, True], [False, False, True]]),
        "c": np.asarray([[True, True, False], [False, True, True]]),
        "A": square,
        "S": square @ square.T + np.eye(3),
        "deep": rng.normal(size=(4, 3, 2)),
        "signal": rng.normal(size=(3, 8)),
        "wave": rng.normal(size=(3, 8)) + 1j * rng.normal(size=(3, 8)),
        "special": np.asarray([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5]),
        "empty": np.zeros((0, 3)),
    }
    return {name: xp.asarray(value) for name, value in values.items()}


UNARY = {
    "acos": "unit", "acosh": "big", "asin": "unit", "asinh": "x", "atan": "x", "atanh": "unit",
    "cos": "x", "cosh": "x", "exp": "x", "expm1": "x", "log": "big", "log10": "big", "log1p": "big",
    "log2": "big", "sin": "x", "sinh": "x", "sqrt": "big", "tan": "x", "tanh": "x",
    "abs": "i", "ceil": "x", "floor": "x", "trunc": "x", "round": "x", "sign": "i", "square": "i",
    "negative": "i", "positive": "i", "reciprocal": "x", "signbit": "special",
    "isfinite": "special", "isinf": "special", "isnan": "special",
    "bitwise_invert": "i", "logical_not": "b", "conj": "z", "imag": "z", "real": "z",
}  # fmt: skip
BINARY = {
    "add": "x y", "subtract": "i j", "multiply": "x y", "divide": "x y", "floor_divide": "i j",
    "remainder": "i j", "pow": "big y", "atan2": "x y", "hypot": "x y", "logaddexp": "x y",
    "copysign": "x y", "nextafter": "x y", "maximum": "x y", "minimum": "i j",
    "equal": "i j", "not_equal": "i j", "less": "x y", "less_equal": "i j", "greater": "x y",
    "greater_equal": "i j", "logical_and": "b c", "logical_or": "b c", "logical_xor": "b c",
    "bitwise_and": "i j", "bitwise_or": "b c", "bitwise_xor": "i j",
    "bitwise_left_shift": "i j", "bitwise_right_shift": "i j",
}  # fmt: skip

CALLS = f"""
xp.e, xp.inf, xp.nan, xp.pi, xp.newaxis is None
xp.asarray([[1, 2], [3, 4]]), xp.asarray(1.5), xp.asarray([True]), xp.asarray([1j, 2])
xp.asarray(x, dtype=xp.float32), xp.asarray(x, copy=True), xp.asarray([1], dtype=xp.uint8)
xp.arange(4), xp.arange(1, 7, 2), xp.arange(0.0, 1.0, 0.25), xp.arange(3, dtype=xp.float32)
xp.empty((2, 3)).shape, xp.empty(2, dtype=xp.int8).dtype, xp.empty_like(i).dtype
xp.eye(3), xp.eye(2, 3, k=1, dtype=xp.int64)
xp.from_dlpack(x), xp.from_dlpack(i)
xp.full((2, 2), 7), xp.full(3, 0.5), xp.full(2, True), xp.full_like(f, 3)
xp.linspace(0, 1, 5), xp.linspace(0, 1, 4, endpoint=False, dtype=xp.float32)
list(xp.meshgrid(v, v[:2])), list(xp.meshgrid(v, v[:2], indexing="ij"))
xp.ones((2, 3)), xp.ones_like(i), xp.zeros(2, dtype=xp.complex64), xp.zeros_like(f)
xp.tril(A), xp.triu(A, k=1)
xp.astype(x, xp.int32), xp.astype(x, xp.float64, copy=False), xp.astype(b, xp.float32)
list(xp.broadcast_arrays(x, xp.asarray(1.0))), xp.broadcast_to(v, (2, 4))
xp.broadcast_shapes((2, 1), (3,))
xp.can_cast(xp.int8, xp.int16), xp.can_cast(xp.float64, xp.float32)
[getattr(xp.finfo(xp.float32), n) for n in "bits eps max min smallest_normal".split()]
[getattr(xp.finfo(xp.complex128), n) for n in "bits eps max min smallest_normal".split()]
[getattr(xp.iinfo(xp.int16), n) for n in "bits max min".split()]
xp.finfo(xp.float32).dtype, xp.iinfo(xp.uint8).dtype
xp.isdtype(xp.float32, "real floating"), xp.isdtype(xp.int8, ("bool", "integral")), xp.isdtype(xp.int8, xp.int8)
xp.result_type(xp.int8, xp.uint8), xp.result_type(f, 1.5), xp.result_type(f, x)
xp.asarray([1, 2], dtype=xp.int8).dtype, xp.asarray([1, 2], dtype=xp.int16).dtype
xp.zeros(1, dtype=xp.uint16), xp.zeros(1, dtype=xp.uint32), xp.zeros(1, dtype=xp.uint64), xp.zeros(1, dtype=xp.int32), xp.zeros(1, dtype=xp.complex128), xp.zeros(1, dtype=xp.bool)
xp.clip(x, -0.5, 0.5), xp.clip(i, min=0), xp.clip(i, max=3), xp.clip(x, y, y + 1)
xp.take(x, places, axis=1), xp.take(v, places), xp.take(deep, places, axis=-3)
xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1), xp.take_along_axis(x, j % 3)
xp.matmul(A, S), xp.matmul(deep, xp.ones((2, 5))), A @ S
xp.tensordot(x, y, axes=2), xp.tensordot(x, A, axes=1), xp.tensordot(x, y, axes=((1,), (1,)))
xp.matrix_transpose(deep), xp.vecdot(x, y), xp.vecdot(z, z, axis=-2)
xp.concat([x, y]), xp.concat([x, y], axis=1), xp.concat([x, y], axis=None)
xp.expand_dims(x, axis=0), xp.expand_dims(x, axis=-1)
xp.flip(x), xp.flip(deep, axis=1), xp.flip(deep, axis=(0, 2))
xp.moveaxis(deep, 0, -1), xp.moveaxis(deep, (0, 1), (1, 2)), xp.permute_dims(deep, (2, 0, 1))
xp.repeat(x, 2), xp.repeat(x, 2, axis=1), xp.repeat(v, xp.asarray([1, 0, 2, 1]))
xp.reshape(x, (3, 2)), xp.reshape(x, (-1,)), xp.reshape(x, (3, 2), copy=True)
xp.roll(x, 1), xp.roll(x, (1, 2), axis=(0, 1)), xp.squeeze(x[None, ...], axis=0)
xp.stack([x, y]), xp.stack([x, y], axis=-1), xp.tile(x, (2, 1, 2)), list(xp.unstack(deep, axis=1))
xp.argmax(x), xp.argmax(x, axis=1), xp.argmin(x, axis=0, keepdims=True), xp.argmax(v)
list(xp.nonzero(i)), xp.count_nonzero(i), xp.count_nonzero(b, axis=1, keepdims=True)
xp.searchsorted(xp.sort(v), y), xp.searchsorted(xp.sort(v), v, side="right")
xp.where(b, x, y), xp.where(b, i, 0), xp.where(b, 1.5, f)
list(xp.unique_all(u)), list(xp.unique_counts(u)), list(xp.unique_inverse(i)), xp.unique_values(v)
xp.unique_all(u).indices, xp.unique_counts(u).counts, xp.unique_inverse(u).inverse_indices
xp.isin(i, j), xp.isin(u, xp.asarray([7, 9], dtype=xp.uint8))
xp.sort(x), xp.sort(x, axis=0), xp.sort(v, stable=False)
xp.argsort(x), xp.argsort(x, axis=0), xp.argsort(v, stable=True)
xp.sort(x, descending=True), xp.argsort(v, descending=True), xp.argsort(x, axis=0, descending=True)
xp.cumulative_sum(v), xp.cumulative_sum(x, axis=1, include_initial=True), xp.cumulative_sum(u)
xp.cumulative_prod(v), xp.cumulative_prod(x, axis=0), xp.cumulative_prod(f, axis=1, dtype=xp.float64)
xp.max(x), xp.max(x, axis=0), xp.min(i, axis=(0, 1), keepdims=True), xp.min(u)
xp.mean(x), xp.mean(f, axis=1), xp.mean(deep, axis=(0, 2), keepdims=True), xp.mean(z)
xp.prod(x), xp.prod(u), xp.prod(f, axis=0, dtype=xp.float64), xp.sum(x), xp.sum(u)
xp.sum(f, axis=1, dtype=xp.float64), xp.sum(empty), xp.sum(empty, axis=0), xp.prod(empty)
xp.std(x), xp.std(x, axis=0, correction=1), xp.var(f, axis=1), xp.var(x, correction=1.0, keepdims=True)
xp.all(b), xp.all(b, axis=0), xp.any(b), xp.any(b, axis=1, keepdims=True)
xp.diff(v), xp.diff(x, axis=0), xp.diff(v, n=2), xp.diff(v, prepend=v[:1], append=v[:1])
xp.linalg.cholesky(S), xp.linalg.cholesky(S, upper=True), xp.linalg.cross(x, y), xp.linalg.det(A)
xp.linalg.diagonal(deep), xp.linalg.diagonal(A, offset=1), xp.linalg.trace(A), xp.linalg.trace(A, offset=-1)
xp.linalg.eigvalsh(S), xp.linalg.eigh(S).eigenvalues, xp.abs(xp.linalg.eigh(S).eigenvectors)
xp.linalg.inv(A), xp.linalg.pinv(x), xp.linalg.pinv(x, rtol=1e-3), xp.linalg.solve(A, x.T), xp.linalg.solve(A, v[:3])
xp.linalg.matmul(A, S), xp.linalg.matrix_transpose(deep), xp.linalg.tensordot(x, A, axes=1), xp.linalg.vecdot(x, y)
xp.linalg.matrix_norm(A), xp.linalg.matrix_norm(deep, ord=1, keepdims=True), xp.linalg.matrix_norm(A, ord="nuc")
xp.linalg.matrix_power(A, 3), xp.linalg.matrix_power(A, -1), xp.linalg.matrix_rank(A), xp.linalg.matrix_rank(x, rtol=0.5)
xp.linalg.outer(v, v), xp.abs(xp.linalg.qr(A).Q), xp.abs(xp.linalg.qr(x, mode="complete").R)
xp.linalg.slogdet(A).sign, xp.linalg.slogdet(A).logabsdet
xp.linalg.svd(x).S, xp.abs(xp.linalg.svd(x, full_matrices=False).U), xp.linalg.svdvals(x)
xp.linalg.vector_norm(x), xp.linalg.vector_norm(x, axis=1, ord=1, keepdims=True), xp.linalg.vector_norm(x, ord=xp.inf)
xp.fft.fft(wave), xp.fft.ifft(wave, n=6), xp.fft.fftn(wave), xp.fft.ifftn(wave, axes=(0, 1), norm="ortho")
xp.fft.rfft(signal), xp.fft.irfft(wave), xp.fft.rfftn(signal), xp.fft.irfftn(wave, s=(3, 8), axes=(0, 1))
xp.fft.hfft(wave, n=8), xp.fft.ihfft(signal), xp.fft.fftshift(signal), xp.fft.ifftshift(signal, axes=1)
xp.fft.fftfreq(5), xp.fft.fftfreq(4, d=0.5, dtype=xp.float32), xp.fft.rfftfreq(5, d=0.1), xp.fft.rfftfreq(4, dtype=xp.float32)
{chr(10).join(f"xp.{name}({x})" for name, x in UNARY.items())}
{chr(10).join(f"xp.{name}({pair.replace(' ', ', ')})" for name, pair in BINARY.items())}
xp.add(x, 1.5), xp.subtract(2, i), xp.multiply(f, 2.0), xp.maximum(x, 0.0), xp.less(i, 2), xp.pow(big, 2), xp.logical_and(b, True)
xp.atan2(x, 1.0), xp.copysign(x, -1.0), xp.bitwise_and(i, 3), xp.divide(1.0, big), xp.hypot(x, 3.0), xp.remainder(i, 3)
""".strip().splitlines()  # noqa: E501

MEMBERS = """
x.dtype, x.shape, x.ndim, x.size, str(x.device) is not None
x.T, deep.mT, x.to_device(x.device)
abs(i), -x, +x, ~i, ~b, x + y, i - j, x * y, x / y, i // j, i % j, big**y, A @ S
i & j, i | j, b ^ c, i << j, i >> j, x < y, x <= y, x > y, x >= y, i == j, i != j
x + 1.5, 2 - i, 3 * f, 1 / big, 7 // j, 7 % j, 2.0**x, 6 & i, 1 | i, 5 ^ i, 1 << j, 200 >> j
x[0, ...], x[:, 1], deep[..., None].shape, v[::-1], v[v > 0], x[b], v[places], deep[1, ::2, -1]
bool(b[0, 0]), int(i[0, 0]), float(x[0, 0]), complex(z[0, 0]), hex(i[0, 0])
f + 1, u + 1, b | True, f * 2j
""".strip().splitlines()

WRITES = """
x[0, :] = 7.0
x[b] = -1.0
v[::2] = v[1::2]
i[1, ...] = j[0, ...]
x += y
i -= j
x *= 2.0
x /= big
i //= j
i %= j
big **= 2
i &= j
b |= c
b ^= c
i <<= j
i >>= j
A @= S
""".strip().splitlines()
