"""Losses as modules, with PyTorch's names: options at construction, (input, target) at the call.

Each calls its function, where the formula and the errors are documented: `functional_losses.py`,
`functional_classification.py`, `functional_ctc.py`.
"""

from __future__ import annotations

from typing import Any

from numen.nn import functional_classification as classes
from numen.nn import functional_losses as values
from numen.nn import functional_probabilities as probabilities
from numen.nn.functional_ctc import ctc_loss
from numen.nn.module import Module
from numen.nn.reductions import check_reduction

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CrossEntropyLoss"]
__all__ += ["CTCLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss"]
__all__ += ["KLDivLoss", "L1Loss", "MarginRankingLoss", "MSELoss"]
__all__ += ["MultiMarginLoss", "NLLLoss", "PoissonNLLLoss", "SmoothL1Loss"]
__all__ += ["SoftMarginLoss", "TripletMarginLoss"]


class Loss(Module):
    """What the losses share: `reduction`, and a weight that is part of the module's buffers."""

    weight: Any

    def __init__(self, reduction: str = "mean", weight: Any = None) -> None:
        super().__init__()
        more = ("batchmean",) if isinstance(self, KLDivLoss) else ()
        check_reduction(reduction, type(self).__name__, *more)
        self.reduction = reduction
        if weight is not None or type(self) in WEIGHTED:
            self.register_buffer("weight", weight)


class MSELoss(Loss):
    """Mean squared difference, `functional.mse_loss`.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}

    Examples
    --------
    >>> import numen as nm
    >>> float(nm.nn.MSELoss()(nm.array([1.0, 2.0]), nm.array([0.0, 4.0])))
    2.5
    """

    def forward(self, input: Any, target: Any) -> Any:
        return values.mse_loss(input, target, self.reduction)


class L1Loss(Loss):
    """Mean absolute difference, `functional.l1_loss`."""

    def forward(self, input: Any, target: Any) -> Any:
        return values.l1_loss(input, target, self.reduction)


class SmoothL1Loss(Loss):
    """Squares of small differences, absolute large ones, `functional.smooth_l1_loss`."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def forward(self, input: Any, target: Any) -> Any:
        return values.smooth_l1_loss(input, target, self.reduction, self.beta)


class HuberLoss(Loss):
    """Squares of small differences, absolute large ones, `functional.huber_loss`."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def forward(self, input: Any, target: Any) -> Any:
        return values.huber_loss(input, target, self.reduction, self.delta)


class PoissonNLLLoss(Loss):
    """Negative log-likelihood of counts, `functional.poisson_nll_loss`."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, input: Any, target: Any) -> Any:
        return values.poisson_nll_loss(
            input, target, self.log_input, self.full, self.eps, self.reduction
        )


class GaussianNLLLoss(Loss):
    """Negative log-likelihood under normal distributions, `functional.gaussian_nll_loss`."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Any, target: Any, var: Any) -> Any:
        return values.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class MarginRankingLoss(Loss):
    """Whether one score is above another by a margin, `functional.margin_ranking_loss`."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return values.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class HingeEmbeddingLoss(Loss):
    """Distances of like and unlike pairs, `functional.hinge_embedding_loss`."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        return values.hinge_embedding_loss(input, target, self.margin, self.reduction)


class SoftMarginLoss(Loss):
    """log(1 + exp(-target input)), `functional.soft_margin_loss`."""

    def forward(self, input: Any, target: Any) -> Any:
        return values.soft_margin_loss(input, target, self.reduction)


class CosineEmbeddingLoss(Loss):
    """Angles of like and unlike pairs of vectors, `functional.cosine_embedding_loss`."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return values.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class TripletMarginLoss(Loss):
    """Distances from an anchor, `functional.triplet_margin_loss`."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return values.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction
        )


class CrossEntropyLoss(Loss):
    """Cross-entropy of scores and classes (or probabilities), `functional.cross_entropy`.

    Parameters
    ----------
    weight : array_like, shape (C,), optional
        Of the classes; a buffer of the module.
    ignore_index : int
        Label of samples that count for nothing.
    reduction : {"mean", "sum", "none"}
    label_smoothing : float

    Examples
    --------
    >>> import numen as nm
    >>> loss = nm.nn.CrossEntropyLoss(label_smoothing=0.1)
    >>> round(float(loss(nm.array([[2.0, 0.0], [0.0, 2.0]]), [0, 1])), 6)
    0.226928
    """

    def __init__(
        self,
        weight: Any = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction, weight)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        return classes.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(Loss):
    """Minus the log-probabilities of the labels, `functional.nll_loss`."""

    def __init__(
        self, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction, weight)
        self.ignore_index = ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        return classes.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class BCELoss(Loss):
    """Binary cross-entropy of probabilities, `functional.binary_cross_entropy`."""

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction, weight)

    def forward(self, input: Any, target: Any) -> Any:
        return probabilities.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(Loss):
    """Binary cross-entropy of scores, `functional.binary_cross_entropy_with_logits`."""

    pos_weight: Any

    def __init__(
        self, weight: Any = None, *, reduction: str = "mean", pos_weight: Any = None
    ) -> None:
        super().__init__(reduction, weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Any, target: Any) -> Any:
        return probabilities.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(Loss):
    """Kullback-Leibler divergence, `functional.kl_div`; "batchmean" is the one per sample."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def forward(self, input: Any, target: Any) -> Any:
        return probabilities.kl_div(input, target, self.reduction, self.log_target)


class MultiMarginLoss(Loss):
    """Margins between a label's score and the others, `functional.multi_margin_loss`."""

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction, weight)
        self.p, self.margin = p, margin

    def forward(self, input: Any, target: Any) -> Any:
        return classes.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, self.reduction
        )


class CTCLoss(Loss):
    """The loss of label sequences without an alignment, `functional.ctc_loss`."""

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        return ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )


WEIGHTED = (CrossEntropyLoss, NLLLoss, BCELoss, BCEWithLogitsLoss, MultiMarginLoss)
"""Losses that have an attribute `weight` also where none is given."""
