"""State that NumPy keeps for a program: floating-point error handling, buffers, what it was built
with.

These are NumPy's own, so both libraries obey one setting. Next: `text.py` for print options.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore

__all__ = ["errstate", "seterr", "geterr", "seterrcall", "geterrcall", "setbufsize", "getbufsize"]
__all__ += ["show_config", "show_runtime", "get_include", "info"]

errstate = np.errstate
seterr = np.seterr
geterr = np.geterr
seterrcall = np.seterrcall
geterrcall = np.geterrcall
setbufsize = np.setbufsize
getbufsize = np.getbufsize
show_config = np.show_config
show_runtime = np.show_runtime
get_include = np.get_include


def info(object: Any = None, maxwidth: int = 76, output: Any = None, toplevel: Any = None) -> None:
    """Print help about a function, or the memory of an array.

    Parameters
    ----------
    object : object or str
        A string names something of NumPy's or of `toplevel`'s.
    maxwidth : int
    output : file, optional
        Standard output by default.
    toplevel : str, optional
    """
    if isinstance(object, ArrayCore):
        object._leaves("info()")  # type: ignore[attr-defined]
        object = object._d
    more = {} if toplevel is None else {"toplevel": toplevel}
    np.info(object, maxwidth, output, **more)
