"""Random programs as Python source, over the ops that exist.

A program is the text of a function `f(a, w, s, k, n)`: `a` a list of input arrays, `w` a leaf
parameter, `s` a state object, `k` and `n` numbers that change from call to call. Statements are
tried on real arrays as they are added, so a program runs without errors.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

import numen as nm

EXTENTS = (0, 1, 2, 3, 4, 5, 7, 16, 17, 33)
RARE = ("int8", "int16", "uint32", "uint64", "float16", "complex64")
DTYPES = ("float32", "float32", "float64", "float64", "int32", "int64", "bool", "uint8")


class State:
    """The object a program stores arrays and numbers into."""


@dataclass
class Program:
    """A program's text and what it needs: seeds reproduce the inputs."""

    seed: int
    source: str
    inputs: list[np.ndarray[Any, Any]]
    weight: np.ndarray[Any, Any]

    @property
    def numbers(self) -> bool:
        """Whether the text uses k or n."""
        return re.search(r"\b[kn]\b", self.source.partition("\n")[2]) is not None

    def arguments(self) -> tuple[list[Any], Any, State]:
        """Fresh arguments, equal each time."""
        w = nm.array(self.weight.copy(), requires_grad=True)
        state = State()
        state.h = nm.array(np.zeros(3))
        state.n = 0
        state.items = [nm.array(np.zeros(2)), nm.array(np.ones(3, np.float32))]
        state.losses = []
        return [nm.array(x.copy()) for x in self.inputs], w, state

    def function(self) -> Any:
        """The function `f(a, w, s, k, n)`."""
        scope: dict[str, Any] = {"nm": nm}
        exec(compile(self.source, f"<program {self.seed}>", "exec"), scope)
        return scope["f"]


def _dtype(pick: random.Random) -> str:
    return pick.choice(RARE if pick.random() < 0.1 else DTYPES)


def random_array(rng: np.random.Generator, pick: random.Random) -> np.ndarray[Any, Any]:
    """An input array: some dtype, rank 0 to 3, some layout."""
    dtype = np.dtype(_dtype(pick))
    rank = pick.choice((0, 1, 1, 2, 2, 2, 3))
    shape = tuple(pick.choice(EXTENTS) for _ in range(rank))
    if dtype.kind == "f":
        data = rng.standard_normal(shape).astype(dtype)
        if pick.random() < 0.15 and data.size:
            data.flat[pick.randrange(data.size)] = pick.choice((np.nan, np.inf, -np.inf, -0.0))
    elif dtype.kind == "b":
        data = rng.random(shape) < 0.5
    else:
        data = rng.integers(0 if dtype.kind == "u" else -20, 20, shape).astype(dtype)
    return np.asarray(data)


def _axis(pick: random.Random, rank: int) -> str:
    if not rank or pick.random() < 0.3:
        return "None"
    if rank > 1 and pick.random() < 0.25:
        return str(tuple(sorted(pick.sample(range(rank), 2))))
    return str(pick.randrange(-rank, rank))


def _slice(pick: random.Random) -> str:
    return pick.choice(("1:", ":-1", "::2", "::-1", "1:3", "0", "-1", "None", "...", ":"))


def _index(pick: random.Random, rank: int) -> str:
    count = pick.randint(1, max(1, rank))
    entries = [_slice(pick) for _ in range(count)]
    if entries.count("...") > 1:
        entries = ["..."] + [e for e in entries if e != "..."]
    return ", ".join(entries)


