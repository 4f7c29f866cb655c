"""Transformer layers: attention and a feed-forward part, each with a residual and a norm.

Vaswani et al. 2017; with `norm_first` the norms stand before the parts (Xiong et al. 2020). Names,
defaults and state-dict keys are PyTorch's. Next: `attention.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from numen.namespace import full, triu
from numen.nn import functional, init
from numen.nn.attention import MultiheadAttention
from numen.nn.containers import ModuleList
from numen.nn.dropout import Dropout
from numen.nn.layers import Linear
from numen.nn.module import Module
from numen.nn.normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer"]
__all__ += ["TransformerEncoder", "TransformerEncoderLayer"]

Activation = Callable[[Any], Any]


def _activation(given: str | Activation, name: str) -> Activation:
    if callable(given):
        return given
    if given not in ("relu", "gelu"):
        raise ValueError(f"{name}: expected activation relu, gelu or a callable, got {given!r}")
    return functional.relu if given == "relu" else functional.gelu


class TransformerEncoderLayer(Module):
    """Self-attention and feed-forward part.

    Parameters
    ----------
    d_model, nhead, dim_feedforward : int
        Width, heads, width inside the feed-forward part.
    dropout : float
        Probability, on weights and on each part's result, while training.
    activation : {"relu", "gelu"} or callable
    layer_norm_eps : float
    batch_first : bool
        Whether arrays are (B, T, d_model) instead of (T, B, d_model).
    norm_first : bool
        Norms before the parts instead of behind the residuals.
    bias : bool
        Whether projections and norms add something.
    device, dtype
        Of the parameters.

    Examples
    --------
    >>> import numen as nm
    >>> layer = nm.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> layer(nm.ones((3, 5, 8), nm.float32)).shape
    (3, 5, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation, "TransformerEncoderLayer")
        if device is not None:
            self.to(device)

    def forward(
        self,
        src: Any,
        src_mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:
        """Encode src; masks as `MultiheadAttention` takes them.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """

        def attention(x: Any) -> Any:
            out, _ = self.self_attn(
                x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )
            return self.dropout1(out)

        x = src
        if self.norm_first:
            x = x + attention(self.norm1(x))
            return x + self._feed(self.norm2(x))
        x = self.norm1(x + attention(x))
        return self.norm2(x + self._feed(x))

    def _feed(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to an encoder's output, and feed-forward part.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
    bias, device, dtype
        As `TransformerEncoderLayer`'s.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "dtype": dtype}
        heads = {"dropout": dropout, "batch_first": batch_first, **options}
        self.self_attn = MultiheadAttention(d_model, nhead, **heads)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation, "TransformerDecoderLayer")
        if device is not None:
            self.to(device)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """Decode tgt with the encoder's output `memory`; masks as `MultiheadAttention` takes them.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """

        def own(x: Any) -> Any:
            out, _ = self.self_attn(
                x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal
            )
            return self.dropout1(out)

        def other(x: Any) -> Any:
            out, _ = self.multihead_attn(
                x,
                memory,
                memory,
                memory_key_padding_mask,
                False,
                memory_mask,
                is_causal=memory_is_causal,
            )
            return self.dropout2(out)

        x = tgt
        if self.norm_first:
            x = x + own(self.norm1(x))
            x = x + other(self.norm2(x))
            return x + self._feed(self.norm3(x))
        x = self.norm1(x + own(x))
        x = self.norm2(x + other(x))
        return self.norm3(x + self._feed(x))

    def _feed(self, x: Any) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class _Stack(Module):
    """Copies of a layer, and perhaps a norm at the end."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


class TransformerEncoder(_Stack):
    """Encoder layers upon each other.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
        Copied for each layer, weights included.
    num_layers : int
    norm : Module, optional
        Applied at the end.
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Any,
        mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:
        """Encode src; masks as `MultiheadAttention` takes them."""
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, is_causal)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(_Stack):
    """Decoder layers upon each other.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer
        Copied for each layer, weights included.
    num_layers : int
    norm : Module, optional
        Applied at the end.
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """Decode tgt with the encoder's output `memory`; masks as `MultiheadAttention` takes
        them."""
        x = tgt
        for layer in self.layers:
            x = layer(
                x,
                memory,
                tgt_mask,
                memory_mask,
                tgt_key_padding_mask,
                memory_key_padding_mask,
                tgt_is_causal,
                memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """Encoder and decoder.

    Parameters
    ----------
    d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward : int
    dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        As `TransformerEncoderLayer`'s.

    Examples
    --------
    >>> import numen as nm
    >>> model = nm.nn.Transformer(8, 2, 1, 1, dim_feedforward=16)
    >>> model(nm.ones((4, 3, 8), nm.float32), nm.ones((5, 3, 8), nm.float32)).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        options = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        norm = {"eps": layer_norm_eps, "bias": bias, "dtype": dtype}
        self.encoder = TransformerEncoder(
            TransformerEncoderLayer(d_model, nhead, *options, bias, device, dtype),
            num_encoder_layers,
            LayerNorm(d_model, **norm),
        )
        self.decoder = TransformerDecoder(
            TransformerDecoderLayer(d_model, nhead, *options, bias, device, dtype),
            num_decoder_layers,
            LayerNorm(d_model, **norm),
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)
        if device is not None:
            self.to(device)

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool = False,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """Encode src and decode tgt; masks as `MultiheadAttention` takes them."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, dtype: Any = np.float32) -> Any:
        """The causal mask to add to scores: 0 where query i may look at key j <= i, else -inf.

        >>> import numen as nm
        >>> nm.nn.Transformer.generate_square_subsequent_mask(2).tolist()
        [[0.0, -inf], [0.0, 0.0]]
        """
        return triu(full((sz, sz), -np.inf, dtype=dtype), 1)
