"""What a power cut leaves of a folder: whatever was synced, and of the rest any part, sector by sector.

`power_cut.c`, loaded before libc, writes down before each change how to take it back. Changes of names reach the disk
in the order in which they were made in their folder, as far as chance lets them; contents in any order.
"""

from __future__ import annotations

import os
import struct
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

POWER_CUT = Path(__file__).parent / "power_cut.c"
SECTOR_BYTES = 512
RECORD = struct.Struct("=9Q")
_NEW, _WRITE, _LENGTH, _SYNC, _RENAME, _UNLINK, _SYNC_NAMES = range(1, 8)
MAGIC = 0x4C_41_50_57_49_4E_47_31


@dataclass(frozen=True)
class Change:
    """One record: `at` is its place in the list, the others depend on its kind (see `power_cut.c`)."""

    at: int
    kind: int
    inode: int
    one: int
    two: int
    three: int
    when_ns: int
    rest: bytes

    @property
    def paths(self) -> list[str]:
        return [os.fsdecode(path) for path in self.rest.split(b"\0")]

    @property
    def folder(self) -> str:
        return os.path.dirname(self.paths[0])


class PowerCut:
    """One folder of data whose machine may lose its power.

    Args:
        library: The compiled `power_cut.c`.
        folder: For what has to be remembered; on the file system of the data.
        data: The folder that is watched.
        written_back_s: What is older than this the system has written by itself, and a file that was synced has its
            first name, as on ext4; none: neither.
    """

    def __init__(self, library: Path, folder: Path, data: Path, *, written_back_s: float | None = None) -> None:
        self._library, self._folder, self.data = library, folder, data
        self._written_back_s = written_back_s
        self._journal = folder / "changes"
        self.lost_changes = 0

    def prepare(self) -> dict[str, str]:
        """Environment of a process that is about to start."""
        self._folder.mkdir(exist_ok=True)
        whole = sum(RECORD.size + len(change.rest) for change in self._changes())
        with self._journal.open("ab") as journal:
            # A process that was killed may have left half a record.
            journal.truncate(whole)
        return {
            "LD_PRELOAD": str(self._library),
            "LAPWING_POWER_CUT": str(self._folder),
            "LAPWING_POWER_CUT_OF": str(self.data),
        }

    def cut(self, random: Random) -> None:
        """Takes back what was not synced; all of it, or as chance will have it. No process may be left."""
        changes = list(self._changes())
        everything = random.random() < 0.4
        self.lost_changes = 0
        self._lose_names(changes, random, everything=everything)
        self._lose_contents(changes, random, everything=everything)
        self._journal.unlink(missing_ok=True)
        for link in self._folder.glob("removed-*"):
            link.unlink()

    def _changes(self) -> Iterator[Change]:
        contents = self._journal.read_bytes() if self._journal.exists() else b""
        at = 0
        while at + RECORD.size <= len(contents):
            magic, kind, inode, one, two, three, when_ns, length, _ = RECORD.unpack_from(contents, at)
            end = at + RECORD.size + length
            if end > len(contents):
                return
            assert magic == MAGIC, f"the list of changes is damaged at byte {at}"
            yield Change(at, kind, inode, one, two, three, when_ns, contents[at + RECORD.size : end])
            at = end

    def _is_old(self, change: Change) -> bool:
        age_s = (time.monotonic_ns() - change.when_ns) / 1e9
        return self._written_back_s is not None and age_s > self._written_back_s

    def _has_name(self, change: Change, files: dict[int, int]) -> bool:
        """Whether the sync of a new file made its name durable too; `files`: up to where which inode is synced."""
        is_made = change.kind == _NEW and change.at < files.get(change.inode, 0)
        return self._written_back_s is not None and is_made

    def _lose_names(self, changes: list[Change], random: Random, *, everything: bool) -> None:
        files = {change.inode: change.one for change in changes if change.kind == _SYNC}
        synced = {os.fsdecode(change.rest): change.one for change in changes if change.kind == _SYNC_NAMES}
        by_folder: dict[str, list[Change]] = defaultdict(list)
        for change in changes:
            is_name = change.kind in (_NEW, _RENAME, _UNLINK) and not self._has_name(change, files)
            if is_name and change.at >= synced.get(change.folder, 0) and not self._is_old(change):
                by_folder[change.folder].append(change)
        lost: list[Change] = []
        for waiting in by_folder.values():
            lost += waiting[0 if everything else random.randint(0, len(waiting)) :]
        for change in sorted(lost, key=lambda change: -change.at):
            self._take_back_name(change)
        self.lost_changes += len(lost)

    def _take_back_name(self, change: Change) -> None:
        link = self._folder / f"removed-{change.one}"
        if change.kind == _NEW:
            Path(change.paths[0]).unlink(missing_ok=True)
        elif change.kind == _UNLINK:
            with suppress(FileExistsError):
                # It is there: the process was killed before it came to remove it, or removed nothing.
                os.link(link, change.paths[0])
        else:
            before, after = change.paths
            if not _is_at(after, change.inode):
                return
            os.rename(after, before)
            if change.one:
                os.link(link, after)

    def _lose_contents(self, changes: list[Change], random: Random, *, everything: bool) -> None:
        waiting: dict[int, list[Change]] = defaultdict(list)
        for change in changes:
            if change.kind == _NEW:
                waiting[change.inode] = []
            elif change.kind == _SYNC:
                waiting[change.inode] = [one for one in waiting[change.inode] if one.at >= change.one]
            elif change.kind in (_WRITE, _LENGTH) and not self._is_old(change):
                waiting[change.inode].append(change)
        for file in self.data.rglob("*"):
            if file.is_file() and (unsynced := waiting.get(file.stat().st_ino)):
                contents = bytearray(file.read_bytes())
                again = [_take_back(contents, change) for change in reversed(unsynced)]
                if not everything:
                    for place, bytes_ in reversed(again):
                        _reach_the_disk(contents, place, bytes_, random)
                with file.open("r+b") as handle:
                    handle.truncate(len(contents))
                    handle.write(contents)
                self.lost_changes += len(unsynced)


