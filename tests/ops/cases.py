"""What the generated op tests share: rows, dtypes, samples, each row's meaning in NumPy."""

import warnings

import numpy as np
from network_meanings import MEANINGS

from numen.dispatch.backward import backward
from numen.dispatch.core import Leaf
from numen.namespace.array import Array
from numen.ops import scans, table

ROWS = sorted(table)
ANY_BASIS = {"qr_rest", "svd_u_rest", "svd_v_rest", "eig_parts"}
"""Rows of vectors whose derivative holds up to the choice of a basis or of phases, which LAPACK
makes: checked in tests/linalg through functions that do not depend on it."""

DIFFERENTIABLE = [n for n in ROWS if table[n].vjp is not None and n not in ANY_BASIS]
DTYPES = [
    np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
]
INTEGERS = {
    *("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
    *("gcd", "lcm", "invert", "bitwise_count"),
}
"""Rows that take no floats: their samples are integers where nothing else is asked for."""

LINEAR = {
    "positive",
    "conjugate",
    "degrees",
    "rad2deg",
    "radians",
    "deg2rad",
    "real",
    "imag",
    "cast",
    "copy",
    "sum",
    "mean",
    "reshape",
    "transpose",
    "broadcast_to",
    "diagonal",
    "as_strided",
    "view_dtype",
    "lay_out",
    "getitem",
    "gather",
    *("convolution", "convolution_input", "convolution_weight", "embedding_place"),
    *("pool_pick", "pool_place", "window_sum", "window_spread"),
    *("fft_c2c", "fft_r2c", "fft_c2r"),
}


def seeded(name):
    return np.random.default_rng(list(name.encode()))


def samples(name, dtype=None):
    """The row's samples: [(args, params)]."""
    dtype = dtype or ("int64" if name in INTEGERS else "float64")
    return table[name].samples(seeded(name), np.dtype(dtype))


def wrapped(args):
    """ndarrays as Arrays, scalars as they are."""
    return [Array(a) if isinstance(a, np.ndarray) else a for a in args]


def is_float(a):
    return isinstance(a, np.ndarray) and a.dtype.kind == "f"


def evaluate(name, args, params):
    """The row on raw arguments, as an ndarray."""
    return np.asarray(table[name].impl(*args, **params))


def leaves(args):
    """Arrays that require a gradient for the floating arguments; others as they are."""
    out = []
    for a in args:
        if is_float(a):
            x = Array(a.copy(order="K"))
            x._n = Leaf(a.shape, a.dtype)
            out.append(x)
        else:
            out.append(Array(a) if isinstance(a, np.ndarray) else a)
    return out


def gradients(output, seed, inputs, create_graph=False):
    """The cotangents of `inputs`, zeros where there is none."""
    found = backward([output], [seed], wrt=[x._n for x in inputs], create_graph=create_graph)
    return [
        Array(np.zeros_like(x._d)) if g is None else g for g, x in zip(found, inputs, strict=True)
    ]


def raw(x):
    return x._d if isinstance(x, Array) else x


def central_difference(function, args, position, direction, step):
    """d function / d args[position] along `direction`."""
    ahead, behind = list(args), list(args)
    ahead[position] = np.asarray(args[position] + step * direction)
    behind[position] = np.asarray(args[position] - step * direction)
    return (function(*ahead) - function(*behind)) / (2 * step)


def quiet(function, *args, **params):
    """Call with NumPy's floating-point and cast warnings silenced."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **params)


# NumPy's meaning, written without the rows


def _index(indices, spec):
    return tuple(e[1] if isinstance(e, tuple) else indices[e] for e in spec)


def _setitem(base, value, path):
    positions = np.arange(base.size).reshape(base.shape)
    for step, params in path:
        name, (argument,) = step.name, params.values()
        if name == "getitem":
            positions = positions[argument]
        else:
            positions = getattr(np, name)(positions, argument)
    out = base.flatten()
    out[positions] = value
    return out.reshape(base.shape)


def _scatter_add(base, value, *indices, spec):
    out = base.copy()
    value = np.asarray(value).astype(out.dtype)
    while value.ndim > out[_index(indices, spec)].ndim and len(value) == 1:
        value = value[0]  # assignment ignores leading ones, np.add.at does not
    np.add.at(out, _index(indices, spec), value)
    return out


def _scatter_set(base, value, *indices, spec):
    out = base.copy()
    out[_index(indices, spec)] = value
    return out


def _relu(a):
    if a.dtype.kind == "c":
        raise TypeError
    return np.maximum(a, np.zeros_like(a))


def _cofactor(a):
    u, s, v = np.linalg.svd(a)
    others = np.where(np.eye(s.shape[-1], dtype=bool), np.ones((), s.dtype), s[..., None, :])
    turn = np.linalg.det(u) * np.linalg.det(v)
    return np.matmul(u.conj() * (turn[..., None] * others.prod(-1))[..., None, :], v.conj())


def _cofactor_slope(a, t):
    """The slope at 0 of the cofactors of a + s t, polynomials of s, from their values at roots of
    unity."""
    dtype = _cofactor(a).dtype
    points = np.exp(2j * np.pi * np.arange(8) / 8)
    values = [_cofactor(a.astype(complex) + s * t) for s in points]
    slope = sum(v / s for v, s in zip(values, points, strict=True)) / len(points)
    return (slope if dtype.kind == "c" else slope.real).astype(dtype)


def _complete(a, part):
    """What np.linalg.svd's u or v has beyond min(M, N) vectors."""
    k = min(np.shape(a)[-2:])
    return np.linalg.svd(a)[0][..., k:] if part == "u" else np.linalg.svd(a)[2][..., k:, :]


def _svd_parts(a):
    u, s, v = np.linalg.svd(a, full_matrices=False)
    return np.concatenate([u, s[..., None, :], v.swapaxes(-1, -2).conj()], -2)


def _below(result):
    """Eigenvalues below their vectors."""
    return np.concatenate([result.eigenvectors, result.eigenvalues[..., None, :]], -2)


def _as_complex(x):
    return x.astype(np.result_type(x, np.complex64))


def _expm(a):
    """The power series of a / 1024, squared ten times, in double precision."""
    if a.dtype.char in "egG":
        raise TypeError
    if a.shape[-1:] != a.shape[-2:-1]:
        raise np.linalg.LinAlgError
    wide = a.astype(np.result_type(a, np.float64)) / 1024
    total = term = np.broadcast_to(np.eye(a.shape[-1]), a.shape).astype(wide.dtype)
    for k in range(1, 12):
        term = term @ wide / k
        total = total + term
    for _ in range(10):
        total = total @ total
    return total.astype(a.dtype if a.dtype.kind in "fc" else np.float64)


def _c2c(a, axes, forward, norm):
    return (np.fft.fftn if forward else np.fft.ifftn)(a, axes=axes, norm=norm)


def _as_strided(a, shape, strides, source, writeable):
    def address(index, steps):
        return sum(i * step for i, step in zip(index, steps, strict=True))

    elements = {address(index, source): a[index] for index in np.ndindex(a.shape)}
    out = np.empty(shape, a.dtype)
    for index in np.ndindex(shape):
        if address(index, strides) not in elements:
            raise ValueError
        out[index] = elements[address(index, strides)]
    return out


def _exponentials(a, axis):
    """exp(a - max) in float32 or wider, and the maximum."""
    if a.dtype.kind not in "biuf":
        raise TypeError
    wide = (
        a
        if a.dtype.kind == "f" and a.dtype.itemsize > 2
        else a.astype("f4" if a.dtype.kind == "f" else "f8")
    )
    top = wide.max(axis, keepdims=True, initial=-np.inf)
    top[~np.isfinite(top)] = 0
    return np.exp(wide - top), wide - top, top


def _as_result(out, a):
    return out.astype(a.dtype) if a.dtype.kind == "f" else out


def _softmax(a, axis):
    e, _, _ = _exponentials(a, axis)
    return _as_result(e / e.sum(axis, keepdims=True), a)


def _log_softmax(a, axis):
    e, shifted, _ = _exponentials(a, axis)
    return _as_result(shifted - np.log(e.sum(axis, keepdims=True)), a)


def _logsumexp(a, axis, keepdims):
    e, _, top = _exponentials(a, axis)
    out = np.log(e.sum(axis, keepdims=True)) + top
    return _as_result(out if keepdims else out.squeeze(axis), a)


def _cross_entropy(a, labels):
    e, shifted, _ = _exponentials(a, 1)
    out = np.log(e.sum(1)) - shifted[np.arange(len(a)), labels]
    return _as_result(out, a)


def _binary_cross_entropy(a, b):
    if a.dtype.kind == "c":
        raise TypeError
    with np.errstate(divide="ignore"):
        logs = [np.maximum(np.log(np.abs(x)), -100.0) for x in (a, 1 - a)]
    return -(b * logs[0] + (1 - b) * logs[1])


def _real(*args):
    if any(a.dtype.kind not in "fb" for a in args) or args[0].dtype.kind != "f":
        raise TypeError


def _logistic(x):
    return np.tanh(x * 0.5) * 0.5 + 0.5


def _rnn_scan(pre, w, h, mask=None, kind="tanh"):
    _real(pre, w, h)
    out = np.empty((*pre.shape[:2], h.shape[1]), pre.dtype)
    for t in range(len(pre)):
        new = pre[t] + h @ w.T
        new = np.tanh(new) if kind == "tanh" else np.maximum(new, 0)
        h = out[t] = new if mask is None else np.where(mask[t], new, h)
    return out


def _lstm_scan(pre, w, h, c, mask=None):
    _real(pre, w, h, c)
    out = np.empty((*pre.shape[:2], 2 * h.shape[1]), pre.dtype)
    for t in range(len(pre)):
        i, f, g, o = np.split(pre[t] + h @ w.T, 4, axis=1)
        cell = _logistic(f) * c + _logistic(i) * np.tanh(g)
        state = _logistic(o) * np.tanh(cell)
        c = cell if mask is None else np.where(mask[t], cell, c)
        h = state if mask is None else np.where(mask[t], state, h)
        out[t] = np.concatenate([h, c], 1)
    return out


def _scan_back(name):
    """What the back rows give: the cotangents that the scan's rule finds, the states' behind the
    gates'. tests/ops/test_gradients.py compares those of the scan with differences."""
    meaning = getattr(scans, f"_{name}_back")

    def back(g, *args):
        _real(g, *args)
        gates, *states = meaning(g, *args)
        ends = np.zeros(gates.shape[1:], gates.dtype)
        for i, state in enumerate(states):
            ends[:, i * state.shape[1] : (i + 1) * state.shape[1]] = state
        return np.concatenate([gates, ends[None]])

    return back


def _gru_scan(pre, w, b, h, mask=None):
    _real(pre, w, b, h)
    out = np.empty((*pre.shape[:2], h.shape[1]), pre.dtype)
    for t in range(len(pre)):
        inputs, states = np.split(pre[t], 3, axis=1), np.split(h @ w.T + b, 3, axis=1)
        r, z = (_logistic(a + s) for a, s in zip(inputs[:2], states[:2], strict=True))
        n = np.tanh(inputs[2] + r * states[2])
        new = n + z * (h - n)
        h = out[t] = new if mask is None else np.where(mask[t], new, h)
    return out


NUMPY = {
    "rnn_scan": _rnn_scan,
    "lstm_scan": _lstm_scan,
    "gru_scan": _gru_scan,
    "lstm_scan_back": _scan_back("lstm"),
    "gru_scan_back": _scan_back("gru"),
    "cross_entropy": _cross_entropy,
    "binary_cross_entropy": _binary_cross_entropy,
    **MEANINGS,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "cofactor": _cofactor,
    "cofactor_slope": _cofactor_slope,
    "qr_parts": lambda a: np.concatenate(np.linalg.qr(a), -2),
    "qr_rest": lambda a: np.linalg.qr(a, "complete")[0][..., min(np.shape(a)[-2:]) :],
    "svd_u_rest": lambda a: _complete(a, "u"),
    "svd_v_rest": lambda a: _complete(a, "v"),
    "eig_parts": lambda a: _as_complex(_below(np.linalg.eig(a))),
    "expm": _expm,
    "fft_c2c": _c2c,
    "fft_r2c": lambda a, axis, norm: np.fft.rfft(a, axis=axis, norm=norm),
    "fft_c2r": lambda a, axis, n, norm: np.fft.irfft(a, n, axis, norm),
    "detsign": lambda a: np.linalg.slogdet(a)[0],
    "svd_parts": _svd_parts,
    "eigh_parts": lambda a: _below(np.linalg.eigh(a)),
    "logabsdet": lambda a: np.linalg.slogdet(a)[1],
    "pinv": lambda a, rcond: np.linalg.pinv(a, rcond),
    "relu": _relu,
    "masked_product": lambda g, p: np.where(g == 0, g * np.zeros_like(p), g * p)[()],
    "masked_quotient": lambda g, d: np.where(g == 0, g / np.ones_like(d), g / d)[()],
    "cast": lambda a, dtype: a.astype(dtype),
    "copy": lambda a: np.array(a),
    "lay_out": lambda a, order: np.array(a, order=order),
    "view_dtype": lambda a, dtype: a.view(dtype),
    "as_strided": _as_strided,
    "concatenate": lambda *arrays, axis: np.concatenate(arrays, axis),
    "getitem": lambda a, index: a[index],
    "setitem": _setitem,
    "modf_fraction": lambda a: np.modf(a)[0],
    "modf_integer": lambda a: np.modf(a)[1],
    "frexp_mantissa": lambda a: np.frexp(a)[0],
    "frexp_exponent": lambda a: np.frexp(a)[1],
    "gather": lambda a, *indices, spec: a[_index(indices, spec)],
    "scatter_add": _scatter_add,
    "scatter_set": _scatter_set,
}
"""Rows that are no NumPy function of the same name and parameters."""


def numpy_meaning(name):
    return NUMPY.get(name) or getattr(np, name, None) or getattr(np.linalg, name)
