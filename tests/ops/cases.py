"""What the generated op tests share: rows, dtypes, samples, each row's meaning in NumPy."""

import warnings

import numpy as np

from numen.dispatch.backward import backward
from numen.dispatch.core import Leaf
from numen.namespace.array import Array
from numen.ops import table

ROWS = sorted(table)
DIFFERENTIABLE = [name for name in ROWS if table[name].vjp is not None]
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


NUMPY = {
    "cofactor": _cofactor,
    "detsign": lambda a: np.linalg.slogdet(a)[0],
    "svd_u": lambda a: np.linalg.svd(a, full_matrices=False)[0],
    "svd_v": lambda a: np.linalg.svd(a, full_matrices=False)[2],
    "eigh_v": lambda a: np.linalg.eigh(a)[1],
    "logabsdet": lambda a: np.linalg.slogdet(a)[1],
    "pinv": lambda a, rcond: np.linalg.pinv(a, rcond),
    "relu": _relu,
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
