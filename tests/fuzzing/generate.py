"""Random programs as Python source, over the ops that exist.

A program is the text of a function `f(a, w, s, k, n)`: `a` a list of input arrays, `w` a leaf
parameter, `s` a state object, `k` and `n` numbers that change from call to call. Statements come
from `statements.py` and are tried on real arrays as they are added, so a program runs without
errors. Next: `check.py`, `against_numpy.py`.
"""

from __future__ import annotations

import random
import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.fuzzing.statements import statement
from tests.fuzzing.words import dtype

import numen as nm

EXTENTS = (0, 1, 2, 3, 4, 5, 7, 16, 17, 33)

MOST_ELEMENTS = 4096


class State:
    """The object a program stores arrays and numbers into."""


@dataclass
class Program:
    """A program's text and what it needs: seeds reproduce the inputs.

    trials: the statements one by one, those that raise too, without what ends the function.
    """

    seed: int
    source: str
    inputs: list[np.ndarray[Any, Any]]
    weight: np.ndarray[Any, Any]
    trials: list[str] = field(default_factory=list)

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


def random_array(rng: np.random.Generator, pick: random.Random) -> np.ndarray[Any, Any]:
    """An input array: some dtype, rank 0 to 3, some layout."""
    kind = np.dtype(dtype(pick))
    rank = pick.choice((0, 1, 1, 2, 2, 2, 3))
    shape = tuple(pick.choice(EXTENTS) for _ in range(rank))
    if kind.kind == "f":
        data = rng.standard_normal(shape).astype(kind)
        if pick.random() < 0.15 and data.size:
            data.flat[pick.randrange(data.size)] = pick.choice((np.nan, np.inf, -np.inf, -0.0))
    elif kind.kind == "b":
        data = rng.random(shape) < 0.5
    else:
        data = rng.integers(0 if kind.kind == "u" else -20, 20, shape).astype(kind)
    return np.asarray(data)


def generate(seed: int, length: int = 14) -> Program:
    """Write the program of a seed."""
    pick = random.Random(seed)
    rng = np.random.default_rng(seed)
    inputs = [random_array(rng, pick) for _ in range(pick.randint(1, 3))]
    shape = tuple(pick.choice((1, 2, 3, 5)) for _ in range(pick.choice((1, 2, 2))))
    weight = rng.standard_normal(shape).astype(pick.choice(("float32", "float64")))
    header = [f"a{i} = a[{i}]" for i in range(len(inputs))] + ["p = w * 1.0", "h = s.h"]
    program = Program(seed, "", inputs, weight, list(header))
    body, names = _body(program, pick, length)
    outputs = _ending(body, names, pick)
    lines = [*header, *body, f"return [{', '.join(outputs)}]"]
    program.source = "\n    ".join(["def f(a, w, s, k, n):", *lines]) + "\n"
    return program


def _body(program: Program, pick: random.Random, length: int) -> tuple[list[str], dict[str, Any]]:
    """Statements that run, and the arrays they leave by name."""
    arguments, w, state = program.arguments()
    names: dict[str, Any] = {f"a{i}": x for i, x in enumerate(arguments)}
    names["p"] = w * 1.0
    names["h"] = state.h
    scope: dict[str, Any] = {"nm": nm, "w": w, "s": state, "a": arguments, "k": 0.5, "n": 1}
    scope.update(names)
    body: list[str] = []
    attempts = 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(body) < length and attempts < length * 6:
            attempts += 1
            fresh = f"v{attempts}"
            line = statement(pick, names, fresh)
            before = {k: v.detach().numpy().copy() for k, v in names.items()}
            try:
                exec(line, scope)
            except Exception:
                program.trials.append(line)
                for k, v in before.items():
                    if scope[k]._d.flags.writeable:
                        scope[k]._d[...] = v
                continue
            value = scope.get(fresh)
            if value is not None and value.size > MOST_ELEMENTS:
                del scope[fresh]
                continue
            program.trials.append(line)
            body.append(line)
            if value is not None:
                names[fresh] = value
    return body, names


def _ending(body: list[str], names: dict[str, Any], pick: random.Random) -> list[str]:
    """Add a branch, stores and a loss to the statements; what the function returns."""
    if pick.random() < 0.4:
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
    floats = [k for k, v in names.items() if v.dtype.kind == "f" and k != "h"]
    outputs = ["(t.detach() * 1)"]
    if pick.random() < 0.6 and floats:
        terms = " + ".join(
            f"nm.tanh({pick.choice(floats)}.astype('float64')).sum()" for _ in range(2)
        )
        body += [f"loss = {terms} + (t * t).sum()", "w.grad = None", "loss.backward()"]
        if pick.random() < 0.5:
            body += ["with nm.no_grad():", "    w -= 0.1 * w.grad"]
        outputs = ["w.grad", "loss.item()"]
    return outputs + [f"{k}.detach()" for k in names if k != "h"]
