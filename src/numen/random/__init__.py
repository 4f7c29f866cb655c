"""Random numbers: NumPy's generators bit for bit, and counter-based Philox streams.

`default_rng` is NumPy's spelling (`generator.py`); `Stream` (`stream.py`) draws the same bits on
every target and feeds the initial weights of layers; `manual_seed` restarts the default one.
"""

from numen.random.generator import Generator, default_rng
from numen.random.stream import Stream, default_stream, manual_seed

__all__ = ["Generator", "Stream", "default_rng", "default_stream", "manual_seed"]
