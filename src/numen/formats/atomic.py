"""Write a file so that a reader finds the old content or the new, never a part of it.

Takes pieces of bytes from the writers of this folder. Next: `safetensors.py`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

_MAX_WRITE = 1 << 30  # Linux writes at most 2 GiB a call


def write_atomically(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """Write `pieces`, one after the other, to a file: a new one beside it, renamed over it at last.

    Parameters
    ----------
    path : str or path-like
        The file. A symbolic link is followed, so that the link stays.
    pieces : iterable of bytes or of flat memoryviews of bytes
        The content.

    Raises
    ------
    OSError
        The folder can't be written, or the disk is full. `path` is then what it was before.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb", buffering=0) as file:
            for piece in pieces:
                _write_all(file.fileno(), memoryview(piece))
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _write_all(descriptor: int, piece: memoryview) -> None:
    while piece.nbytes:
        written = os.write(descriptor, piece[:_MAX_WRITE])
        piece = piece[written:]


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable; some file systems can't, and then the data is still whole."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
