"""Write docs/coverage.md: what numen makes of each public name of NumPy's.

The names come from NumPy itself; how a name is made comes from numen's objects, whether it
differentiates and compiles from trying it (`probing.py`), a reason of absence from
`numen/namespace/absences.py`. `make docs` runs this; `tests/test_coverage_table.py` says when the
page is out of date.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from probing import GENERIC, sample_of

import numen as nm
from numen.namespace.absences import ABSENT
from numen.runtime import platforms

PAGE = Path(__file__).parent / "coverage.md"
VERSION = ".".join(np.__version__.split(".")[:2])

_WITH_STATE = """info load save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromregex
set_printoptions setbufsize seterr seterrcall show_config show_runtime get_include memmap
asmatrix bmat"""
WITH_STATE = _WITH_STATE.split()
"""Functions that are not tried: they read or write files, print, set state, or make matrices."""

_MODULES = """char strings rec ma emath polynomial testing lib ctypeslib dtypes exceptions typing
core f2py"""
MODULES = _MODULES.split()
"""Modules that get a line each; the functions of linalg, fft and random get theirs."""

BUILT_IN = {name for kind in (object, type, types.FunctionType) for name in dir(kind)} - {
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__str__",
    "__format__", "__reduce__", "__reduce_ex__", "__setstate__", "__or__", "__ror__", "__call__",
}  # fmt: skip
"""Special names that every object has."""

SKIPPED = {"__array_priority__", "__array_finalize__", "__class_getitem__", "__hash__", "__ror__"}


@dataclass
class Line:
    """One name: how it is made, whether derivatives flow, what vmap and jit do, a note."""

    name: str
    how: str = "absent"
    gradient: str = "-"
    jvp: str = "-"
    vmap: str = "-"
    jit: str = "-"
    note: str = ""
    probed: bool = field(default=False, repr=False)

    def cells(self) -> str:
        cells = (f"`{self.name}`", self.how, self.gradient, self.jvp, self.vmap, self.jit)
        return f"| {' | '.join(cells)} | {self.note} |"


def how(value: Any, theirs: Any) -> str:
    """How a public object of numen's is made, by what it is."""
    if value is theirs:
        return "NumPy's"
    if isinstance(value, nm.ufunc):
        return "row" if value.row is not None else "composed"
    if isinstance(value, type):
        return "class"
    if getattr(value, "composition", None) is not None:
        return "composed"
    if hasattr(value, "numpy_function"):
        return "host"
    return "function" if callable(value) else "object"


def absent(name: str) -> Line:
    return Line(name, note=ABSENT.get(name, "**no reason given**"))


def tried(line: Line, call: str, arguments: Sequence[str] = GENERIC) -> Line:
    """The line with what a sample call shows."""
    if line.probed:
        return line
    probe = sample_of(line.name, call, arguments)
    if probe is not None:
        line.probed = True
        line.gradient, line.jvp = probe.gradient(), probe.forward()
        line.vmap, line.jit = probe.batched(), probe.compiled()
    return line


# ------------------------------------------------------------ the names, by kind


def public(module: Any) -> list[str]:
    return sorted(n for n in dir(module) if not n.startswith("_"))


def is_constant(value: Any) -> bool:
    return not callable(value) and not isinstance(value, types.ModuleType)


def of_kind(kind: str) -> Iterator[str]:
    """NumPy's public names that are functions, ufuncs, classes or constants."""
    for name in public(np):
        value = getattr(np, name)
        if isinstance(value, types.ModuleType):
            found = "module"
        elif isinstance(value, np.ufunc):
            found = "ufunc"
        elif isinstance(value, type):
            found = "class"
        else:
            found = "constant" if is_constant(value) else "function"
        if found == kind and name not in MODULES:
            yield name


