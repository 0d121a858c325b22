"""What processes use: processor time and memory of one with all its children, from ``/proc``."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Entry:
    """A process at one instant.

    Attributes:
        cpu_s: Processor seconds so far, those of children that have ended and were waited for included.
        rss_bytes: Resident memory.
        started: In ticks since the machine's start: with ``pid`` no other process has the same.
        ended: Only its exit code is left, for its parent.
    """

    pid: int
    parent: int
    cpu_s: float
    rss_bytes: int
    started: int = 0
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Of a process and its children, at one instant."""

    cpu_s: float = 0.0
    rss_bytes: int = 0


def entry(pid: int, stat: str) -> Entry:
    """Reads the text of ``/proc/PID/stat``; the name in it may hold blanks and brackets."""
    fields = stat.rsplit(")", 1)[1].split()
    ticks = sum(int(fields[index]) for index in (11, 12, 13, 14))
    ended = fields[0] in ("Z", "X")
    return Entry(pid, int(fields[1]), ticks / _TICKS_PER_S, int(fields[21]) * _PAGE_BYTES, int(fields[19]), ended)


def look() -> list[Entry]:
    """Every process of this machine that may be seen."""
    entries = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                entries.append(entry(int(path.name), (path / "stat").read_text()))
            except OSError:
                continue  # it has ended meanwhile
    return entries


def by_root(entries: Iterable[Entry], roots: Iterable[int]) -> Mapping[int, Usage]:
    """What each of ``roots`` uses together with its children, theirs, and so on; nothing where it is gone."""
    found = {entry.pid: entry for entry in entries}
    children = _children(found.values())

    def total(root: int) -> Usage:
        own = [found[pid] for pid in _below(children, [root]) if pid in found]
        return Usage(sum(entry.cpu_s for entry in own), sum(entry.rss_bytes for entry in own))

    return {root: total(root) for root in roots}


def descendants(entries: Iterable[Entry], roots: Iterable[int]) -> set[int]:
    """The children of ``roots``, theirs, and so on; a root is one only as another one's child."""
    children = _children(entries)
    return _below(children, [child for root in roots for child in children[root]])


def _children(entries: Iterable[Entry]) -> dict[int, list[int]]:
    children: dict[int, list[int]] = defaultdict(list)
    for entry in entries:
        children[entry.parent].append(entry.pid)
    return children


def _below(children: dict[int, list[int]], pids: Iterable[int]) -> set[int]:
    waiting, found = list(pids), set[int]()
    while waiting:
        pid = waiting.pop()
        found.add(pid)
        waiting += children[pid]
    return found
