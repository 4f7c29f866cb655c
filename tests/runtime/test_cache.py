"""The disk cache: what it accepts, what it removes, where it refuses to work."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from numen.runtime import cache, profile
from numen.runtime.cache import ObjectCache, cache_key, default_directory

KEY = cache_key("a key")
CONTENT = bytes(range(200))
HEADER_BYTES = 48


@pytest.fixture
def store(tmp_path: Path) -> ObjectCache:
    store = ObjectCache(tmp_path / "cache")
    store.store(KEY, CONTENT)
    return store


@pytest.fixture
def entry(store: ObjectCache) -> Path:
    assert store.directory is not None
    (path,) = store.directory.iterdir()
    return path


def rejected(store: ObjectCache, key: str = KEY) -> bool:
    """Whether a load finds nothing usable, counts that, and the cache then heals."""
    before = profile.counters().get("cache_rejected", 0)
    missing = store.load(key) is None
    counted = profile.counters().get("cache_rejected", 0) == before + 1
    store.store(key, CONTENT)
    return missing and counted and store.load(key) == CONTENT


def test_content_comes_back(store: ObjectCache, entry: Path) -> None:
    assert store.load(KEY) == CONTENT
    assert ObjectCache(store.directory).load(KEY) == CONTENT
    assert store.load(cache_key("another")) is None
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700


def test_empty_content_comes_back(store: ObjectCache) -> None:
    store.store(KEY, b"")
    assert store.load(KEY) == b""


def test_keys_tell_parts_apart() -> None:
    assert cache_key("ab", "c") != cache_key("a", "bc")
    assert cache_key("a") != cache_key("a", "")
    assert len(KEY) == 64


@pytest.mark.parametrize("position", range(HEADER_BYTES + 3))
@pytest.mark.parametrize("bits", [0x01, 0x80])
def test_every_flipped_byte_is_found(
    store: ObjectCache, entry: Path, position: int, bits: int
) -> None:
    data = bytearray(entry.read_bytes())
    data[position] ^= bits
    entry.write_bytes(data)
    assert rejected(store)


@pytest.mark.parametrize("size", [0, 1, 8, 47, 48, 49, 200, 247])
def test_truncated_entries_are_found(store: ObjectCache, entry: Path, size: int) -> None:
    entry.write_bytes(entry.read_bytes()[:size])
    assert rejected(store)


@pytest.mark.parametrize("data", [b"garbage", b"\0" * 1000, b"\x7fELF" * 100, b"\n" * 48])
def test_foreign_files_are_found(store: ObjectCache, entry: Path, data: bytes) -> None:
    entry.write_bytes(data)
    assert rejected(store)


def test_appended_bytes_are_found(store: ObjectCache, entry: Path) -> None:
    entry.write_bytes(entry.read_bytes() + b"x")
    assert rejected(store)


def test_an_entry_under_another_name_is_found(store: ObjectCache, entry: Path) -> None:
    other = cache_key("another")
    entry.rename(entry.with_name(other + ".o"))
    assert rejected(store, other)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_others_can_write_is_refused(store: ObjectCache, entry: Path, mode: int) -> None:
    entry.chmod(mode)
    assert rejected(store)


def test_a_link_is_refused(store: ObjectCache, entry: Path, tmp_path: Path) -> None:
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert rejected(store)
    assert (tmp_path / "elsewhere").exists()


def test_a_pipe_is_refused(store: ObjectCache, entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry)
    assert rejected(store)


def test_a_folder_in_an_entrys_place_does_no_harm(store: ObjectCache, entry: Path) -> None:
    entry.unlink()
    entry.mkdir()
    assert store.load(KEY) is None
    store.store(KEY, CONTENT)
    assert store.load(KEY) is None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_directory_others_can_write_is_not_used(tmp_path: Path, mode: int) -> None:
    directory = tmp_path / "open"
    directory.mkdir()
    directory.chmod(mode)
    store = ObjectCache(directory)
    store.store(KEY, CONTENT)
    assert store.directory is None
    assert store.load(KEY) is None
    assert list(directory.iterdir()) == []


def test_a_directory_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    assert ObjectCache(tmp_path / "cache").directory is None


def test_a_file_in_the_directorys_place_means_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert ObjectCache(tmp_path / "file").directory is None
    assert ObjectCache(tmp_path / "file" / "below").directory is None


def test_a_vanished_directory_does_no_harm(store: ObjectCache, entry: Path) -> None:
    entry.unlink()
    entry.parent.rmdir()
    store.store(KEY, CONTENT)
    assert store.load(KEY) is None


def test_no_directory_means_no_cache() -> None:
    store = ObjectCache(None)
    store.store(KEY, CONTENT)
    assert store.load(KEY) is None
    store.reject(KEY)


def test_the_oldest_entries_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_BYTES", 4 * (HEADER_BYTES + 100))
    keys = [cache_key(str(i)) for i in range(6)]
    store = ObjectCache(tmp_path / "cache")
    assert store.directory is not None
    for age, key in enumerate(keys):
        store.store(key, bytes(100))
        when = time.time() - 1000 + age
        os.utime(store.directory / f"{key}.o", (when, when))
    assert store.load(keys[0]) is not None  # used: no longer the oldest
    stale, fresh = store.directory / "stale.tmp", store.directory / "fresh.tmp"
    stale.touch()
    fresh.touch()
    os.utime(stale, (0, 0))
    newest = cache_key("newest")
    ObjectCache(store.directory).store(newest, bytes(100))  # its first store trims
    left = [key for key in [*keys, newest] if store.load(key) is not None]
    assert left == [keys[0], keys[5], newest]
    assert fresh.exists()
    assert not stale.exists()


def test_where_the_cache_lives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("NUMEN_CACHE", "NUMEN_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_directory() == tmp_path / ".cache" / "numen"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_directory() == tmp_path / "x" / "numen"
    monkeypatch.setenv("NUMEN_CACHE_DIR", str(tmp_path / "y"))
    assert default_directory() == tmp_path / "y"
    monkeypatch.setenv("NUMEN_CACHE", "0")
    assert default_directory() is None
