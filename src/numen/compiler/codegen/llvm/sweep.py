"""A loop along one axis that loads items of some streams, computes, and stores items of others.

`sweep` picks the form: whole vectors and then single items for a light body; for a heavy one,
vectors only, the last one partial, so that the body's code exists once; single items where a light
body has strided streams. Every element sees the same operations in each form. Called by `maps.py`
and `columns.py`. Next: `streams.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numen.compiler.codegen.llvm.ir import Function, Value, integer
from numen.compiler.codegen.llvm.streams import Stream, load_partial, load_whole, store_partial

Body = Callable[[Value, int, Sequence[Value]], Sequence[Value]]
"""body(index of the first item, width, one value per input) -> one value per output."""


def sweep(
    function: Function,
    low: Value,
    high: Value,
    inputs: Sequence[Stream],
    outputs: Sequence[Stream],
    body: Body,
    *,
    width: int,
    heavy: bool = False,
    padded: bool = False,
) -> None:
    """Run `body` over the items [low, high) of the streams.

    All loads of a turn come before its stores, so an output may be the memory of an input item for
    item.
    padded: the streams may be read and written up to the next multiple of the width; whole vectors
    then suffice.
    """
    strided = any(s.stride is not None for s in (*inputs, *outputs))
    if heavy:
        _whole_and_partial(function, low, high, inputs, outputs, body, width)
    elif strided:
        _plain(function, low, high, 1, inputs, outputs, body)
    elif padded:
        _plain(function, low, high, width, inputs, outputs, body)
    else:
        # A vector of 16 items is two or four instructions wide already; unrolling further gained
        # nothing.
        covered = function.binary("and", function.subtract(high, low), integer(-width))
        middle = function.opaque(function.add(low, covered))
        _plain(function, low, middle, width, inputs, outputs, body)
        _plain(function, middle, high, 1, inputs, outputs, body)


def _plain(
    function: Function,
    low: Value,
    high: Value,
    width: int,
    inputs: Sequence[Stream],
    outputs: Sequence[Stream],
    body: Body,
) -> None:
    with function.loop(low, high, width) as loop:
        loaded = [load_whole(function, stream, loop.index, width) for stream in inputs]
        for stream, value in zip(outputs, body(loop.index, width, loaded), strict=True):
            function.store(value, stream.address(function, loop.index))


def _whole_and_partial(
    function: Function,
    low: Value,
    high: Value,
    inputs: Sequence[Stream],
    outputs: Sequence[Stream],
    body: Body,
    width: int,
) -> None:
    scattered = any(stream.stride is not None for stream in outputs)
    with function.loop(low, high, width) as loop:
        index = loop.index
        left = function.minimum(function.subtract(high, index), integer(width))
        whole = function.compare("icmp eq", left, integer(width))
        loaded = function.choose(
            whole,
            lambda: [load_whole(function, stream, index, width) for stream in inputs],
            lambda: load_partial(function, inputs, index, left, width, width),
        )
        results = list(body(index, width, loaded))

        def store_all() -> list[Value]:
            for stream, result in zip(outputs, results, strict=True):
                function.store(result, stream.address(function, index))
            return []

        def store_some() -> list[Value]:
            store_partial(function, outputs, results, index, left)
            return []

        if scattered:
            store_some()
        else:
            function.choose(whole, store_all, store_some)
