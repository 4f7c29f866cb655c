"""The disagreements that have a reason: which operation, in which samples, and who is right.

An entry holds for the kinds of finding and the operations it names, where its predicate holds for
the sample: no bound is loosened. Everything else that differs makes the command fail. Next:
`report.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from tests.oracle.convert import cotangents, to_numpy

Predicate = Callable[[Any, Any], bool]
"""Of a case (`operations.Case`) and a finding of it."""


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


# ------------------------------------------------------------ predicates


def says(text: str) -> Predicate:
    """The finding's text holds these words."""
    return lambda case, finding: text in finding.text


def in_dtype(name: str) -> Predicate:
    return lambda case, finding: case.dtype == name


def integer_operand(case: Any, finding: Any) -> bool:
    kinds = {to_numpy(t).dtype.kind for t in case.tensors()}
    return case.dtype == "float32" and "i" in kinds


def float32_weights(case: Any, finding: Any) -> bool:
    weights = case.kwargs.get("aweights")
    return weights is not None and str(weights.dtype) == "torch.float32" != f"torch.{case.dtype}"


def float32_cancels(case: Any, finding: Any) -> bool:
    weighted = case.kwargs.get("aweights") is not None and case.dtype == "float32"
    return weighted and all(
        np.abs(a - b).max(initial=0.0) <= 1e-4 * max(1.0, np.abs(b).max(initial=0.0))
        for a, b in zip(case.our_gradients, case.their_gradients, strict=True)
    )


def repeated_places(case: Any, finding: Any) -> bool:
    """Some pooling index occurs twice in a plane."""
    places = to_numpy(case.args[1])
    spatial = int(case.name[len("nn.functional.max_unpool")])
    planes = places.reshape(-1, int(np.prod(places.shape[-spatial:])))
    return any(len(np.unique(p)) < len(p) for p in planes)


def power_of_negative(case: Any, finding: Any) -> bool:
    """torch's NaN come from bases below 0; everything else is equal."""
    theirs, ours = case.their_gradients[0], case.our_gradients[0]
    bases = to_numpy(case.args[1])
    equal = np.isnan(theirs) | np.isclose(theirs, ours, rtol=1e-4, atol=1e-6)
    return bool(np.isrealobj(bases) and (bases < 0).any() and equal.all())


def imprecise_in_torch(case: Any, finding: Any) -> bool:
    """torch's own float64 has numen's float32 gradient."""
    x = case.args[0].detach().double().requires_grad_()
    out = torch.logcumsumexp(x, *case.args[1:])
    (seed,) = cotangents([out], case.index)
    (exact,) = torch.autograd.grad(out, x, torch.tensor(seed.astype(np.float32)).double())
    bound = 1e-4 * max(1.0, float(exact.abs().max()))
    return case.dtype == "float32" and bool(
        np.abs(case.our_gradients[0] - exact.numpy()).max() <= bound
    )


def ellipsis_dropped(case: Any, finding: Any) -> bool:
    inputs, _, output = case.args[1].partition("->")
    return "..." in inputs and bool(output) and "..." not in output


def sizes_of_one(case: Any, finding: Any) -> bool:
    left, right = case.args[:2]
    first, second = case.kwargs["dims"]
    pairs = [(left.shape[i], right.shape[j]) for i, j in zip(first, second, strict=True)]
    return any(m != n and 1 in (m, n) for m, n in pairs)


def real_spectrum(case: Any, finding: Any) -> bool:
    return all(a.dtype.kind == "f" for a in case.ours[:1]) and not np.imag(case.theirs[0]).any()


def softmax_folded_in(case: Any, finding: Any) -> bool:
    """The gradients differ by exp(log_probs) times a factor of each step and sequence."""
    shares = np.exp(to_numpy(case.args[0]).astype(np.float64))
    theirs = case.their_gradients[0].astype(np.float64)
    difference = theirs - case.our_gradients[0]
    factor = difference.sum(axis=-1, keepdims=True) / shares.sum(axis=-1, keepdims=True)
    bound = 1e-9 if case.dtype == "float64" else 3e-4
    return bool(np.abs(difference - shares * factor).max() <= bound * np.abs(theirs).max())


