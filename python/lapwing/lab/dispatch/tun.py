"""A network of the experiment's own: a namespace with one ``tun`` device, whose other end is ``tun_link``.

A member's way to the broker leads through the device, packet by packet: kernel - device - link - device - kernel. The
addresses make the link's work small::

    member N:  HOST -> near(N)            as the member sends it, routed to the device
               far(N) -> HOST             as the link gives it back, N's own source: the broker's kernel takes it
    broker:    HOST -> far(N)             as the broker answers, routed to the device
               near(N) -> HOST            as the link gives it back: the member's kernel takes it

``near(N)`` and ``far(N)`` have the same one's complement sum, so that no checksum changes.

Needs Linux, and either root or unprivileged user namespaces. The machine's own network is not touched: the namespace
ends with the last that is in it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lapwing.errors import LapwingError

HOST = "10.77.0.1"
"""Where the broker listens and members come from."""
LINKS_MAX = 250

_NETWORK_OF_THREAD = "/proc/thread-self/ns/net"

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK = 0x8913, 0x8914, 0x8916, 0x891C
_SIOCSIFTXQLEN = 0x8943
_IFF_UP = 0x1
_QUEUE_PACKETS = 10_000
_REMEDY = "it needs root or user namespaces, and /dev/net/tun; --link proxy does without"


def near(number: int) -> str:
    """Where member ``number`` finds the broker."""
    return f"10.77.1.{number + 1}"


def far(number: int) -> str:
    """Where the broker finds member ``number``."""
    return f"10.78.1.{number}"


@contextmanager
def own_network() -> Iterator[int]:
    """Has this thread, and the processes it starts meanwhile, in a new network with a loopback and the device.

    Root goes back at the end. Anybody else needs a user namespace for it, and no process leaves one that it has made:
    the thread stays in the network, and should be that of a process which does nothing else.

    Yields:
        The device's file descriptor, which does not block; it is closed at the end.

    Raises:
        LapwingError: the kernel does not allow it.
    """
    may_go_back = os.getuid() == 0
    before = os.open(_NETWORK_OF_THREAD, os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter_namespace()
        try:
            device = open_device()
            try:
                yield device
            finally:
                os.close(device)
        finally:
            if may_go_back:
                _enter(before)
    finally:
        os.close(before)


def enter_namespace() -> None:
    """Moves this thread, and the processes it starts from now on, into a new network namespace with a loopback.

    Raises:
        LapwingError: the kernel does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    flags = _CLONE_NEWNET if user == 0 else _CLONE_NEWNET | _CLONE_NEWUSER
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags):
        raise LapwingError(f"no network namespace: {os.strerror(ctypes.get_errno())}", remedy=_REMEDY)
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        _up(control, "lo")


def open_device() -> int:
    """Makes the device, in the namespace of this thread; gives its file descriptor, which does not block.

    Raises:
        LapwingError: the kernel does not allow it.
    """
    try:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        name = fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"lab%d", _IFF_TUN | _IFF_NO_PI))
        interface = name[:16].rstrip(b"\0").decode()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            _address(control, _SIOCSIFADDR, interface, HOST)
            _address(control, _SIOCSIFNETMASK, interface, "255.0.0.0")
            with suppress(PermissionError):  # only the machine's own root may; the usual 500 packets do as well
                fcntl.ioctl(control, _SIOCSIFTXQLEN, struct.pack("16si20x", interface.encode(), _QUEUE_PACKETS))
            _up(control, interface)
    except OSError as error:
        raise LapwingError(f"no tun device: {error.strerror}", remedy=_REMEDY) from error
    return device


def is_available() -> bool:
    """Whether this process could have such a network; tried out in a child."""
    child = os.fork()
    if child == 0:
        try:
            enter_namespace()
            open_device()
        except (LapwingError, OSError):
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, _CLONE_NEWNET):
        raise LapwingError(f"no way back to the network before: {os.strerror(ctypes.get_errno())}")


def _up(control: socket.socket, interface: str) -> None:
    request = struct.pack("16sH22x", interface.encode(), 0)
    (flags,) = struct.unpack_from("H", fcntl.ioctl(control, _SIOCGIFFLAGS, request), 16)
    fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH22x", interface.encode(), flags | _IFF_UP))


def _address(control: socket.socket, request: int, interface: str, address: str) -> None:
    encoded = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
    fcntl.ioctl(control, request, struct.pack("16s16s8x", interface.encode(), encoded))
