"""One layer of torch's table on its inputs: forward values, and gradients of inputs and parameters.

The layer is made with the same arguments, takes over torch's state, and runs in training and in
evaluation; its buffers are compared afterwards. Dropout is off: it draws. Next: `optimizers.py`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from tests.oracle import compare, convert
from tests.oracle.cases import Case, Tally, quiet, seed
from tests.oracle.convert import LeftOutError
from tests.oracle.counterparts import Counterpart
from tests.oracle.operations import one_sample

import numen as nm

LIMIT = 16
"""Inputs of a layer in each mode and dtype, unless every one is asked for."""


def name_of(info: Any) -> str:
    return info.module_cls.__name__


def run(info: Any, limit: int | None, jit: bool) -> Tally:
    """Every input of a layer in both modes and dtypes."""
    limit = None if limit is None else min(limit, LIMIT)
    tally = Tally("modules", name_of(info))
    if not hasattr(nm.nn, tally.name):
        tally.absent = "no such layer"
        return tally
    for dtype, training in itertools.product((torch.float64, torch.float32), (True, False)):
        seed(tally.name)
        inputs = info.module_inputs_func(
            info, device="cpu", dtype=dtype, requires_grad=True, training=training
        )
        for i, given in enumerate(itertools.islice(inputs, limit)):
            with quiet():
                one_layer(info, given, dtype, training, i, tally, jit)
    return tally


def one_layer(
    info: Any, given: Any, dtype: Any, training: bool, index: int, tally: Tally, jit: bool
) -> None:
    made = given.constructor_input
    forward = given.forward_input
    case = Case("modules", tally.name, str(dtype).removeprefix("torch."), index, (), {})
    case.args, case.kwargs = (forward.args, forward.kwargs) if forward else ((), {})
    case.about = f"{convert.summary(made.args)} {convert.summary(made.kwargs)} {mode(training)}"
    if forward is None:
        tally.left_out["no input"] += 1
        return
    theirs = info.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
    still(theirs)
    try:
        ours = layer(tally.name, made).to(convert.DTYPES[dtype])
        take_state(ours, theirs)
    except LeftOutError as why:
        tally.left_out[str(why)] += 1
        return
    except Exception as error:
        tally.counts["samples"] += 1
        tally.counts["compared"] += 1
        tally.disagree(case, "raises", f"{type(error).__name__}: {str(error).splitlines()[0]}")
        return
    ours.train(training)
    still(ours)
    named = dict(ours.named_parameters())
    parameters = [(p, named[n]) for n, p in theirs.named_parameters()]
    one_sample(theirs, Counterpart(ours), case, tally, jit, parameters=parameters)
    if not jit:
        compare_buffers(ours, theirs, case, tally)


def mode(training: bool) -> str:
    return "training" if training else "evaluation"


def layer(name: str, made: Any) -> Any:
    """numen's layer with torch's arguments."""

    def change(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return nm.asarray(convert.to_numpy(value))
        if isinstance(value, torch.nn.TransformerEncoderLayer):
            return encoder_layer(value)
        if callable(value):
            found = getattr(value, "__name__", type(value).__name__)
            if not hasattr(nm.nn.functional, found):
                raise LeftOutError(f"a function {found}")
            return getattr(nm.nn.functional, found)
        if isinstance(value, tuple):
            return tuple(change(v) for v in value)
        return convert.plain(value)

    settings = {k: v for k, v in made.kwargs.items() if k not in ("device", "dtype")}
    for old in ("size_average", "reduce"):
        settings.pop(old, None)
    return getattr(nm.nn, name)(
        *[change(a) for a in made.args], **{k: change(v) for k, v in settings.items()}
    )


def encoder_layer(theirs: torch.nn.TransformerEncoderLayer) -> Any:
    """The layer that a TransformerEncoder copies, read off torch's."""
    return nm.nn.TransformerEncoderLayer(
        theirs.self_attn.embed_dim,
        theirs.self_attn.num_heads,
        theirs.linear1.out_features,
        theirs.dropout.p,
        getattr(nm.nn.functional, theirs.activation.__name__),
        theirs.norm1.eps,
        theirs.self_attn.batch_first,
        theirs.norm_first,
        theirs.linear1.bias is not None,
    )


def take_state(ours: Any, theirs: Any) -> None:
    state = {k: nm.asarray(convert.to_numpy(v)) for k, v in theirs.state_dict().items()}
    ours.load_state_dict(state)


def still(layer: Any) -> None:
    """No dropout anywhere in a layer, of either library."""
    for module in layer.modules():
        if "Dropout" in type(module).__name__:
            module.p = 0.0
        if isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0


def compare_buffers(ours: Any, theirs: Any, case: Case, tally: Tally) -> None:
    """Running statistics after the call."""
    found = dict(ours.named_buffers())
    for name, buffer in theirs.named_buffers():
        b = convert.to_numpy(buffer)
        a = convert.as_values(found[name]) if name in found else np.zeros(0)
        if a.shape != b.shape or a.dtype != b.dtype:
            tally.disagree(
                case, "buffer", f"{name}: {a.dtype}{a.shape} here, {b.dtype}{b.shape} in torch"
            )
        elif why := compare.close(a, b):
            tally.disagree(case, "buffer", f"{name}: {why}")
