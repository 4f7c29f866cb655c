"""One optimiser of torch's table with its settings: ten steps from the same gradients.

Next: `report.py`.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import torch
from tests.oracle import compare, convert
from tests.oracle.cases import Case, Tally, quiet, seed

import numen as nm

SHAPES = ((3, 4), (5,), ())
STEPS = 10


def run(info: Any, jit: bool) -> Tally:
    """Every set of settings that numen's optimiser takes."""
    tally = Tally("optimizers", info.optim_cls.__name__)
    ours = getattr(nm.optim, tally.name, None)
    if ours is None:
        tally.absent = "no such optimiser"
        return tally
    known = inspect.signature(ours).parameters
    seed(tally.name)
    for dtype in (torch.float64, torch.float32):
        for i, given in enumerate(info.optim_inputs_func("cpu", dtype)):
            unknown = [k for k, v in given.kwargs.items() if k not in known]
            if unknown:
                tally.left_out[f"no argument {unknown[0]}"] += 1
                continue
            with quiet():
                steps(info.optim_cls, ours, given.kwargs, dtype, i, tally, jit)
    return tally


def steps(
    theirs: Any,
    ours: Any,
    settings: dict[str, Any],
    dtype: Any,
    index: int,
    tally: Tally,
    jit: bool,
) -> None:
    """Compare the parameters after each of ten steps."""
    rng = np.random.default_rng(index)
    kind = convert.DTYPES[dtype]
    starts = [np.asarray(rng.standard_normal(s)).astype(kind) for s in SHAPES]
    case = Case("optimizers", tally.name, kind.name, index, (), settings)
    tally.counts["samples"] += 1
    tally.counts["compared"] += 1
    left = [torch.tensor(s, requires_grad=True) for s in starts]
    right = [nm.nn.Parameter(nm.array(s)) for s in starts]
    try:
        one = theirs(left, **settings)
        two = ours(right, **{k: plain(v) for k, v in settings.items()})
        step = nm.jit(two.step) if jit else two.step
        for count in range(STEPS):
            for t, p, s in zip(left, right, starts, strict=True):
                gradient = np.asarray(rng.standard_normal(s.shape)).astype(kind)
                t.grad, p.grad = torch.tensor(gradient), nm.array(gradient)
            one.step()
            step()
            for t, p in zip(left, right, strict=True):
                why = compare.close(convert.as_values(p), convert.to_numpy(t), elementwise=True)
                if why:
                    tally.disagree(case, "value", f"after step {count + 1}: {why}")
                    return
    except Exception as error:
        text = (str(error).splitlines() or [""])[0]
        tally.disagree(case, "raises", f"{type(error).__name__}: {text}")
        return
    tally.counts["equal values"] += 1


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, torch.Tensor) else convert.plain(value)