def scalar_or_one_target(case: Any, finding: Any) -> bool:
    x, target = case.args[:2]
    return x.ndim == 0 or (x.ndim == 1 and tuple(target.shape) == (1,))


def scalar_input(case: Any, finding: Any) -> bool:
    return case.args[0].ndim == 0 and "AxisError" in finding.text


def vector_without_channels(case: Any, finding: Any) -> bool:
    return case.args[0].ndim == 1


def no_stride(case: Any, finding: Any) -> bool:
    return len(case.args) > 2 and case.args[2] == ()


def value_is_nan(case: Any, finding: Any) -> bool:
    return any(np.isnan(v).any() for v in case.theirs) and "nan) in torch" in finding.text


def unread_triangle(case: Any, finding: Any) -> bool:
    """The factors' gradients are equal where the function reads; elsewhere numen's is 0."""
    ours, theirs = case.our_gradients[-1], case.their_gradients[-1]
    read, rest = (np.triu, np.tril) if case.kwargs.get("upper", False) else (np.tril, np.triu)
    bound = 1e-7 if case.dtype != "float32" else 1e-3
    size = max(1.0, np.abs(theirs).max(initial=0.0))
    unread = rest(ours) - rest(ours) * np.eye(ours.shape[-1])
    return bool(np.abs(read(ours - theirs)).max() <= bound * size and not unread.any())


def hermitian_part(g: Any) -> Any:
    return (g + np.conj(np.swapaxes(g, -1, -2))) / 2


def same_change(case: Any, theirs: Any) -> bool:
    """Gradients of one Hermitian part mean the same change of a Hermitian matrix."""
    distance = np.abs(hermitian_part(case.our_gradients[0]) - hermitian_part(theirs))
    bound = 1e-3 if case.dtype == "float32" else 1e-7
    return bool(distance.max(initial=0.0) <= bound * max(1.0, np.abs(theirs).max(initial=0.0)))


def other_triangle(case: Any, finding: Any) -> bool:
    return same_change(case, case.their_gradients[0])


def not_hermitian(case: Any, finding: Any) -> bool:
    """torch's gradient at the Hermitian matrix of the input's lower triangle is numen's."""
    lower = torch.tril(case.args[0].detach())
    whole = lower + torch.tril(lower, -1).mH
    whole.diagonal(dim1=-2, dim2=-1).imag.zero_() if whole.is_complex() else None
    whole.requires_grad_()
    out = torch.linalg.pinv(whole, hermitian=True)
    (seed,) = cotangents([out], case.index)
    total = (out * torch.tensor(seed)).sum()
    (theirs,) = torch.autograd.grad(total.real if total.is_complex() else total, whole)
    return not torch.equal(whole, case.args[0]) and same_change(case, to_numpy(theirs))


def singular_matrix(case: Any, finding: Any) -> bool:
    matrix = to_numpy(case.args[0])
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return bool((sizes.min(axis=-1) <= 1e-6 * np.maximum(sizes.max(axis=-1), 1e-6)).any())


# ------------------------------------------------------------ the table

UNPOOL = tuple(f"nn.functional.max_unpool{n}d" for n in (1, 2, 3))
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
        "These functions read one triangle, and numen's gradient is the derivative by what is read; "
        "torch spreads it over both.",
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
        "the nuclear norm of a singular matrix",
        lambda case, finding: "nuc" in finding.sample and singular_matrix(case, finding),
        "convention",
        "Not differentiable there: every U V^H + W with W in the null spaces is a subgradient; "
        "numen takes W = 0, torch an arbitrary one.",
    ),
)


def explain(case: Any, finding: Any) -> str | None:
    """The reason of a finding, None where it has none."""
    for reason in REASONS:
        if finding.name in reason.operations and finding.kind in reason.kinds:
            if reason.when(case, finding):
                return reason.because
    return None
