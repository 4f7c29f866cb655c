"""numen.lib.stride_tricks: NumPy's strided views, with gradients.

The functions live in `namespace/stride_tricks.py`.
"""

from numen.namespace.stride_tricks import (
    as_strided,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    sliding_window_view,
)

__all__ = ["as_strided", "sliding_window_view", "broadcast_to", "broadcast_arrays"]
__all__ += ["broadcast_shapes"]
