"""Tracing: `jit` records an eager run and replays it compiled; `explain` shows what was compiled
and what was not.

Read `jit.py` first, then `recorder.py` (what is noted), `tree.py` (how calls are merged and
replayed) and `build.py`.
"""

from numen.tracing.explain import explain, verify
from numen.tracing.jit import jit

__all__ = ["explain", "jit", "verify"]
