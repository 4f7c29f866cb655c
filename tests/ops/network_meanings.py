"""What the rows of layers mean, written as loops over windows, independent of the rows."""

import itertools
import math

import numpy as np


def wide(a):
    """float16 is added up in float32."""
    return a.astype("f4") if a.dtype == np.float16 else a


def windows(sizes, kernel, stride, padding, dilation, out):
    """(place of a window, its flat place inside, position in the array) where that is inside."""
    for o in np.ndindex(*out):
        for k in np.ndindex(*kernel):
            each = zip(o, k, stride, padding, dilation, strict=True)
            at = tuple(i * s + j * d - low for i, j, s, (low, _), d in each)
            if all(0 <= i < n for i, n in zip(at, sizes, strict=True)):
                yield o, k, at


def links(sizes, kernel, out, stride, padding, dilation, groups, channels, produced):
    """(out position, weight position, in position) of every product, channels first in each."""
    per, made = channels // groups, produced // groups
    for o, k, at in windows(sizes, kernel, stride, padding, dilation, out):
        for group, i, j in itertools.product(range(groups), range(per), range(made)):
            yield (group * made + j, *o), (group * made + j, i, *k), (group * per + i, *at)


def extents(sizes, kernel, stride, padding, dilation):
    each = zip(sizes, kernel, stride, padding, dilation, strict=True)
    return tuple((n + sum(p) - (k - 1) * d - 1) // s + 1 for n, k, s, p, d in each)


def refuse(wrong):
    if wrong:
        raise ValueError


def total(shape, terms, like):
    """Sums of terms by position; terms are (position, value)."""
    out = np.zeros(shape, like.dtype)
    for at, value in terms:
        out[(slice(None), *at)] += value
    return out


def convolution(x, w, stride, padding, dilation, groups):
    dtype = x.dtype
    refuse(x.ndim != w.ndim or x.shape[1] != w.shape[1] * groups or w.shape[0] % groups)
    x, w = wide(x), wide(w)
    out = extents(x.shape[2:], w.shape[2:], stride, padding, dilation)
    refuse(min(out) < 1)
    given = (stride, padding, dilation, groups, x.shape[1], w.shape[0])
    result = np.zeros((len(x), len(w), *out), x.dtype)
    for o, k, i in links(x.shape[2:], w.shape[2:], out, *given):
        result[:, *o] += x[:, *i] * w[k]
    return result.astype(dtype)


def convolution_input(g, w, shape, stride, padding, dilation, groups):
    dtype = g.dtype
    refuse(g.ndim != w.ndim or g.shape[1] != w.shape[0])
    refuse(g.shape[2:] != extents(shape, w.shape[2:], stride, padding, dilation))
    g, w = wide(g), wide(w)
    channels = w.shape[1] * groups
    given = (stride, padding, dilation, groups, channels, w.shape[0])
    result = np.zeros((len(g), channels, *shape), g.dtype)
    for o, k, i in links(shape, w.shape[2:], g.shape[2:], *given):
        result[:, *i] += g[:, *o] * w[k]
    return result.astype(dtype)


def convolution_weight(x, g, kernel, stride, padding, dilation, groups):
    dtype = x.dtype
    refuse(x.ndim != g.ndim or len(x) != len(g))
    refuse(g.shape[2:] != extents(x.shape[2:], kernel, stride, padding, dilation))
    x, g = wide(x), wide(g)
    given = (stride, padding, dilation, groups, x.shape[1], g.shape[1])
    result = np.zeros((g.shape[1], x.shape[1] // groups, *kernel), x.dtype)
    for o, k, i in links(x.shape[2:], kernel, g.shape[2:], *given):
        result[k] += (x[:, *i] * g[:, *o]).sum(dtype=x.dtype)
    return result.astype(dtype)


def _pooled(x, kernel):
    """The leading axes, and x with those as one."""
    if x.dtype.kind == "c":
        raise TypeError
    refuse(x.ndim < len(kernel))
    lead = x.shape[: x.ndim - len(kernel)]
    flat = x.reshape((math.prod(lead), *x.shape[x.ndim - len(kernel) :]))
    return lead, flat


def max_pool_index(x, kernel, stride, padding, dilation, count):
    lead, flat = _pooled(x, kernel)
    result = np.full((len(flat), *count), -1)
    for row, values in enumerate(flat):
        seen = windows(values.shape, kernel, stride, padding, dilation, count)
        for o, _, at in seen:
            here, known = np.ravel_multi_index(at, values.shape), result[row][o]
            best = values.reshape(-1)[known]
            if known < 0 or values[at] > best or (values[at] != values[at] and best == best):
                result[row][o] = here
    return result.reshape((*lead, *count))


def max_pool(x, **params):
    index = max_pool_index(x, **params)
    return pool_pick(x, index, len(params["kernel"]))


def pool_pick(x, index, rank):
    refuse(x.shape[: x.ndim - rank] != index.shape[: index.ndim - rank])
    out = np.empty(index.shape, x.dtype)
    for at in np.ndindex(index.shape):
        out[at] = x[at[: index.ndim - rank]].reshape(-1)[index[at]]
    return out


def pool_place(g, index, shape):
    refuse(g.shape != index.shape)
    out = np.zeros((*g.shape[: g.ndim - len(shape)], *shape), wide(g).dtype)
    for at in np.ndindex(g.shape):
        out[at[: g.ndim - len(shape)]].reshape(-1)[index[at]] += g[at]
    return out.astype(g.dtype)


def window_sum(x, kernel, stride, padding, count):
    refuse(x.ndim < len(kernel))
    result = np.zeros((*x.shape[: x.ndim - len(kernel)], *count), wide(x).dtype)
    sizes = x.shape[x.ndim - len(kernel) :]
    for o, _, at in windows(sizes, kernel, stride, padding, (1,) * len(kernel), count):
        result[..., *o] += x[..., *at]
    return result.astype(x.dtype)


def window_spread(g, kernel, stride, padding, shape):
    refuse(g.ndim < len(kernel))
    result = np.zeros((*g.shape[: g.ndim - len(kernel)], *shape), wide(g).dtype)
    out = g.shape[g.ndim - len(kernel) :]
    for o, _, at in windows(shape, kernel, stride, padding, (1,) * len(kernel), out):
        result[..., *at] += g[..., *o]
    return result.astype(g.dtype)


def floats(function):
    """For floating arrays alone, float16 in float32."""

    def meaning(a, **params):
        if a.dtype.kind != "f":
            raise TypeError
        return function(wide(a), **params).astype(a.dtype)[()]

    return meaning


def sigmoid(a):
    small = np.exp(-np.abs(a))
    return np.where(a < 0, small, np.ones((), a.dtype)) / (1 + small)


def softplus(a):
    return np.log1p(np.exp(-np.abs(a))) + np.maximum(a, 0)


def erf(a):
    return np.array([math.erf(v) for v in a.reshape(-1)]).reshape(a.shape).astype(a.dtype)


def normalize(a, axis, eps, centered):
    total = a.sum(axis, keepdims=True)
    n = math.prod(a.shape[i] for i in axis) or 1
    if centered:
        a = a - total / n
    return a * (1 / np.sqrt((a * a).sum(axis, keepdims=True) / n + eps))


def _in_range(index, rows):
    if index.dtype.kind not in "iu":
        raise TypeError
    if index.size and (index.min() < 0 or index.max() >= rows):
        raise IndexError


def embedding(weight, index, padding_idx):
    _in_range(index, len(weight))
    return weight[index]


def embedding_place(g, index, rows):
    _in_range(index, rows)
    refuse(g.shape[: index.ndim] != index.shape)
    out = np.zeros((rows, *g.shape[index.ndim :]), wide(g).dtype)
    np.add.at(out, index, g)
    return out.astype(g.dtype)


def philox_uniform(state, shape, stream):
    """One block of the cipher at a time, in Python integers."""
    if state.dtype != np.uint64:
        raise TypeError
    refuse(state.shape != (2,))
    seed, position = state.tolist()
    out = np.empty(math.prod(shape), np.float32)
    for i in range(out.size):
        block, lane = divmod(position + i, 4)
        out[i] = (_philox(block, stream, seed)[lane] >> 8) * 2.0**-24
    return out.reshape(shape)


def _philox(block, stream, seed):
    low, m0, m1 = 0xFFFFFFFF, 0xD2511F53, 0xCD9E8D57
    c = [block & low, block >> 32, stream & low, stream >> 32]
    k = [seed & low, seed >> 32]
    for _ in range(10):
        p, q = c[0] * m0, c[2] * m1
        c = [q >> 32 ^ c[1] ^ k[0], q & low, p >> 32 ^ c[3] ^ k[1], p & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c


MEANINGS = {
    "convolution": convolution,
    "convolution_input": convolution_input,
    "convolution_weight": convolution_weight,
    "max_pool": max_pool,
    "max_pool_index": max_pool_index,
    "pool_pick": pool_pick,
    "pool_place": pool_place,
    "window_sum": window_sum,
    "window_spread": window_spread,
    "sigmoid": floats(sigmoid),
    "softplus": floats(softplus),
    "erf": floats(erf),
    "normalize": floats(normalize),
    "embedding": embedding,
    "embedding_place": embedding_place,
    "philox_uniform": philox_uniform,
}
