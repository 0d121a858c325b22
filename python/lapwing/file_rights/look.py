"""Asks the file system: a file with what may stand in its place, and whom this process trusts."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

from lapwing.file_rights.verdict import Facts, Trusted

_LINKS_MAX = 40  # as the kernel


def ways_to(path: Path) -> list[Path]:
    """All that decides what ``path`` leads to: folders and symbolic links from the root on, then the file itself.

    As the kernel walks: only the last part of each may be a link.
    """
    whole = path.absolute()
    at = Path(whole.anchor)
    found: dict[Path, None] = {at: None}
    left, links = list(reversed(whole.parts[1:])), 0
    while left:
        part = left.pop()
        step = at.parent if part == ".." else at / part
        found[step] = None
        if step.is_symlink() and links < _LINKS_MAX:
            links += 1
            target = step.readlink()
            at = Path(target.anchor) if target.is_absolute() else at
            left.extend(reversed(target.parts[1:] if target.is_absolute() else target.parts))
        else:
            at = step
    return list(found)


def facts_of(path: Path) -> Facts | None:
    """What counts of a file, folder or symbolic link; None: there is none, or nobody tells."""
    try:
        found = path.lstat()
    except OSError:
        return None  # whoever opens it says why it cannot be
    return Facts(found.st_uid, found.st_gid, found.st_mode)


def facts_behind(path: Path) -> Facts | None:
    """The same of what a symbolic link leads to; None also where links lead to each other."""
    return facts_of(Path(os.path.realpath(path)))


def trusted_by(uid: int) -> Trusted:
    """Whom the account ``uid`` trusts: itself, root, its private group, and whoever has no number in a container."""
    return Trusted.of((uid, *_nobody_here()), _private_group(uid))


def _private_group(uid: int) -> tuple[int, ...]:
    """The group that has the account's name and no other member, as Linux distributions make one for each account."""
    try:
        account = pwd.getpwuid(uid)
        group = grp.getgrgid(account.pw_gid)
    except KeyError:
        return ()
    is_private = group.gr_name == account.pw_name and set(group.gr_mem) <= {account.pw_name}
    return (group.gr_gid,) if is_private else ()


def _nobody_here() -> tuple[int, ...]:
    """The uid that this user namespace shows for owners outside of it (the host's root, say); none without one."""
    try:
        overflow = int(Path("/proc/sys/kernel/overflowuid").read_text())
        return uids_outside(overflow, Path("/proc/self/uid_map").read_text())
    except (OSError, ValueError):
        return ()


def uids_outside(overflow: int, uid_map: str) -> tuple[int, ...]:
    """``overflow``, unless it is a user of the namespace itself.

    Args:
        overflow: What the kernel shows for a uid without a number here.
        uid_map: First uid inside, first uid outside and how many, a line for each range.
    """
    ranges = [tuple(map(int, line.split())) for line in uid_map.splitlines()]
    is_user = any(first <= overflow < first + count for first, _, count in ranges)
    return () if is_user else (overflow,)
