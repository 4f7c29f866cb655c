"""Runs a program plain and jitted, call by call, and compares everything that can be seen.

A program is a generator function of `jit` (`nm.jit`, or the identity for the plain run). What it
yields after each call is compared: values, dtypes, `requires_grad`, Python types, identities and
shared memory.
"""

from __future__ import annotations

import dataclasses
import enum
import types

import numpy as np
import pytest

import numen as nm
from numen.dispatch.core import SCALAR, ArrayCore
from numen.tracing.explain import same_bits
from numen.tracing.host import HostScalar

PROGRAMS = []


def program(compiled=None, reason=None):
    """Add a program. compiled: whether jit must compile every key; reason: text that `explain` must
    give.
    """

    def add(f):
        PROGRAMS.append(pytest.param(f, compiled, reason, id=f.__name__))
        return f

    return add


def call(f, *args, **kwargs):
    """The result, or the class of the exception."""
    try:
        return f(*args, **kwargs)
    except Exception as error:
        return ("raised", type(error))


class Seen:
    """What was yielded, as plain data: taken at once, because later calls write into arrays."""

    def __init__(self, value):
        self.arrays, self.objects = [], []
        self.data = self.describe(value)
        self.alias = [
            (i, j, a is b, bool(np.shares_memory(a._d, b._d)))
            for j, b in enumerate(self.arrays)
            for i, a in enumerate(self.arrays[:j])
        ]
        self.same = [
            (i, j)
            for j, b in enumerate(self.objects)
            for i, a in enumerate(self.objects[:j])
            if a is b
        ]

    def describe(self, value):
        assert type(value) is not HostScalar, "a proxy was left behind"
        if isinstance(value, ArrayCore):
            self.arrays.append(value)
            d = value._d
            return (
                type(value).__name__,
                d.dtype,
                d.shape,
                np.ascontiguousarray(d).copy(),
                value._n is not None,
                value._v is SCALAR,
                d.flags.writeable,
            )
        if isinstance(value, np.ndarray):
            return ("ndarray", value.dtype, value.shape, value.copy())
        if isinstance(value, (list, tuple)):
            self.objects.append(value)
            return (type(value).__name__, [self.describe(v) for v in value])
        if isinstance(value, dict):
            self.objects.append(value)
            return (
                type(value).__name__,
                [(self.describe(k), self.describe(v)) for k, v in value.items()],
            )
        if isinstance(value, (set, frozenset)):
            return (type(value).__name__, sorted([repr(self.describe(v)) for v in value]))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return (
                type(value).__name__,
                [self.describe(getattr(value, f.name)) for f in dataclasses.fields(value)],
            )
        if isinstance(value, types.SimpleNamespace) or type(value).__name__ == "Box":
            return (type(value).__name__, self.describe(vars(value)))
        if isinstance(value, (float, complex)):
            return (type(value).__name__, repr(value))
        if value is None or isinstance(value, (int, str, bytes, type, np.generic, enum.Enum)):
            return (type(value).__name__, repr(value))
        return type(value).__name__


def same(a, b):
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and same_bits(a, b)
        )
    if isinstance(a, (list, tuple)):
        return (
            type(a) is type(b)
            and len(a) == len(b)
            and all(same(x, y) for x, y in zip(a, b, strict=True))
        )
    return a == b


class Box:
    """A plain object for state."""

    def __init__(self, **values):
        self.__dict__.update(values)


def array(*values, **options):
    return nm.array(np.array(values, np.float64), **options)


def run(f, compiled, reason):
    """Run a program both ways.

    Raises
    ------
    AssertionError
        If anything seen differs, or `explain` does not say what was expected.
    """
    jits = []

    def jit(function):
        jits.append(nm.jit(function))
        return jits[-1]

    with nm.config(engine="kernels"):
        want = [Seen(value) for value in f(lambda function: function)]
    got = [Seen(value) for value in f(jit)]
    assert len(got) == len(want)
    for number, (x, y) in enumerate(zip(got, want, strict=True)):
        assert same(x.data, y.data), f"call {number}: jit {x.data} / eager {y.data}"
        assert x.alias == y.alias, (
            f"call {number}: arrays (i, j, same, shared): jit {x.alias} / eager {y.alias}"
        )
        assert x.same == y.same, f"call {number}: same containers: jit {x.same} / eager {y.same}"
    reasons = [r for j in jits for r in nm.explain(j).reasons]
    if compiled is not None:
        assert (not reasons) == compiled, reasons
    if reason is not None:
        assert any(reason in r for r in reasons), reasons
