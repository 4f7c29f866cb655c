"""Scaled dot-product attention, composed of rows that a trace fuses.

A row of scores in which everything is masked attends to nothing: its output and its gradients are
0. `attention.py` has the layer. Called by it and by users as `nm.nn.functional`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.convert import as_array
from numen.dispatch.core import is_differentiable
from numen.errors import DTypeError, ShapeError, describe
from numen.namespace import logical_and, matmul, repeat, softmax, swapaxes
from numen.nn.functional_dropout import dropout
from numen.nn.reductions import floating

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query key^T scale + mask) value (Vaswani et al. 2017).

    Parameters
    ----------
    query : array_like, shape (..., L, E)
    key : array_like, shape (..., S, E)
    value : array_like, shape (..., S, Ev)
    attn_mask : array_like, optional
        Broadcasts to (..., L, S). Bool: True where a query may look. Floating: added to the scores.
    dropout_p : float
        Probability with which a weight is dropped.
    is_causal : bool
        Query i looks at keys 0 .. i; with a mask, both hold.
    scale : float, optional
        1 / sqrt(E) by default.
    enable_gqa : bool
        Let key and value have fewer heads (axis -3) than query, each for a group of query's.

    Returns
    -------
    Array, shape (..., L, Ev)
        0 for a query that may look at nothing.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    DTypeError
        If query is not floating or the mask neither bool nor floating.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.eye(3)
    >>> nm.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)[0].tolist()
    [1.0, 0.0, 0.0]
    """
    q, k, v = qkv(query, key, value)
    if enable_gqa and q.ndim > 2 and q.shape[-3] != k.shape[-3]:
        if q.shape[-3] % k.shape[-3]:
            raise ShapeError(
                f"scaled_dot_product_attention: {q.shape[-3]} query heads are no multiple of "
                f"{k.shape[-3]} key heads"
            )
        k, v = (repeat(x, q.shape[-3] // k.shape[-3], axis=-3) for x in (k, v))
    out, _ = attend(q, k, v, attn_mask, dropout_p, is_causal, scale)
    return out


def qkv(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """The three arguments, checked, in query's dtype."""
    op = "scaled_dot_product_attention"
    q = floating(query, op, "query")
    k, v = (floating(x, op, n) for x, n in ((key, "key"), (value, "value")))
    k, v = (x if x.dtype == q.dtype else x.astype(q.dtype) for x in (k, v))
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ShapeError(
            f"{op}: expected query (..., L, E), key (..., S, E) and value (..., S, Ev); got "
            f"{describe(q, k, v)}"
        )
    return q, k, v


def attend(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[Any, Any]:
    """The output (..., L, Ev) and the weights (..., L, S) before dropout."""
    factor = 1.0 / math.sqrt(q.shape[-1] or 1) if scale is None else scale
    scores = matmul(q * factor, swapaxes(k, -1, -2))  # (..., L, S)
    allowed = None
    if mask is not None:
        mask = as_array(mask)
        _check_mask(mask, scores)
        if mask.dtype == np.bool_:
            allowed = mask
        else:
            scores = scores + (mask if mask.dtype == q.dtype else mask.astype(q.dtype))
    if is_causal:
        causal = core.new_constant(np.tri(*scores.shape[-2:], dtype=bool))
        allowed = causal if allowed is None else logical_and(allowed, causal)
    weights = softmax(scores, -1, where=allowed)
    return matmul(dropout(weights, dropout_p), v), weights


def _check_mask(mask: Any, scores: Any) -> None:
    op = "scaled_dot_product_attention"
    if mask.dtype != np.bool_ and (not is_differentiable(mask.dtype) or mask.dtype.kind == "c"):
        raise DTypeError(f"{op}: expected a mask of bool or floats, got {describe(mask)}")
    ends = zip(mask.shape[::-1], scores.shape[::-1], strict=False)
    if mask.ndim > scores.ndim or not all([m in (1, n) for m, n in ends]):
        raise ShapeError(
            f"{op}: expected a mask that broadcasts to {scores.shape}, got {describe(mask)}"
        )
