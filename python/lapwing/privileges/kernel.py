"""What Python has no call for: capabilities of a thread, ``no_new_privs``, and how every thread stands."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_VERSION_3 = 0x20080522
_NET_BIND_SERVICE = 1 << 10
_PR_SET_NO_NEW_PRIVS = 38


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Sets(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


def may_bind_low_ports() -> None:
    """Gives this thread, and those that it starts, the right to bind ports below 1024, if the process may have it.

    After the effective uid was changed nothing else of root's is in force.

    Raises:
        OSError: the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(_VERSION_3, 0), (_Sets * 2)()
    _call(libc.capget(ctypes.byref(header), sets))
    # A container may have taken it from its root: then such a port is refused where it is bound.
    sets[0].effective = sets[0].permitted & _NET_BIND_SERVICE
    sets[1].effective = 0
    _call(libc.capset(ctypes.byref(header), sets))


def no_new_privileges() -> None:
    """Programs that this thread, or one that it starts, executes get no rights of their file (set-uid, capabilities).

    Raises:
        OSError: the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    _call(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _call(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def standing_of_threads() -> dict[str, dict[str, tuple[str, ...]]]:
    """For each thread of this process, by its number: what its ``status`` says, by key, in words."""
    return {task.name: _status(task / "status") for task in Path("/proc/self/task").iterdir()}


def _status(file: Path) -> dict[str, tuple[str, ...]]:
    try:
        lines = file.read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}  # it has ended
    return {key: tuple(value.split()) for key, _, value in (line.partition(":") for line in lines)}


def still_privileged(standing: dict[str, tuple[str, ...]], uid: int, gid: int, groups: frozenset[int]) -> str:
    """What a thread has beyond the account's, by the key of its status; empty: nothing."""
    wanted = {"Uid": (str(uid),) * 4, "Gid": (str(gid),) * 4}
    for key, value in wanted.items():
        if standing and standing.get(key) != value:
            return key
    if not frozenset(map(int, standing.get("Groups", ()))) <= groups:
        return "Groups"
    sets = ("CapPrm", "CapEff", "CapAmb")
    return next((key for key in sets if int(standing.get(key, ("0",))[0], 16) != 0), "")
