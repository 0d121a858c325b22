"""Standard input, output and error as whoever started this process has left them.

Some take nothing, some are not there at all.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import sys
from typing import TextIO


def open_closed() -> None:
    """Opens nothing (``/dev/null``) where one of the three is closed.

    The next file that is opened gets the lowest free number: without this a segment of the log was standard output or
    error, and whatever is printed there by whomever, a library or a child, would have been written into it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    # Python has none for what it found closed.
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 (as long as the process)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def escape_what_does_not_fit(*streams: TextIO) -> None:
    """Has characters that an encoding other than UTF-8 lacks written as ``\\u65e5``: a peer may send any."""
    for stream in streams:
        # What stands in the place of a stream (a test's, a notebook's) has its own way.
        if isinstance(stream, io.TextIOWrapper) and not takes_all(stream):
            stream.reconfigure(errors="backslashreplace")


def takes_all(stream: TextIO) -> bool:
    """Whether there is no character that its encoding lacks."""
    return codecs.lookup(stream.encoding or "ascii").name == "utf-8"


def check_reader(descriptor: int = 1) -> None:
    """For a command that waits with nothing to write: whether anybody still reads what it may have to say.

    Raises:
        BrokenPipeError: its reader has left.
    """
    poll = select.poll()
    poll.register(descriptor, 0)  # errors are told unasked
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def give_up(descriptor: int) -> None:
    """What is written there from now on, and what waits to be, goes nowhere.

    It takes nothing (its reader has left, its disk is full), and Python would end with a code of its own over what it
    could not write.
    """
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
