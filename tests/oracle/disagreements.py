"""The disagreements that have a reason: which operation, in which samples, and who is right.

An entry holds for the kinds of finding and the operations it names, where its predicate holds for
the sample: no bound is loosened. Everything else that differs makes the command fail. Next:
`predicates.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.oracle.predicates import (
    Predicate,
    ellipsis_dropped,
    float32_cancels,
    float32_end,
    float32_weights,
    imprecise_in_torch,
    in_dtype,
    integer_operand,
    no_dtype,
    no_one_norm,
    no_stride,
    not_hermitian,
    other_triangle,
    power_of_negative,
    real_spectrum,
    repeated_places,
    says,
    scalar_input,
    scalar_or_one_target,
    sizes_of_one,
    softmax_folded_in,
    unread_triangle,
    value_is_nan,
    vector_without_channels,
)


@dataclass(frozen=True)
class Reason:
    """Why numen and torch differ. `right` names the side that NumPy's semantics or mathematics
    takes: "numen" or "torch"; "convention" where both are defensible."""

    operations: tuple[str, ...]
    kinds: tuple[str, ...]
    condition: str
    when: Predicate
    right: str
    because: str


UNPOOL = tuple(f"nn.functional.max_unpool{n}d" for n in (1, 2, 3))
SPACED = ("linspace", "linspace.tensor_overload", "logspace", "logspace.tensor_overload")
SOFTMAX_LAYERS = ("Softmax", "LogSoftmax", "Softmin")

REASONS: tuple[Reason, ...] = (
    Reason(
        ("clamp",),
        ("dtype",),
        "float32 clipped by an int32 tensor",
        integer_operand,
        "numen",
        "NEP 50: a float32 array with an int32 array gives float64; torch ignores the dtype of "
        "integer tensors.",
    ),
    Reason(
        SPACED,
        ("dtype",),
        "no dtype given",
        no_dtype,
        "numen",
        "NumPy's default dtype is float64, torch's float32.",
    ),
    Reason(
        SPACED,
        ("value",),
        "an end that is a float32 tensor, dtype=float64",
        float32_end,
        "numen",
        "numpy.logspace computes in the dtype of its ends and casts afterwards.",
    ),
    Reason(
        ("cov", "corrcoef"),
        ("dtype",),
        "float32 input",
        in_dtype("float32"),
        "numen",
        "numpy.cov and numpy.corrcoef compute in float64 at least.",
    ),
    Reason(
        ("cov",),
        ("value", "gradient"),
        "float32 weights of float64 or complex data",
        float32_weights,
        "numen",
        "numpy.cov promotes the weights before it sums them; torch sums them in float32.",
    ),
    Reason(
        ("cov",),
        ("gradient",),
        "float32 data and weights: gradients of the weights that cancel",
        float32_cancels,
        "numen",
        "numpy.cov computes in float64, where the exact 0 comes out; torch's float32 leaves "
        "roundings.",
    ),
    Reason(
        ("linalg.vander",),
        ("dtype",),
        "float32 input",
        in_dtype("float32"),
        "numen",
        "numpy.vander promotes with int, so float32 gives float64.",
    ),
    Reason(
        ("linalg.eig", "linalg.eigvals"),
        ("dtype",),
        "every eigenvalue real (or none there)",
        real_spectrum,
        "numen",
        "numpy.linalg.eig gives a real array where every eigenvalue is real; torch's is complex.",
    ),
    Reason(
        ("einsum",),
        ("raises",),
        "'...' among the operands and not in the output",
        ellipsis_dropped,
        "numen",
        "numpy.einsum refuses it; torch sums over the axes of the ellipsis.",
    ),
    Reason(
        ("tensordot",),
        ("raises",),
        "contracted axes of extents 1 and n",
        sizes_of_one,
        "numen",
        "numpy.tensordot refuses axes of different extents; torch broadcasts the 1.",
    ),
    Reason(
        UNPOOL,
        ("value",),
        "an index occurs twice in a plane",
        repeated_places,
        "convention",
        "torch keeps the value written last, yet sends the gradient to all of them; numen adds "
        "them up, which is the map whose gradient both give.",
    ),
    Reason(
        ("__rpow__",),
        ("gradient",),
        "a negative base, the exponent carries the gradient",
        power_of_negative,
        "convention",
        "A real power of a negative base exists at integers only: no derivative by the exponent. "
        "torch gives NaN, numen 0.",
    ),
    Reason(
        ("logcumsumexp",),
        ("gradient",),
        "float32, where torch's float64 has numen's gradient",
        imprecise_in_torch,
        "numen",
        "torch's float32 gradient is a difference of two exponentials and loses three digits.",
    ),
    Reason(
        ("nn.functional.ctc_loss", "CTCLoss"),
        ("gradient",),
        "the difference is exp(log_probs) times a factor of each step and sequence",
        softmax_folded_in,
        "numen",
        "torch's kernel returns the gradient with respect to the scores before log_softmax; "
        "numen's is that of the function itself, and the two agree behind a log_softmax.",
    ),
    Reason(
        ("nn.functional.gaussian_nll_loss",),
        ("raises",),
        "target of another shape than input",
        says("input and target must have the same shape"),
        "convention",
        "Losses of numen broadcast nothing: a shape that differs is mostly a mistake.",
    ),
    Reason(
        ("nn.functional.multi_margin_loss",),
        ("raises",),
        "a 0-d input, or one target in a list for a vector",
        scalar_or_one_target,
        "convention",
        "numen wants target to have input's shape without the axis of classes.",
    ),
    Reason(
        ("nn.functional.avg_pool2d",),
        ("raises",),
        "an empty tuple as stride",
        no_stride,
        "convention",
        "torch reads () as no stride given; numen asks for None.",
    ),
    Reason(
        ("nn.functional.batch_norm",),
        ("raises",),
        "a vector, which has no axis of channels",
        vector_without_channels,
        "convention",
        "numen wants (N, C, ...); torch lets an empty vector pass.",
    ),
    Reason(
        SOFTMAX_LAYERS,
        ("raises",),
        "a 0-d input",
        scalar_input,
        "numen",
        "A 0-d array has no axis 0 in NumPy; torch gives it one.",
    ),
    Reason(
        ("LPPool1d", "LPPool2d", "LPPool3d"),
        ("gradient",),
        "where the value is NaN: a negative number to a fractional power",
        value_is_nan,
        "convention",
        "The value is NaN in both; torch's gradient is NaN too, numen's 0.",
    ),
    Reason(
        (
            "cholesky",
            "linalg.cholesky",
            "linalg.cholesky_ex",
            "linalg.eigh",
            "linalg.eigvalsh",
        ),
        ("gradient",),
        "gradients with the same Hermitian part",
        other_triangle,
        "numen",
        "These functions read one triangle, and numen's gradient is the derivative by what is "
        "read; torch spreads it over both.",
    ),
    Reason(
        ("linalg.pinv.hermitian",),
        ("gradient",),
        "a matrix that is not Hermitian",
        not_hermitian,
        "numen",
        "The value reads the lower triangle alone, and so does numen's gradient; torch's formula "
        "mixes in the other one.",
    ),
    Reason(
        ("cholesky_inverse", "cholesky_solve"),
        ("gradient",),
        "in the triangle of the factor that is not read",
        unread_triangle,
        "numen",
        "What the function does not read has gradient 0; torch's formula gives it another.",
    ),
    Reason(
        ("linalg.norm.subgradients_at_zero", "linalg.norm", "norm.nuc", "linalg.matrix_norm"),
        ("gradient",),
        "the nuclear norm of a singular matrix, the spectral one of zeros",
        no_one_norm,
        "convention",
        "Not differentiable there: a set of matrices are subgradients. numen takes the "
        "smallest, torch an arbitrary one.",
    ),
)


def explain(case: Any, finding: Any) -> str | None:
    """The reason of a finding, None where it has none."""
    for reason in REASONS:
        if finding.name in reason.operations and finding.kind in reason.kinds:
            if reason.when(case, finding):
                return reason.because
    return None
