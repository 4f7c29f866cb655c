"""torch.nn.functional's operations: torch's name to numen's function. Next: `absent.py`.

numen's functions have PyTorch's names and arguments; the wrappers take away what numen does not
have (the deprecated `size_average`) and leave out what draws random numbers.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.counterparts import refuses

import numen as nm

F = nm.nn.functional

NAMES = (
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    *("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"),
    *("avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "binary_cross_entropy"),
    *("binary_cross_entropy_with_logits", "celu", "conv1d", "conv2d", "conv3d"),
    *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss"),
    *("bilinear", "cosine_similarity", "one_hot", "pairwise_distance"),
    *("cross_entropy", "ctc_loss", "elu", "gaussian_nll_loss", "gelu", "glu"),
    *("group_norm", "hardshrink", "hardsigmoid", "hardswish", "hardtanh"),
    *("hinge_embedding_loss", "huber_loss", "instance_norm", "kl_div", "l1_loss", "layer_norm"),
    *("leaky_relu", "linear", "local_response_norm", "logsigmoid"),
    *("margin_ranking_loss", "max_pool1d", "max_pool2d", "max_pool3d", "mish", "mse_loss"),
    *("multi_margin_loss", "nll_loss", "normalize", "poisson_nll_loss", "prelu", "relu", "relu6"),
    *("rms_norm", "selu", "silu", "smooth_l1_loss", "soft_margin_loss", "softplus", "softshrink"),
    *("softsign", "tanhshrink", "threshold", "triplet_margin_loss"),
)
"""Functions of numen.nn.functional with torch's name and arguments."""

COMPLEX = ("linear", "conv1d", "conv2d", "conv3d")
COMPLEX += ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
"""Those that take complex numbers; the others refuse them."""

OLD = ("size_average", "reduce")
"""Arguments of losses that torch itself has given up."""


def same(name: str) -> Any:
    function = getattr(F, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        for old in OLD:
            refuses(kwargs.get(old) is not None, f"the deprecated {old}")
            kwargs.pop(old, None)
        given = (*args, *kwargs.values())
        complexes = any(isinstance(a, nm.Array) and a.dtype.kind == "c" for a in given)
        refuses(complexes and name not in COMPLEX, "complex numbers")
        return function(*args, **kwargs)

    return call


def deterministic(name: str) -> Any:
    """A dropout: only where it drops nothing or everything."""
    function = getattr(F, name)

    def call(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        refuses(bool(training) and 0 < p < 1, "random")
        refuses(x.dtype.kind == "c", "complex numbers")
        return function(x, p, training)

    return call


def unpool(name: str) -> Any:
    function = getattr(F, name)

    def call(x: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
        return function(x, indices, *args, **kwargs)

    return call


def attention(*args: Any, dropout_p: float = 0.0, **kwargs: Any) -> Any:
    refuses(dropout_p > 0, "random")
    return F.scaled_dot_product_attention(*args, **kwargs)


def softmaxes(name: str) -> Any:
    function = getattr(F, name)

    def call(x: Any, dim: int, dtype: Any = None, _stacklevel: int = 3) -> Any:
        return function(x, dim, dtype) if x.ndim else function(nm.reshape(x, (1,)), 0, dtype)[0]

    return call


def pad(x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    return F.pad(x, pad, mode, value)


def native_layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return F.layer_norm(x, shape, weight, bias, eps)


def embedding(weight: Any, index: Any, **settings: Any) -> Any:
    return F.embedding(index, weight, **settings)


NETWORK: dict[str, Any] = {
    **{f"nn.functional.{name}": same(name) for name in NAMES},
    "softmax": softmaxes("softmax"),
    "softmax.with_dtype": softmaxes("softmax"),
    "log_softmax": softmaxes("log_softmax"),
    "log_softmax.with_dtype": softmaxes("log_softmax"),
    "nn.functional.softmin": softmaxes("softmin"),
    "nn.functional.softmin.with_dtype": softmaxes("softmin"),
    "nn.functional.scaled_dot_product_attention": attention,
    "nn.functional.dropout": deterministic("dropout"),
    "nn.functional.dropout2d": deterministic("dropout2d"),
    "nn.functional.dropout3d": deterministic("dropout3d"),
    "nn.functional.alpha_dropout": deterministic("alpha_dropout"),
    "nn.functional.feature_alpha_dropout.with_train": deterministic("feature_alpha_dropout"),
    "nn.functional.feature_alpha_dropout.without_train": deterministic("feature_alpha_dropout"),
    **{f"nn.functional.max_unpool{n}d": unpool(f"max_unpool{n}d") for n in (1, 2, 3)},
    **{f"nn.functional.max_unpool{n}d.grad": unpool(f"max_unpool{n}d") for n in (1, 2, 3)},
    **{
        f"nn.functional.pad.{mode}": pad
        for mode in ("constant", "reflect", "replicate", "replicate_negative", "circular")
    },
    "constant_pad_nd": lambda x, pad, value=0: F.pad(x, pad, "constant", value),
    "nn.functional.embedding": embedding,
}
