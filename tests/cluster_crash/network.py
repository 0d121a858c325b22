"""A network of its own for each node of a cluster: other nodes are behind a link that can be cut in one direction.

Network namespaces: one for each node, and one with a bridge between them. What a node sends to another one is lost
when it has learnt a hardware address for it that nobody has: no error, no closed connection, as on a network that
splits. The way back is another such address. Clients come by the loopback of a node's own namespace, whatever is cut
between nodes.

Names have the number of the process that made them: what a killed run has left is removed by the next one.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

PREFIX = "lapwing-crash-"
NAMESPACES = Path("/run/netns")
PEERS, BRIDGE = "peers", "switch"
"""What the links are called inside of namespaces."""
NOBODY = "02:00:00:00:00:fe"
_NEW_NETWORK = 0x4000_0000
"""`CLONE_NEWNET`."""
_LIBC = ctypes.CDLL(None, use_errno=True)
_NUMBERS = count()


class Network:
    """So many namespaces, all connected; they end with the block."""

    def __init__(self, nodes: int) -> None:
        remove_leftovers()
        base = f"{PREFIX}{os.getpid()}-{next(_NUMBERS)}"
        self._hub = f"{base}-hub"
        self._names = [f"{base}-{number}" for number in range(nodes)]
        self._cuts: set[tuple[int, int]] = set()

    def __enter__(self) -> Network:
        try:
            self._make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _make(self) -> None:
        for name in (self._hub, *self._names):
            _ip("netns", "add", name)
        _ip("-n", self._hub, "link", "add", "name", BRIDGE, "type", "bridge")
        _ip("-n", self._hub, "link", "set", BRIDGE, "up")
        for number, name in enumerate(self._names):
            port = f"port{number}"
            _ip("-n", self._hub, "link", "add", "name", port, "type", "veth", "peer", "name", PEERS, "netns", name)
            _ip("-n", self._hub, "link", "set", "dev", port, "master", BRIDGE)
            _ip("-n", self._hub, "link", "set", "dev", port, "up")
            _ip("-n", name, "address", "add", f"{self.address(number)}/24", "dev", PEERS)
            _ip("-n", name, "link", "set", PEERS, "up")
            _ip("-n", name, "link", "set", "lo", "up")

    def remove(self) -> None:
        """All of it, as far as it is there."""
        for name in (self._hub, *self._names):
            _remove(name)

    def address(self, node: int) -> str:
        """Where others reach it."""
        return f"10.77.0.{node + 1}"

    def cut(self, sender: int, receiver: int) -> None:
        """What the one sends does not reach the other, until `heal`."""
        address = self.address(receiver)
        _ip("-n", self._names[sender], "neigh", "replace", address, "lladdr", NOBODY, "dev", PEERS, "nud", "permanent")
        self._cuts.add((sender, receiver))

    def heal(self) -> None:
        """Everything reaches everybody."""
        for sender, receiver in self._cuts:
            _ip("-n", self._names[sender], "neigh", "delete", self.address(receiver), "dev", PEERS)
        self._cuts.clear()

    @contextmanager
    def inside(self, node: int) -> Iterator[None]:
        """In this block what this thread starts runs at that node, and what it connects to is there."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(NAMESPACES / self._names[node])
            yield
        finally:
            _set(before)
            os.close(before)


def why_not() -> str | None:
    """Why there is no network of one's own here; None: there is."""
    if os.geteuid() != 0:
        return "that takes root"
    if shutil.which("ip") is None:
        return "there is no command ip"
    try:
        with Network(1) as network, network.inside(0):
            return None
    except subprocess.CalledProcessError as refused:
        return str(refused.stderr.decode().strip())
    except OSError as refused:
        return str(refused)


def remove_leftovers() -> None:
    """Namespaces of processes that have ended."""
    for name in os.listdir(NAMESPACES) if NAMESPACES.exists() else ():
        pid = name.removeprefix(PREFIX).partition("-")[0]
        if name.startswith(PREFIX) and not Path("/proc", pid).exists():
            _remove(name)


def _remove(name: str) -> None:
    # Another run may look for leftovers at the same time.
    with suppress(subprocess.CalledProcessError):
        if (NAMESPACES / name).exists():
            _ip("netns", "delete", name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _enter(namespace: Path) -> None:
    file = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _set(file)
    finally:
        os.close(file)


def _set(file: int) -> None:
    if _LIBC.setns(file, _NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "setns")
