"""Counters of what the native side did, as `numen.profile`.

`counters()` tells how many kernels were compiled, loaded from the cache and launched since the
process started or since `reset()`. Kept by `runtime/profile.py`.
"""

from numen.runtime.profile import count, counters, reset

__all__ = ["count", "counters", "reset"]
