"""Files, and nothing else in their place: whoever opens a pipe waits for who writes into it, and a device has no end.

What is read once, such as the configuration at a start, may come out of a pipe (``<(...)``, ``/dev/stdin``); what is
read again may not.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from pathlib import Path
from typing import BinaryIO

_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
CERTIFICATE_BYTES_MAX = 4 << 20
"""Of a file of certificates, authorities, lists or keys in PEM, as on the Rust side (a test compares)."""
_WAIT_S = 10.0
"""How long a pipe may say nothing. Who fills one has mostly done so before it is opened."""


def kind_in(mode: int) -> str:
    """What has this mode, in words, where it is neither a file nor a folder nor a link; empty: one of these."""
    return _KINDS.get(stat.S_IFMT(mode), "")


def open_file(path: Path) -> BinaryIO:
    """Opens a file to read it; a link is followed.

    Raises:
        OSError: it cannot be opened, or something else lies there, which ``strerror`` names.
    """
    return open(path, "rb", opener=file_only)


def file_only(path: str | os.PathLike[str], flags: int) -> int:
    """The ``opener`` of `open` for what is a file, or becomes one; a link is followed.

    Raises:
        OSError: it cannot be opened, or something else lies there, which ``strerror`` names.
    """
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if kind := kind_in(mode):
        raise OSError(errno.EINVAL, f"it is {kind}, and no file", os.fspath(path))
    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))


def read_once(path: Path, bytes_max: int, wait_s: float = _WAIT_S) -> bytes:
    """The first bytes of a file, or what somebody writes into a pipe.

    Args:
        path: The file. What ``/dev/stdin`` leads to may be a terminal, which is waited for.
        bytes_max: How many are read.
        wait_s: How long a pipe may say nothing.

    Raises:
        OSError: it cannot be read, or nobody writes into the pipe.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return _of_pipe(file, bytes_max, wait_s)
        os.set_blocking(descriptor, True)
        found = bytearray()
        while len(found) < bytes_max and (part := file.read(bytes_max - len(found))):
            found += part
        return bytes(found)


def _of_pipe(file: BinaryIO, bytes_max: int, wait_s: float) -> bytes:
    found = bytearray()
    ready = select.poll()
    ready.register(file, select.POLLIN)
    deadline = time.monotonic() + wait_s
    while len(found) < bytes_max:
        if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise OSError(errno.ETIMEDOUT, f"it is a pipe, and for {wait_s:g} s nobody has written into it")
        part = file.read(bytes_max - len(found))
        if part is None:
            continue  # somebody else has taken it
        if not part:
            break
        found += part
        deadline = time.monotonic() + wait_s
    return bytes(found)
