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
LINEAR = {
    "cast",
    "copy",
    "sum",
    "mean",
    "reshape",
    "transpose",
    "broadcast_to",
    "getitem",
    "gather",
}


def seeded(name):
    return np.random.default_rng(list(name.encode()))


def samples(name, dtype="float64"):
    """The row's samples: [(args, params)]."""
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


NUMPY = {
    "relu": _relu,
    "cast": lambda a, dtype: a.astype(dtype),
    "copy": lambda a: np.array(a),
    "concatenate": lambda *arrays, axis: np.concatenate(arrays, axis),
    "getitem": lambda a, index: a[index],
    "setitem": _setitem,
    "gather": lambda a, *indices, spec: a[_index(indices, spec)],
    "scatter_add": _scatter_add,
    "scatter_set": _scatter_set,
}
"""Rows that are no NumPy function of the same name and parameters."""


def numpy_meaning(name):
    return NUMPY.get(name) or getattr(np, name)