def functions(kind: str) -> Iterator[Line]:
    for name in of_kind(kind):
        value = getattr(nm, name, None)
        if value is None:
            yield absent(name)
            continue
        line = Line(name, how(value, getattr(np, name)))
        alias = getattr(np, name).__name__
        if alias != name and hasattr(nm, alias) and getattr(nm, alias) is value:
            line.note = f"another name of `{alias}`"
        if line.how == "NumPy's" or name in WITH_STATE:
            yield line
        else:
            yield tried(line, f"np.{name}")


def values(kind: str) -> Iterator[Line]:
    """Classes and constants: whether they are NumPy's own or numen's."""
    for name in of_kind(kind):
        value, theirs = getattr(nm, name, None), getattr(np, name)
        if not hasattr(nm, name):
            yield absent(name)
        elif value is theirs or (kind == "constant" and type(value) is type(theirs)):
            yield Line(name, "NumPy's")
        else:
            yield Line(name, "class" if isinstance(value, type) else "object")


def of_module(path: str) -> Iterator[Line]:
    """The functions of a module, under their dotted names."""
    theirs, ours = (
        importlib.import_module(f"numpy.{path}"),
        importlib.import_module(f"numen.{path}"),
    )
    for name in sorted(n for n in theirs.__all__ if not n.startswith("_")):
        dotted = f"{path}.{name}"
        if not hasattr(ours, name):
            yield absent(dotted)
            continue
        line = Line(dotted, how(getattr(ours, name), getattr(theirs, name)))
        yield line if line.how in ("NumPy's", "class") else tried(line, f"np.{dotted}")


def of_random() -> Iterator[Line]:
    """The module numpy.random, then the methods of a Generator: draws on the host."""
    for name in sorted(np.random.__all__):
        dotted = f"random.{name}"
        if not hasattr(nm.random, name):
            yield absent(dotted)
            continue
        ours, theirs = getattr(nm.random, name), getattr(np.random, name)
        kind = "class" if isinstance(ours, type) else "host"
        yield Line(dotted, "NumPy's" if ours is theirs else kind)
    for name in public(np.random.Generator):
        dotted = f"random.Generator.{name}"
        yield Line(dotted, "host") if hasattr(nm.random.Generator, name) else absent(dotted)


SUBJECTS = ("v", "S", "i", "m", "c")
_UNTRIED = """tofile dump dumps setflags ctypes flags base data flat __array__ __array_interface__
__array_struct__ __buffer__ __reduce__ __reduce_ex__ __setstate__ __dlpack__ __dlpack_device__
__format__ __repr__ __str__ __len__ __bool__ __int__ __float__ __complex__ __index__
__array_namespace__ __array_function__ __delitem__ __contains__ setfield"""
UNTRIED = _UNTRIED.split()
"""Members of ndarray without a sample call: they export memory or make Python values."""


def of_ndarray() -> Iterator[Line]:
    """Attributes, methods and special methods of ndarray on the class Array."""
    for name in sorted(set(dir(np.ndarray)) - BUILT_IN - SKIPPED):
        dotted = f"ndarray.{name}"
        if not hasattr(nm.Array, name):
            yield absent(dotted)
            continue
        is_method = callable(getattr(np.ndarray, name))
        line = Line(dotted, "method" if is_method else "attribute")
        if name in UNTRIED:
            pass
        elif not is_method:
            tried(line, f"S.{name}", ("",))
        elif name.startswith("__i") and name not in ("__invert__", "__iter__"):
            for x in ("v", "i"):
                tried(line, f"w = {x} * 1; w.{name}", ("(b); w", "(i); w"))
        else:
            for x in SUBJECTS:
                tried(line, f"{x}.{name}", ("()", *GENERIC))
        yield line


def of_modules() -> Iterator[Line]:
    for name in MODULES:
        if name in ABSENT:
            yield absent(name)
            continue
        path = {"emath": "lib.scimath"}.get(name, name)
        theirs = importlib.import_module(f"numpy.{path}")
        try:
            ours = importlib.import_module(f"numen.{name}")
        except ImportError:
            yield absent(name)
            continue
        listed = getattr(theirs, "__all__", None) or public(theirs)
        missing = [n for n in listed if not hasattr(ours, n)]
        note = f"{len(listed) - len(missing)} of {len(listed)} names"
        if missing:
            note += f"; not {', '.join(missing)}"
        yield Line(name, "module", note=note)


