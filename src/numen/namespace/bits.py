"""Bits of bytes: packbits and unpackbits, on host memory. Next: `calling.py`."""

from __future__ import annotations

import numpy as np

from numen.namespace.calling import host

__all__ = ["packbits", "unpackbits"]

packbits = host(np.packbits, "Truth values packed into the bits of uint8 elements.")
unpackbits = host(np.unpackbits, "The bits of uint8 elements, each as an element.")
