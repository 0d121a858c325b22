"""Decides about one file or folder, from what ``stat`` says of it. No I/O."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """What counts of a file, folder or symbolic link.

    Attributes:
        uid: Its owner.
        gid: Its group.
        mode: Type and permission bits, as ``st_mode``.
    """

    uid: int
    gid: int
    mode: int


@dataclass(frozen=True, slots=True)
class Trusted:
    """Who may write: root, the broker's own account, and groups that nobody else is in."""

    uids: frozenset[int]
    gids: frozenset[int]

    @classmethod
    def of(cls, uids: Iterable[int], gids: Iterable[int]) -> Trusted:
        """Those, and root with its group."""
        return cls(frozenset((0, *uids)), frozenset((0, *gids)))


def strange_writer(facts: Facts, trusted: Trusted) -> str:
    """Who may write it and should not, in words; empty: nobody.

    In a folder with the sticky bit only the owner of what lies there may replace it, and that is judged itself. The
    mode of a symbolic link means nothing.
    """
    if facts.uid not in trusted.uids:
        return f"it belongs to uid {facts.uid}, which is neither root nor the broker's"
    if stat.S_ISLNK(facts.mode) or (stat.S_ISDIR(facts.mode) and facts.mode & stat.S_ISVTX):
        return ""
    if facts.mode & stat.S_IWOTH:
        return f"every user of this machine may write it (mode {_octal(facts)})"
    if facts.mode & stat.S_IWGRP and facts.gid not in trusted.gids:
        return f"group {facts.gid} may write it (mode {_octal(facts)})"
    return ""


_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def kind_of(facts: Facts) -> str:
    """What it is, in words, where it is neither a file nor a folder nor a link; empty: one of these."""
    return _KINDS.get(stat.S_IFMT(facts.mode), "")


def is_read_by_all(facts: Facts) -> bool:
    """Whether every user may read it. A group is let read on purpose, so that two accounts can share a key."""
    return bool(facts.mode & stat.S_IROTH)


def remedy(facts: Facts, trusted: Trusted, path: str) -> str:
    """The command that mends what ``strange_writer`` found."""
    if facts.uid not in trusted.uids:
        return f"chown -h root {shlex.quote(path)}"
    group = "g" if facts.mode & stat.S_IWGRP and facts.gid not in trusted.gids else ""
    return f"chmod {group}{'o' if facts.mode & stat.S_IWOTH else ''}-w {shlex.quote(path)}"


def _octal(facts: Facts) -> str:
    return f"{stat.S_IMODE(facts.mode):04o}"