SECTIONS: tuple[tuple[str, Any], ...] = (
    ("Functions", lambda: functions("function")),
    ("Ufuncs", lambda: functions("ufunc")),
    ("ndarray", of_ndarray),
    ("linalg", lambda: of_module("linalg")),
    ("fft", lambda: of_module("fft")),
    ("random", of_random),
    ("Classes and dtypes", lambda: values("class")),
    ("Constants and objects", lambda: values("constant")),
    ("Modules", of_modules),
)

HEAD = """# Coverage

What numen makes of each public name of NumPy {version}. `docs/make_coverage.py` prints this page:
it asks the objects how they are made and runs a sample call of every function.

| column | says | means |
|---|---|---|
| how | row | one row of the op table, with derivative rules |
| | composed | a composition of rows; NumPy's own function computes plain arrays |
| | function, method, attribute, class, object | numen's own code over rows and NumPy |
| | host | NumPy's function on the memory of the Arrays |
| | NumPy's | the very object |
| | absent | not there; the note says why |
| gradient | yes | a backward pass through the sample call runs |
| | refused | the value is right, a backward pass raises GradientError |
| | - | nothing to carry: integers, booleans, Python values, results of shapes alone |
| jvp | yes | the sample call carries tangents |
| | refused | a tangent raises GradientError |
| vmap | at once | every op of the sample call runs once for all examples |
| | loop | for a part of it NumPy is called example by example |
| | refused | Python would need values that differ, or it writes where vmap can't |
| jit | compiled | the sample call becomes kernels, views and copies |
| | host | the program calls NumPy there, or for a part of it |
| | eager | a function that calls it runs eagerly, and `explain` names it |
| | - | not tried (files, printing, state), or known while recording |

## In numbers

"""


def table_of(lines: list[Line]) -> str:
    rows = "\n".join(line.cells() for line in lines)
    head = "| name | how | gradient | jvp | vmap | jit | note |\n|---|---|---|---|---|---|---|\n"
    return f"{head}{rows}\n"


def counts(found: dict[str, list[Line]]) -> str:
    """How many names of each section are there, differentiate and compile."""
    text = "| | there | gradient | jvp | no derivative | vmap | by loop | refused | "
    text += "compiled | with host calls | eager |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
    for title, lines in found.items():
        there = sum(line.how != "absent" for line in lines)
        gradient = Counter(line.gradient for line in lines)
        jvp, vmap = (Counter(getattr(line, name) for line in lines) for name in ("jvp", "vmap"))
        jit = Counter(line.jit for line in lines)
        hosts = jit["host"] + jit["compiled, host"]
        cells = [gradient["yes"], jvp["yes"], gradient["refused"]]
        cells += [vmap["at once"], vmap["loop"], vmap["refused"]]
        cells += [jit["compiled"], hosts, jit["eager"]]
        shown = [str(n) if n else "" for n in cells]
        text += f"| {title} | {there} of {len(lines)} | {' | '.join(shown)} |\n"
    return text


def render() -> str:
    """The page as it should be."""
    found = {title: list(lines()) for title, lines in SECTIONS}
    parts = [HEAD.format(version=VERSION), counts(found)]
    parts += [f"## {title}\n\n{table_of(lines)}" for title, lines in found.items()]
    return "\n".join(parts)


def same_numpy(page: str) -> bool:
    """Whether a page was printed with this NumPy's names (its minor version)."""
    return f"of NumPy {VERSION}. " in page


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(render())
    elif same_numpy(PAGE.read_text()) and platforms.available():
        sys.exit(render() != PAGE.read_text() and "docs/coverage.md is out of date: make docs")
