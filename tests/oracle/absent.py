"""torch's operations that numen has no counterpart of, each with the class of its reason.

"surface": neither NumPy nor the part of PyTorch's surface that numen has knows it. A pattern
matches whole names. Next: `disagreements.py`.
"""

from __future__ import annotations

import re

SURFACE = "no counterpart in NumPy or the PyTorch surface that numen has"
RANDOM = "random"
SPARSE = "sparse"
MASKED = "masked tensors"
WINDOWS = "signal windows"
QUANTISED = "quantised"
ALIAS = "internal alias"
IN_PLACE = "in place only"
DEVICE = "another device's kernel"

ABSENT = (
    (
        r"cauchy|exponential|geometric|log_normal|normal\.in_place|uniform|randn?(_like)?|rand_like"
        r"|randint(_like)?|multinomial|normal(\.number_mean)?|bernoulli|nn\.functional\.rrelu"
        r"|svd_lowrank|pca_lowrank|nn\.functional\.fractional_max_pool[23]d",
        RANDOM,
    ),
    (r"sparse\..*|to_sparse", SPARSE),
    (r"masked\..*", MASKED),
    (r"signal\.windows\..*", WINDOWS),
    (r"torch\._scaled_mm(_v2)?", QUANTISED),
    (
        r"_.*|native_.*|torch\.ops\.aten\..*|max_pool2d_with_indices_backward|hash_tensor"
        r"|new_empty_strided|empty_strided|empty_permuted|nonzero_static|as_strided_scatter"
        r"|grid_sampler_[23]d|nn\.functional\.batch_norm\.without_cudnn",
        ALIAS,
    ),
    (r"resize_|resize_as_", IN_PLACE),
    (r"jiterator_.*|bmm\.triton_optimized", DEVICE),
    (
        r"special\..*|polygamma\..*|mvlgamma\..*|igammac?|digamma|lgamma|erf|erfc|erfinv|logit",
        SURFACE,
    ),
    (
        r"linalg\.(lu|ldl|householder).*|lu|lu_solve|lu_unpack|geqrf|ormqr|fft\.i?hfft[2n]",
        SURFACE,
    ),
    (
        r"stft|istft|cdist|combinations|mode|unique_consecutive|histogramdd|chalf|item"
        r"|index_reduce\..*|scatter_reduce\..*",
        SURFACE,
    ),
    (
        r"nn\.functional\.(interpolate\..*|upsample_.*|unfold|grid_sample|embedding_bag|pdist"
        r"|linear_cross_entropy.*|multilabel.*|silu\.complex|triplet_margin_with_distance_loss"
        r"|multi_head_attention_forward)",
        SURFACE,
    ),
)


def reason(name: str) -> str | None:
    """Why an operation is not compared; None where nothing says it."""
    for pattern, why in ABSENT:
        if re.fullmatch(pattern, name):
            return why
    return None
