"""Write the pages of the API reference: one a family of functions, one a module, one the class.

`conf.py` calls `write` when a build begins; the pages go to docs/reference/generated. What numen
made itself gets its signature and docstring; what is NumPy's own object a line in a table, with a
link. `pages()` is what `tests/test_docs.py` compares with the public names.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import numen as nm
from numen.namespace import FAMILIES
from numen.namespace.borrowed import Borrowed
from numen.namespace.calling import signature_of

NUMPY = "https://numpy.org/doc/stable/reference/"
SECTION_PAGES = {
    "dtypes": "routines.dtypes.html",
    "ctypeslib": "routines.ctypeslib.html",
    "typing": "typing.html",
}
"""Modules that NumPy describes on one page each."""

Convert = Callable[[str, str], str]

TITLES = {
    "io": "Files",
    "nan_functions": "NaN functions",
    "ufunc_class": "The class ufunc",
    "text": "Arrays as text",
    "state": "State",
    "hosted": "Matrices and records",
}
"""Titles of families whose file name would not read well."""

MODULES = {
    "linalg": "linalg", "fft": "fft", "random": "random", "polynomial": "polynomial",
    "testing": "testing", "strings": "strings", "char": "char", "rec": "rec", "ma": "ma",
    "lib": "lib", "lib.stride_tricks": "lib.stride_tricks", "emath": "lib.scimath",
    "ctypeslib": "ctypeslib", "dtypes": "dtypes", "exceptions": "exceptions", "typing": "typing",
    "implicit": "", "nn": "", "nn.functional": "", "nn.init": "", "nn.utils": "", "optim": "",
    "optim.lr_scheduler": "", "data": "", "train": "", "formats.safetensors": "", "interop": "",
    "profile": "",
}  # fmt: skip
"""numen's public modules -> NumPy's module of the same names, or nothing."""

TRANSFORMS = """grad value_and_grad vjp jvp vmap jacrev jacfwd hessian hvp linearize
custom_vjp custom_jvp Function once_differentiable checkpoint remat detect_anomaly
set_detect_anomaly no_grad enable_grad set_grad_enabled jit explain verify config manual_seed"""


def _plain(doc: str, what: str) -> str:
    return doc


# ------------------------------------------------------------ one object


def link(module: str, name: str, value: Any) -> str:
    """A reST link to the page where NumPy describes a name."""
    path = f"{module}.{name}" if module else name
    path = path.replace("lib.scimath.", "emath.")
    if module in SECTION_PAGES:
        at = f"{SECTION_PAGES[module]}#numpy.{path}"
    elif module == "random":
        at = f"random/generated/numpy.{path}.html"
    elif isinstance(value, type) and issubclass(value, np.generic):
        at = f"arrays.scalars.html#numpy.{path}"
    elif not module and isinstance(value, (float, type(None))):
        at = f"constants.html#numpy.{path}"
    else:
        at = f"generated/numpy.{path}.html"
    return f"`numpy.{path} <{NUMPY}{at}>`__"


def default_of(value: Any) -> str:
    if value is np._NoValue or repr(value).startswith("<"):
        return value.__name__ if isinstance(value, type) else "..."
    return repr(value)


def signature(function: Any, bound: bool = False) -> str:
    """A signature without annotations; `bound` drops self."""
    found = signature_of(function)
    if found is None and isinstance(function, nm.ufunc):  # NumPy before 2.4 has none
        operands = ["x"] if function.nin == 1 else ["x1", "x2"]
        return f"({', '.join(operands)}, /, out=None, *, where=True, dtype=None, **kwargs)"
    if found is None:
        return "(...)"
    parameters = list(found.parameters.values())
    shown, slash, star = [], False, False
    for p in parameters[1:] if bound else parameters:
        if slash and p.kind is not p.POSITIONAL_ONLY:
            shown.append("/")
            slash = False
        slash = slash or p.kind is p.POSITIONAL_ONLY
        if p.kind is p.VAR_POSITIONAL:
            shown.append(f"*{p.name}")
            star = True
            continue
        if p.kind is p.VAR_KEYWORD:
            shown.append(f"**{p.name}")
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        shown.append(p.name if p.default is p.empty else f"{p.name}={default_of(p.default)}")
    if slash:
        shown.append("/")
    return f"({', '.join(shown)})"


def directive(kind: str, head: str, body: str, options: str = "") -> str:
    inner = f"{options}\n\n{body}" if options else f"\n{body}"
    indented = "\n".join(f"   {line}".rstrip() for line in inner.splitlines())
    return f".. py:{kind}:: {head}\n{indented}\n\n"


def doc_of(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


DOCUMENTED = (nm.Array, nm.nn.Module, nm.optim.Optimizer)
"""Classes whose members stand with them alone, not with their subclasses."""


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that numen gives a class, inherited ones among them
    (but Array's, Module's and Optimizer's only for themselves)."""
    seen: set[str] = set()
    inherited = [b for known in DOCUMENTED if cls is not known for b in known.__mro__]
    for base in cls.__mro__:
        if not base.__module__.startswith("numen") or (base in inherited and base is not cls):
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                if isinstance(value, (property, classmethod, staticmethod)) or callable(value):
                    yield name, value


