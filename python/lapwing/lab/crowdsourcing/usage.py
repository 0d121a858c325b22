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
    """

    pid: int
    parent: int
    cpu_s: float
    rss_bytes: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Of a process and its children, at one instant."""

    cpu_s: float = 0.0
    rss_bytes: int = 0


def entry(pid: int, stat: str) -> Entry:
    """Reads the text of ``/proc/PID/stat``; the name in it may hold blanks and brackets."""
    fields = stat.rsplit(")", 1)[1].split()
    ticks = sum(int(fields[index]) for index in (11, 12, 13, 14))
    return Entry(pid, int(fields[1]), ticks / _TICKS_PER_S, int(fields[21]) * _PAGE_BYTES)


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
    children: dict[int, list[int]] = defaultdict(list)
    for entry in found.values():
        children[entry.parent].append(entry.pid)

    def total(root: int) -> Usage:
        waiting, cpu_s, rss_bytes = [root], 0.0, 0
        while waiting:
            pid = waiting.pop()
            waiting += children[pid]
            if pid in found:
                cpu_s, rss_bytes = cpu_s + found[pid].cpu_s, rss_bytes + found[pid].rss_bytes
        return Usage(cpu_s, rss_bytes)

    return {root: total(root) for root in roots}