def _statement(pick: random.Random, names: dict[str, Any], fresh: str) -> str:
    x = pick.choice(list(names))
    y = pick.choice(list(names))
    c = pick.choice(("2", "0.5", "-1", "3", "1.25", "True", "0"))
    rank = names[x].ndim
    if pick.random() < 0.3:
        return _rarer(pick, names, fresh, x, y, c)
    kind = pick.randrange(22)
    if kind < 4:
        return f"{fresh} = {x} {pick.choice('+-*/')} {y}"
    if kind < 6:
        left, right = pick.choice(((x, c), (c, x)))
        return f"{fresh} = {left} {pick.choice('+-*/')} {right}"
    if kind == 6:
        name = pick.choice(("exp", "tanh", "relu", "sqrt", "absolute", "negative", "log"))
        return f"{fresh} = nm.{name}({x})"
    if kind == 7:
        return f"{fresh} = nm.tanh({x}) * 0.5"
    if kind == 8:
        return f"{fresh} = nm.where({x} {pick.choice(('<', '>=', '==', '!='))} {y}, {x}, {y})"
    if kind == 9:
        return f"{fresh} = nm.{pick.choice(('maximum', 'minimum'))}({x}, {pick.choice((y, c))})"
    if kind < 12:
        keep = pick.choice((", keepdims=True", ""))
        name = pick.choice(("sum", "mean", "max", "min"))
        return f"{fresh} = {x}.{name}(axis={_axis(pick, rank)}{keep})"
    if kind == 12:
        axis = pick.choice(("None", str(pick.randrange(rank)) if rank else "None"))
        return f"{fresh} = {x}.argmax(axis={axis})"
    if kind == 13:
        product = pick.choice((f"{x} @ {y}", f"{x}.T @ {y}", f"{x} @ {y}.T", f"{x} @ {x}.T"))
        return f"{fresh} = {product}"
    if kind == 14:
        moved = pick.choice((".reshape(-1)", ".T", ".T.reshape(-1)", "[None]", ".copy()"))
        return f"{fresh} = {x}{moved}"
    if kind == 15:
        return f"{fresh} = {x}[{_index(pick, rank)}]"
    if kind == 16:
        return f"{x}[{_index(pick, rank)}] = {pick.choice((y, c))}"
    if kind == 17:
        return f"{x}[{_index(pick, rank)}] {pick.choice('+-*')}= {pick.choice((y, c))}"
    if kind == 18:
        return f"{x} {pick.choice('+-*')}= {pick.choice((y, c))}"
    if kind == 19:
        return f"{fresh} = {x}.astype('{_dtype(pick)}')"
    if kind == 20:
        return f"{fresh} = nm.concatenate([{x}, {y}], axis={pick.choice(('0', '-1', 'None'))})"
    return f"{fresh} = nm.take({x}, nm.array([0, -1, 0]), axis={pick.choice(('0', '-1', 'None'))})"


def _rarer(pick: random.Random, names: dict[str, Any], fresh: str, x: str, y: str, c: str) -> str:
    """out=, where=, views of views, state, numbers, index arrays, gradients of what there is so
    far.
    """
    rank = names[x].ndim
    z = pick.choice(list(names))
    op = pick.choice(("add", "multiply", "subtract", "maximum"))
    one = pick.choice(("exp", "negative", "absolute", "tanh"))
    there = "nm.array([0, -1, 0])"
    number = pick.choice(
        ("k", "n", "k * 2 + n", "n // 2", "1 / n", "-k", "n % 3", "0.9 ** n", "k - 1")
    )
    return pick.choice(
        (
            f"nm.{op}({x}, {pick.choice((y, c))}, out={z})",
            f"nm.{one}({x}, out={z})",
            f"{fresh} = nm.{op}({x}, {y}, where={z} > 0)",
            f"nm.{op}({x}, {pick.choice((y, c))}, out={z}, where={x} < {pick.choice((y, c))})",
            f"{x}.sum(axis={_axis(pick, rank)}, out={z})",
            f"{fresh} = {x}[{_index(pick, rank)}].T[{_slice(pick)}]",
            f"{fresh} = {x}.reshape(-1)[{_slice(pick)}][None]",
            f"{fresh} = {x}.detach()[{_index(pick, rank)}]",
            f"{fresh} = {x}.T.reshape(-1, 1) + {x}.reshape(-1)[:1]",
            f"s.items[{pick.choice('01')}] = {x}.detach()",
            f"s.items[0], s.items[1] = s.items[1], {x}.detach() * 1",
            f"{fresh} = s.items[{pick.choice('01')}] {pick.choice('+-*')} {pick.choice((x, c))}",
            f"s.losses.append({x}.sum().item())",
            f"{fresh} = (lambda t, u: t * u + {pick.choice((y, c))})({x}, {pick.choice((y, c))})",
            f"{fresh} = {x} {pick.choice('+-*')} ({number})",
            f"{fresh} = ({number}) {pick.choice('+-*')} {x}",
            f"{x}[{_index(pick, rank)}] {pick.choice(('=', '+=', '*='))} {number}",
            f"{fresh} = {x} if {number} > {pick.choice(('0.6', '1', '2'))} else {x} * 2",
            f"{fresh} = {x}[n % 2:]",
            f"{fresh} = {x} * ({y}.sum().item() * 0.5)",
            f"{fresh} = {x} * 2 if nm.sum({y}) > {c} else {x} - 1",
            f"{fresh} = nm.scatter_add({x}, {there}, {pick.choice((c, 'k'))})",
            f"{x}[{there}] {pick.choice(('=', '+='))} {pick.choice((y, c, 'n'))}",
            f"{fresh} = {x}[{there}, {_slice(pick)}]",
            f"w.grad = None; nm.sum(nm.tanh({x} * p)).backward(retain_graph=True)"
            f"; {fresh} = w.grad * 1",
            f"with nm.no_grad(): {x}[{_index(pick, rank)}] = {pick.choice((y, c))}",
        )
    )