def render_class(name: str, cls: type, convert: Convert) -> str:
    parts = [convert(doc_of(cls), "class")]
    if any(base in DOCUMENTED for base in cls.__bases__):
        parts.insert(0, f"Bases: {bases(cls)}")
    if issubclass(cls, BaseException):
        return directive("exception", name, f"Bases: {bases(cls)}\n\n{parts[-1]}")
    for member, value in sorted(members(cls)):
        if isinstance(value, property):
            parts.append(directive("property", member, convert(doc_of(value), "attribute")))
            continue
        function = getattr(cls, member)
        options = ""
        if isinstance(value, (classmethod, staticmethod)):
            options = f":{type(value).__name__}:"
        bound = not options
        head = member + signature(function, bound)
        parts.append(directive("method", head, convert(doc_of(function), "method"), options))
    made = signature(cls) if "__init__" in vars(cls) and cls is not nm.Array else ""
    return directive("class", name + made, "\n\n".join(parts))


def bases(cls: type) -> str:
    return ", ".join(f"``{base.__name__}``" for base in cls.__bases__)


def is_ours(value: Any, theirs: Any) -> bool:
    """Whether numen documents the object itself."""
    if value is theirs or isinstance(value, (Borrowed, types.ModuleType)):
        return False
    if isinstance(value, nm.ufunc):
        return True
    if not callable(value):
        return False
    module = getattr(value, "__module__", None) or ""
    return module.startswith("numen") or hasattr(value, "numpy_function")


