"""In which samples a disagreement has its reason: predicates for the table of `disagreements.py`.

Each looks at the sample's arguments, at both results and at both gradients. Next: `report.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from tests.oracle.convert import cotangents, to_numpy

Predicate = Callable[[Any, Any], bool]
"""Of a case (`operations.Case`) and a finding of it."""


def says(text: str) -> Predicate:
    """The finding's text holds these words."""
    return lambda case, finding: text in finding.text


def in_dtype(name: str) -> Predicate:
    return lambda case, finding: case.dtype == name


def no_dtype(case: Any, finding: Any) -> bool:
    return case.kwargs.get("dtype") is None


def float32_end(case: Any, finding: Any) -> bool:
    """An end of the range is a float32 tensor, and the result is to be float64."""
    dtypes = [str(t.dtype) for t in case.tensors()]
    return "torch.float32" in dtypes and str(case.kwargs.get("dtype")) == "torch.float64"


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


def no_one_norm(case: Any, finding: Any) -> bool:
    """The nuclear norm of a singular matrix, or the spectral one of zeros."""
    sizes = np.linalg.svd(to_numpy(case.args[0]), compute_uv=False)
    orders = (*case.args[1:2], *case.kwargs.values())
    if "nuc" in orders:
        return bool((sizes.min(axis=-1) <= 1e-6 * np.maximum(sizes.max(axis=-1), 1e-6)).any())
    return 2 in orders and not sizes.any()
