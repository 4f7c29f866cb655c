"""The exceptions numen raises.

Each subclasses what NumPy (or Python) raises for the same fault, so existing `except` clauses keep
working, and its text says: the op, what was expected, what came, and a hint. Everything imports
this file; it imports nothing.
"""

from __future__ import annotations

from collections.abc import Sequence


class NumenError(Exception):
    """Base of every exception that numen raises on its own account."""


class ShapeError(NumenError, ValueError):
    """Shapes do not fit together (NumPy's ValueError)."""


class DTypeError(NumenError, TypeError):
    """A dtype is not allowed for an op or argument (NumPy's TypeError)."""


class IndexRangeError(NumenError, IndexError):
    """An index lies outside its axis (NumPy's IndexError)."""


class GradientError(NumenError, RuntimeError):
    """A gradient can't be computed as asked: freed graph, a saved value that changed, no graph at
    all.
    """


class TransformError(NumenError, RuntimeError):
    """A transform (`vmap`, `jvp`) met what it can't carry through: a value that Python asks for, a
    write into an array from outside, a value used after the transform has ended.
    """


class AnomalyError(GradientError):
    """Anomaly mode found NaN or inf that an op made of finite numbers.

    Attributes
    ----------
    op, direction : str
        Which op, "forward" or "backward".
    filename, lineno
        The line of the program that called it; None and 0 where that is not known.
    count, index
        How many such elements there are, and where the first is.
    """

    op = ""
    direction = ""
    filename: str | None = None
    lineno = 0
    count = 0
    index: tuple[int, ...] = ()


class LeafWriteError(GradientError):
    """An in-place write into a leaf that requires a gradient, outside `no_grad`."""


class CompileError(NumenError, RuntimeError):
    """A kernel could not be built for this machine or toolchain."""


class BackendError(NumenError, TypeError):
    """A device's array library can't do what is asked: another device's operand, a missing
    function.
    """


class CacheError(NumenError, OSError):
    """The object cache on disk can't be used."""


class FormatError(NumenError, ValueError):
    """A file is damaged or is not of the format its reader expects."""


class TraceError(NumenError, RuntimeError):
    """A traced function can't be compiled; the text names the place. `jit` then runs the function
    eagerly.
    """


class InternalError(NumenError, RuntimeError):
    """A broken invariant inside numen: a bug to report, with the graph or kernel printed."""


def describe(*values: object) -> str:
    """Describe arguments for an error text: `float32 array of shape (2, 3)`, or the Python type and
    value.
    """
    return ", ".join(_describe_one(value) for value in values)


def _describe_one(value: object) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{dtype} array of shape {tuple(shape)}"
    try:
        text = repr(value)
    except ValueError:  # an int of more digits than Python prints
        text = "of too many digits"
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{type(value).__name__} {text}"


def name_error(op: str, error: Exception, args: Sequence[object]) -> None:
    """Put the op and its arguments into an exception of NumPy's, keeping its class.

    Plain exceptions get a new text; NumPy's own classes, which write theirs themselves, a note.
    """
    came = describe(*args)
    text = error.args[0] if error.args else ""
    if type(error) in (ValueError, TypeError, IndexError) and isinstance(text, str):
        if not text.startswith(op):
            error.args = (f"{op}: {text.strip()}; got {came}", *error.args[1:])
    else:
        error.add_note(f"{op} got {came}")