def _is_at(path: str, inode: int) -> bool:
    """Whether this name is that file's."""
    try:
        return os.stat(path).st_ino == inode
    except FileNotFoundError:
        return False


def _take_back(contents: bytearray, change: Change) -> tuple[int, bytes | None]:
    """Undoes a change; returns how to make it again: (place, bytes), or (length, None)."""
    if change.kind == _LENGTH:
        before, after = change.one, change.two
        _resize(contents, before)
        contents[before - len(change.rest) : before] = change.rest
        return after, None
    at, length, size = change.one, change.two, change.three
    new = bytes(contents[at : at + length])
    contents[at : at + len(change.rest)] = change.rest
    _resize(contents, size)
    return at, new


def _reach_the_disk(contents: bytearray, place: int, bytes_: bytes | None, random: Random) -> None:
    if bytes_ is None:
        if random.random() < 0.5:
            _resize(contents, place)
        return
    start = 0
    while start < len(bytes_):
        end = min(len(bytes_), ((place + start) // SECTOR_BYTES + 1) * SECTOR_BYTES - place)
        if random.random() < 0.5:
            _resize(contents, max(len(contents), place + end))
            contents[place + start : place + end] = bytes_[start:end]
        start = end


def _resize(contents: bytearray, length: int) -> None:
    if length < len(contents):
        del contents[length:]
    else:
        contents.extend(bytes(length - len(contents)))


def compile_library(folder: Path, source: Path = POWER_CUT) -> Path:
    """A library to load before libc; a C compiler is there, because Rust links with it."""
    library = folder / f"{source.stem}.so"
    flags = ("-shared", "-fPIC", "-O2", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra")
    subprocess.run(["cc", *flags, "-o", library, source, "-ldl"], check=True)
    return library