def generate(seed: int, length: int = 14) -> Program:
    """Write the program of a seed."""
    pick = random.Random(seed)
    rng = np.random.default_rng(seed)
    inputs = [random_array(rng, pick) for _ in range(pick.randint(1, 3))]
    shape = tuple(pick.choice((1, 2, 3, 5)) for _ in range(pick.choice((1, 2, 2))))
    weight = rng.standard_normal(shape).astype(pick.choice(("float32", "float64")))
    header = [f"a{i} = a[{i}]" for i in range(len(inputs))]
    lines: list[str] = []
    program = Program(seed, "", inputs, weight)
    arguments, w, state = program.arguments()
    names: dict[str, Any] = {f"a{i}": x for i, x in enumerate(arguments)}
    names["p"] = w * 1.0
    names["h"] = state.h
    scope: dict[str, Any] = {"nm": nm, "w": w, "s": state, "a": arguments, "k": 0.5, "n": 1}
    scope.update(names)
    attempts = 0
    with np.errstate(all="ignore"):
        while len(lines) < length and attempts < length * 6:
            attempts += 1
            fresh = f"v{attempts}"
            line = _statement(pick, names, fresh)
            before = {k: v.detach().numpy().copy() for k, v in names.items()}
            try:
                exec(line, scope)
            except Exception:
                for k, v in before.items():
                    if scope[k]._d.flags.writeable:
                        scope[k]._d[...] = v
                continue
            value = scope.get(fresh)
            if value is not None and value.size > 4096:
                del scope[fresh]
                continue
            lines.append(line)
            if value is not None:
                names[fresh] = value
    body = list(lines)
    if pick.random() < 0.4 and names:
        x = pick.choice(list(names))
        at = pick.randint(0, len(body))
        if x in ("p", "h") or x.startswith("a"):
            op = pick.choice(("<", ">="))
            body.insert(
                at, f"t = p * 2.0 if nm.sum({x}) {op} {pick.choice(('0', '1.5'))} else p * 3.0"
            )
        else:
            body.append(f"t = p * 2.0 if nm.sum({x}) > 0.25 else p - 1.0")
    else:
        body.append("t = p * 2.0")
    if pick.random() < 0.5:
        body.append("s.h = (p.detach() * 1.0).reshape(-1)[:1].astype('float64') + s.h")
    if pick.random() < 0.4:
        body.append("s.n += 1")
    floats = [k for k, v in names.items() if v.dtype.kind == "f" and k not in ("h",)]
    if pick.random() < 0.6 and floats:
        terms = " + ".join(
            f"nm.tanh({pick.choice(floats)}.astype('float64')).sum()" for _ in range(2)
        )
        body += [f"loss = {terms} + (t * t).sum()", "w.grad = None", "loss.backward()"]
        if pick.random() < 0.5:
            body += ["with nm.no_grad():", "    w -= 0.1 * w.grad"]
        outputs = ["w.grad", "loss.item()"]
    else:
        outputs = ["(t.detach() * 1)"]
    outputs += [f"{k}.detach()" for k in names if k != "h"]
    text = [
        "def f(a, w, s, k, n):",
        *[f"    {line}" for line in header],
        "    p = w * 1.0",
        "    h = s.h",
    ]
    text += [f"    {line}" for line in body]
    text.append(f"    return [{', '.join(outputs)}]")
    return Program(seed, "\n".join(text) + "\n", inputs, weight)
