"""The object cache on disk: object code by key, so that a second process compiles nothing.

`native.py` asks `load(key)` before it compiles and calls `store(key, object)` after. The directory
must be ours alone, every entry carries a checksum over key and content, and whatever looks wrong is
removed and built anew: the cache may cost a compilation, never a result. Next: `native.py`.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from numen.runtime import profile

FORMAT_VERSION = 1
"""Part of every key and header; raise it when either changes meaning."""

MAX_BYTES = 512 * 2**20
"""The cache is cut back to three quarters of this when it has grown beyond."""

_MAGIC = b"numenobj"
_HEADER = struct.Struct("<8sQ32s")  # magic, format version, sha256 of key and content
_SUFFIX = ".o"
_TEMPORARY = ".tmp"
_STALE_SECONDS = 3600
_STORES_PER_TRIM = 64
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_key(*parts: str) -> str:
    """A name (64 hex digits) for all that object code depends on, our format included."""
    digest = hashlib.sha256(f"numen {FORMAT_VERSION}".encode())
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def default_directory() -> Path | None:
    """$NUMEN_CACHE_DIR, $XDG_CACHE_HOME/numen or ~/.cache/numen; None with NUMEN_CACHE=0."""
    if os.environ.get("NUMEN_CACHE") == "0":
        return None
    if chosen := os.environ.get("NUMEN_CACHE_DIR"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "numen"
    try:
        return Path.home() / ".cache" / "numen"
    except RuntimeError:  # no home directory
        return None


class ObjectCache:
    """Object code in the files of one directory. Any number of threads and processes may share it.

    Every method works, and does nothing, when the directory is None or can't be trusted.
    """

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory if directory is not None and _is_private(directory) else None
        self._stores = 0

    def load(self, key: str) -> bytes | None:
        """The content stored under `key`, or None. A damaged or foreign entry is removed."""
        if self.directory is None:
            return None
        path = self._path(key)
        try:
            entry = _read_private(path)
            if entry is None:
                raise ValueError("not a file of ours alone")
            content = _open_entry(key, entry)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            self.reject(key)
            return None
        with suppress(OSError):
            os.utime(path)  # the oldest entries go first
        return content

    def store(self, key: str, content: bytes) -> None:
        """Keep `content` under `key`; failures to write (disk full, read-only) are ignored."""
        if self.directory is None:
            return
        try:
            _write_atomically(self._path(key), _seal(key, content))
            if self._stores % _STORES_PER_TRIM == 0:
                _trim(self.directory, MAX_BYTES)
            self._stores += 1
        except OSError:
            pass

    def reject(self, key: str) -> None:
        """Remove an entry that turned out to be unusable and count it."""
        profile.count("cache_rejected")
        if self.directory is not None:
            with suppress(OSError):
                self._path(key).unlink()

    def _path(self, key: str) -> Path:
        assert self.directory is not None
        return self.directory / (key + _SUFFIX)


def _is_private(directory: Path) -> bool:
    """Whether `directory`, made now if missing, is ours and writable by nobody else."""
    if not hasattr(os, "getuid"):
        return False
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        status = directory.stat()
    except OSError:
        return False
    ours = status.st_uid == os.getuid() and not status.st_mode & _WRITABLE_BY_OTHERS
    return ours and stat.S_ISDIR(status.st_mode)


def _read_private(path: Path) -> bytes | None:
    """The file's bytes, or None if it is a link, not a plain file, or writable by others."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError:
        return None
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        ours = status.st_uid == os.getuid() and not status.st_mode & _WRITABLE_BY_OTHERS
        if not ours or not stat.S_ISREG(status.st_mode):
            return None
        return file.read()


def _checksum(key: str, content: bytes) -> bytes:
    # The key is part of it: an entry moved under another key's name is foreign.
    return hashlib.sha256(key.encode() + content).digest()


def _seal(key: str, content: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, FORMAT_VERSION, _checksum(key, content)) + content


def _open_entry(key: str, entry: bytes) -> bytes:
    if len(entry) < _HEADER.size:
        raise ValueError("shorter than its header")
    content = entry[_HEADER.size :]
    if _HEADER.unpack_from(entry) != (_MAGIC, FORMAT_VERSION, _checksum(key, content)):
        raise ValueError("wrong header or checksum")
    return content


def _write_atomically(path: Path, data: bytes) -> None:
    """Readers see the old file, the new one or none, never a part."""
    fd, temporary = tempfile.mkstemp(suffix=_TEMPORARY, dir=path.parent)  # mode 0600
    try:
        with open(fd, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _trim(directory: Path, limit: int) -> None:
    """Remove forgotten temporary files and, beyond `limit` bytes, the oldest entries."""
    stale = time.time() - _STALE_SECONDS
    entries: list[tuple[float, int, str]] = []
    with os.scandir(directory) as found:
        for item in found:
            with suppress(OSError):
                status = item.stat(follow_symlinks=False)
                if item.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, item.path))
                elif item.name.endswith(_TEMPORARY) and status.st_mtime < stale:
                    os.unlink(item.path)
    total = sum(size for _, size, _ in entries)
    if total <= limit:
        return
    for _, size, path in sorted(entries):
        if total <= limit * 3 // 4:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= size
