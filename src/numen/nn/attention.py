"""MultiheadAttention: projections, heads and masks around scaled dot-product attention.

Parameters are laid out as PyTorch's: query, key and value in one `in_proj_weight`. Next:
`functional_attention.py` for the formula, `transformer.py` for the layers built on it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.namespace import concatenate, logical_and, logical_not, where, zeros
from numen.nn.functional import linear
from numen.nn.functional_attention import attend
from numen.nn.layers import Linear
from numen.nn.module import Module
from numen.nn.parameter import Parameter
from numen.nn.reductions import floating
from numen.random import default_stream

__all__ = ["MultiheadAttention"]

MINUS_INFINITY = -math.inf


class MultiheadAttention(Module):
    """Attention of several heads (Vaswani et al. 2017).

    Parameters
    ----------
    embed_dim : int
        Width of query and output.
    num_heads : int
        Divides embed_dim.
    dropout : float
        Probability of dropping a weight, while training.
    bias : bool
        Whether the projections add something.
    add_bias_kv : bool
        Append a trained key and value to each sequence.
    add_zero_attn : bool
        Append a zero key and value to each sequence.
    kdim, vdim : int, optional
        Widths of key and value, embed_dim by default.
    batch_first : bool
        Whether arrays are (B, T, n) instead of (T, B, n).
    device, dtype
        Of the parameters.

    Attributes
    ----------
    in_proj_weight : Parameter of shape (3 embed_dim, embed_dim), or None
        Of query, key and value; with other widths there are `q_proj_weight`, `k_proj_weight` and
        `v_proj_weight` instead.
    in_proj_bias : Parameter of shape (3 embed_dim,), or None
    out_proj : Linear

    Raises
    ------
    ValueError
        If num_heads does not divide embed_dim.

    Examples
    --------
    >>> import numen as nm
    >>> attention = nm.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = nm.ones((3, 5, 8), nm.float32)
    >>> out, weights = attention(x, x, x)
    >>> out.shape, weights.shape
    ((3, 5, 8), (3, 5, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(
                f"MultiheadAttention: expected num_heads to divide embed_dim, got {num_heads} and "
                f"{embed_dim}"
            )
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        self._packed = self.kdim == embed_dim == self.vdim
        self.in_proj_weight = self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        if self._packed:
            self.in_proj_weight = _xavier(3 * embed_dim, embed_dim, dtype)
        else:
            self.q_proj_weight = _xavier(embed_dim, embed_dim, dtype)
            self.k_proj_weight = _xavier(embed_dim, self.kdim, dtype)
            self.v_proj_weight = _xavier(embed_dim, self.vdim, dtype)
        self.in_proj_bias = Parameter(zeros(3 * embed_dim, dtype=dtype)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        if self.out_proj.bias is not None:
            self.out_proj.bias = Parameter(zeros(embed_dim, dtype=dtype))
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            std = math.sqrt(2.0 / (1 + embed_dim))
            self.bias_k = Parameter(default_stream.normal((1, 1, embed_dim), dtype, 0.0, std))
            self.bias_v = Parameter(default_stream.normal((1, 1, embed_dim), dtype, 0.0, std))
        if device is not None:
            self.to(device)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """Attend.

        Parameters
        ----------
        query : array_like, shape (L, B, embed_dim), (B, L, embed_dim) or (L, embed_dim)
        key, value : array_like
            As query, with S in place of L, kdim and vdim wide.
        key_padding_mask : array_like, shape (B, S) or (S,), optional
            Bool: True for keys that do not count. Floating: added to their scores.
        need_weights : bool
            Whether to return the weights.
        attn_mask : array_like, shape (L, S) or (B num_heads, L, S), optional
            Bool: True where a query may not look. Floating: added to the scores.
        average_attn_weights : bool
            Weights as the heads' mean (B, L, S), else of each head (B, num_heads, L, S).
        is_causal : bool
            Query i looks at keys 0 .. i at most.

        Returns
        -------
        output : Array of query's shape
            A query that may look at nothing attends to nothing.
        weights : Array or None
            Before dropout is applied.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """
        same = query is key and key is value
        q, k, v = self._inputs(query, key, value)
        single = q.ndim == 2
        # (B, T, n) from here on
        q, k, v = (
            x[None] if single else x if self.batch_first else x.swapaxes(0, 1) for x in (q, k, v)
        )
        count, steps, _ = q.shape
        bias = _Masks(self, count, steps, k.shape[1])
        bias.look(
            attn_mask,
            "attn_mask",
            ((steps, k.shape[1]), (count * self.num_heads, steps, k.shape[1])),
        )
        wanted = ((k.shape[1],) if single else (count, k.shape[1]),)
        bias.look(key_padding_mask, "key_padding_mask", wanted)
        if is_causal:
            bias.causal()
        q, k, v = self._projected(q, k, v, same)
        k, v, added = self._lengthened(k, v)
        mask = bias.lengthened(added, q.dtype)
        heads = [
            x.reshape((count, x.shape[1], self.num_heads, self.head_dim)).swapaxes(1, 2)
            for x in (q, k, v)
        ]
        out, weights = attend(
            heads[0], heads[1], heads[2], mask, self.dropout if self.training else 0.0
        )
        out = self.out_proj(out.swapaxes(1, 2).reshape((count, steps, self.embed_dim)))
        if not need_weights:
            weights = None
        else:
            weights = weights.mean(axis=1) if average_attn_weights else weights
            weights = weights[0] if single else weights
        if single:
            return out[0], weights
        return out if self.batch_first else out.swapaxes(0, 1), weights

    def _inputs(self, query: Any, key: Any, value: Any) -> tuple[Any, ...]:
        name = "MultiheadAttention"
        dtype = self.out_proj.weight.dtype
        arrays = []
        for x, label in ((query, "query"), (key, "key"), (value, "value")):
            x = floating(x, name, label)
            arrays.append(x if x.dtype == dtype else x.astype(dtype))
        q, k, v = arrays
        widths = (self.embed_dim, self.kdim, self.vdim)
        fits = q.ndim in (2, 3) and q.ndim == k.ndim == v.ndim and k.shape[:-1] == v.shape[:-1]
        fits = fits and tuple(x.shape[-1] for x in arrays) == widths
        if fits and q.ndim == 3:
            axis = 0 if self.batch_first else 1
            fits = q.shape[axis] == k.shape[axis]
        if not fits:
            raise ShapeError(
                f"{name}: expected query, key and value of widths {widths} with one batch "
                f"(batch_first={self.batch_first}), got {describe(q, k, v)}"
            )
        return q, k, v

    def _projected(self, q: Any, k: Any, v: Any, same: bool) -> list[Any]:
        n, bias = self.embed_dim, self.in_proj_bias
        if self._packed and same:
            every = linear(q, self.in_proj_weight, bias)
            return [every[..., i * n : (i + 1) * n] for i in range(3)]
        if self._packed:
            packed: Any = self.in_proj_weight
            weights = [packed[i * n : (i + 1) * n] for i in range(3)]
        else:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        biases = [None if bias is None else bias[i * n : (i + 1) * n] for i in range(3)]
        return [linear(x, w, b) for x, w, b in zip((q, k, v), weights, biases, strict=True)]

    def _lengthened(self, k: Any, v: Any) -> tuple[Any, Any, int]:
        """Keys and values with the trained and the zero one behind, and how many those are."""
        added = 0
        shape = (k.shape[0], 1, self.embed_dim)
        if self.bias_k is not None and self.bias_v is not None:
            nothing = zeros(shape, dtype=k.dtype)
            k = concatenate([k, nothing + self.bias_k], axis=1)
            v = concatenate([v, nothing + self.bias_v], axis=1)
            added += 1
        if self.add_zero_attn:
            nothing = zeros(shape, dtype=k.dtype)
            k, v = concatenate([k, nothing], axis=1), concatenate([v, nothing], axis=1)
            added += 1
        return k, v, added


def _xavier(rows: int, columns: int, dtype: Any) -> Parameter:
    """Glorot and Bengio's uniform distribution (2010)."""
    bound = math.sqrt(6.0 / (rows + columns))
    return Parameter(default_stream.uniform((rows, columns), dtype, -bound, bound))


class _Masks:
    """The masks of a call as one: where a query may look, or what is added to scores."""

    def __init__(self, layer: MultiheadAttention, count: int, steps: int, keys: int) -> None:
        self.heads, self.count, self.steps, self.keys = layer.num_heads, count, steps, keys
        self.allowed: Any = None
        self.bias: Any = None

    def look(self, mask: Any, name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
        """Take one of the arguments."""
        if mask is None:
            return
        mask = as_array(mask)
        if mask.shape not in shapes:
            raise ShapeError(
                f"MultiheadAttention: expected {name} of shape "
                f"{' or '.join(map(str, shapes))}, got {describe(mask)}"
            )
        if name == "key_padding_mask":
            mask = mask.reshape((self.count, 1, 1, self.keys))
        elif mask.ndim == 3:
            mask = mask.reshape((self.count, self.heads, self.steps, self.keys))
        if mask.dtype == np.bool_:
            self._allow(logical_not(mask))
        else:
            mask = floating(mask, "MultiheadAttention", name)
            self.bias = mask if self.bias is None else self.bias + mask

    def causal(self) -> None:
        self._allow(core.new_constant(np.tri(self.steps, self.keys, dtype=bool)))

    def _allow(self, allowed: Any) -> None:
        self.allowed = allowed if self.allowed is None else logical_and(self.allowed, allowed)

    def lengthened(self, added: int, dtype: Any) -> Any:
        """The mask for `added` more keys, which every query may look at."""
        if self.bias is not None:
            mask = self.bias if self.bias.dtype == dtype else self.bias.astype(dtype)
            if self.allowed is not None:
                mask = where(self.allowed, mask, MINUS_INFINITY)
        else:
            mask = self.allowed
        if mask is None or not added:
            return mask
        more = np.ones((*mask.shape[:-1], added), bool)
        if mask.dtype != np.bool_:
            more = np.zeros(more.shape, mask.dtype)
        return concatenate([mask, core.new_constant(more)], axis=-1)