def kind_of(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    if callable(value):
        return "function"
    text = repr(value)
    return f"``{text}``" if len(text) < 40 and "\n" not in text else type(value).__name__


MARKS = re.compile(r"(`[^`]*`)|([*|]|(?<=\w)_(?!\w))")


def escaped(doc: str) -> str:
    """A docstring whose prose has no stars, bars or trailing underscores that reST would read."""
    lines, code = [], False
    for line in doc.splitlines():
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if not code:
            line = MARKS.sub(lambda m: m[1] or "\\" + m[2], line)
        lines.append(line)
    return "\n".join(lines)


# ------------------------------------------------------------ one page


def heading(title: str, mark: str = "=") -> str:
    return f"{title}\n{mark * len(title)}\n\n"


def page(
    title: str, intro: str, scope: Any, names: Iterable[str], numpy: str | None, convert: Convert
) -> str:
    """A page of names: numen's own with their docstrings, then the others in a table.

    numpy : the path of NumPy's module of the same names below `numpy`; None if there is none.
    """
    theirs = None
    if numpy is not None:
        theirs = importlib.import_module(f"numpy.{numpy}" if numpy else "numpy")
    text, rows = "", []
    prefix = scope.__name__
    for name in names:
        value = getattr(scope, name)
        other = getattr(theirs, name, None)
        if not is_ours(value, other):
            at_numpy = link(numpy or "", name, other) if name in dir(theirs) else ""
            rows.append(f"   * - ``{prefix}.{name}``\n     - {kind_of(value)}\n     - {at_numpy}\n")
        elif isinstance(value, type):
            text += render_class(f"{prefix}.{name}", value, convert)
        else:
            doc = doc_of(value)
            called = getattr(value, "__name__", name)
            if called != name and getattr(scope, called, None) is value:
                doc = f"Another name of :py:func:`{prefix}.{called}`."
            head = f"{prefix}.{name}{signature(value)}"
            text += directive("function", head, convert(doc, "function"))
    if rows:
        if text:
            text += heading("Other names", "-")
        text += (
            ".. list-table::\n   :header-rows: 1\n\n   * - name\n     - what\n     - NumPy's page\n"
        )
        text += "".join(rows)
    return heading(title) + f"{intro}\n\n" + text


def title_of(module: types.ModuleType) -> str:
    stem = module.__name__.rpartition(".")[2]
    return TITLES.get(stem, stem.replace("_", " ").capitalize())


def intro_of(module: types.ModuleType) -> str:
    """The first paragraph of a module's docstring."""
    return escaped(inspect.cleandoc(module.__doc__ or "").partition("\n\n")[0])


def names_of(module: types.ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__
        ]
    return sorted(n for n in listed if not n.startswith("_"))


def pages(convert: Convert = _plain) -> Iterator[tuple[str, str]]:
    """Every page of the reference: its path without suffix, and its text."""
    done = {"Array"}
    text = heading("Array") + render_class("numen.Array", nm.Array, convert)
    yield "array", text
    for family in FAMILIES:
        stem = family.__name__.rpartition(".")[2]
        done |= set(family.__all__)
        names = sorted(family.__all__, key=str.lower)
        yield f"functions/{stem}", page(title_of(family), intro_of(family), nm, names, "", convert)
    errors = [n for n in nm.__all__ if isinstance(getattr(nm, n), type) and n.endswith("Error")]
    made = {
        "transforms": ("Gradients and jit", TRANSFORMS.split()),
        "errors": ("Errors", sorted(errors)),
    }
    for path, (title, names) in made.items():
        done |= set(names)
        yield path, page(title, "", nm, names, None, convert)
    for name, numpy in MODULES.items():
        module = importlib.import_module(f"numen.{name}")
        text = page(
            f"numen.{name}", intro_of(module), module, names_of(module), numpy or None, convert
        )
        yield f"modules/{name}", text
    others = sorted({n for n in nm.__all__ if not n.startswith("_")} - done - set(MODULES))
    if others:
        yield "others", page("Other names", "", nm, others, "", convert)


def write(folder: Path) -> None:
    """Write the pages as reST; those that stay as they are keep their time."""
    from sphinx.ext.napoleon import Config, NumpyDocstring

    # Types are prose ("array_like", "int or None"): no fields that look for classes of that name.
    config = Config(napoleon_use_param=False, napoleon_use_rtype=False, napoleon_use_ivar=True)

    def convert(doc: str, what: str) -> str:
        text = str(NumpyDocstring(escaped(doc), config, what=what))
        for name, kind in re.findall(r"(?m)^:vartype (.*?): (.*)$", text):  # would look for classes
            text = text.replace(f":vartype {name}: {kind}\n", "")
            text = text.replace(f":ivar {name}: ", f":ivar {name}: ({kind}) ")
        return text

    made = set()
    for path, text in pages(convert):
        file = folder / f"{path}.rst"
        made.add(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    for file in set(folder.rglob("*.rst")) - made:
        file.unlink()
