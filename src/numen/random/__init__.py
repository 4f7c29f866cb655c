"""Random numbers: NumPy's generators bit for bit, and counter-based Philox streams.

`default_rng` is NumPy's spelling (`generator.py`); `Stream` (`stream.py`) draws the same bits on
every target and feeds the initial weights of layers; `manual_seed` restarts the default one. The
bit generators (`bit_generator.py`) and the older functions (`legacy.py`) load when asked for, as
`numpy.random` takes a while to import.
"""

import importlib
from typing import Any

from numen.random.generator import Generator, default_rng
from numen.random.stream import Stream, default_stream, manual_seed

BIT_GENERATORS = ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
"""NumPy's sources of bits; SeedSequence makes their seeds."""

_OLDER = """RandomState beta binomial bytes chisquare choice dirichlet exponential f gamma geometric
get_state gumbel hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal
negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power rand
randint randn random random_integers random_sample ranf rayleigh sample seed set_state shuffle
standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform
vonmises wald weibull zipf"""
OLDER = _OLDER.split()
"""NumPy's functions over one global state."""

_HOT_SWAP = ("get_bit_generator", "set_bit_generator")
"""NumPy's own: they exchange the source of that state. Not in `__all__` there either."""

_MODULES = ("bit_generator", "mtrand")

__all__ = ["Generator", "Stream", "default_rng", "default_stream", "manual_seed"]
__all__ += [*BIT_GENERATORS, "SeedSequence", *OLDER]


def __getattr__(name: str) -> Any:
    if name in OLDER:
        from numen.random import legacy

        value = legacy.RandomState if name == "RandomState" else legacy.FUNCTIONS[name]
    elif name == "SeedSequence" or name in BIT_GENERATORS:
        value = getattr(importlib.import_module("numen.random.bit_generator"), name)
    elif name in _HOT_SWAP:
        value = getattr(importlib.import_module("numpy.random"), name)
    elif name in _MODULES:
        return importlib.import_module(f"numen.random.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [
        *__all__,
        *_MODULES,
        "distributions",
        "generator",
        "legacy",
        "stream",
    ]
