"""Frames: what Arrays hold inside `vmap` and `jvp`, and how ops see through them.

A Level is one running transform of this thread. Inside it an Array's raw value may be a Frame: the
Array one level below with an axis for the examples in front (vmap), or with a tangent (jvp). An op
with Frames among its operands runs on the values of the innermost level; that op may meet the next
level's Frames, so transforms nest. Read `frame.py` first, then `ops.py` and `writes.py`.
"""

from numen.dispatch.frames import module, writes
from numen.dispatch.frames.examples import (
    differing,
    draw_by_example,
    on_host,
    spread_draws,
)
from numen.dispatch.frames.frame import (
    Frame,
    below,
    concrete,
    exported,
    has_left,
    innermost,
)
from numen.dispatch.frames.level import JVP, VMAP, Level
from numen.dispatch.frames.looking import detached, level_of, lifted, newest_write
from numen.dispatch.frames.ops import apply

__all__ = ["JVP", "VMAP", "Frame", "Level", "apply", "below", "concrete", "detached"]
__all__ += ["differing", "draw_by_example", "exported", "has_left", "innermost", "level_of"]
__all__ += ["lifted", "module", "newest_write", "on_host", "spread_draws", "writes"]
