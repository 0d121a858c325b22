"""Failures of the Rust client and swarm, as errors of the ``LapwingError`` tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lapwing._core import CoreError
from lapwing.errors import ConfigError, ConnectError, LapwingError, RejectedError, Rejection, TimedOutError

KINDS: dict[str, type[LapwingError]] = {
    "unreachable": ConnectError,
    "refused": ConnectError,
    "tls": ConnectError,
    "websocket": ConnectError,
    "timed_out": TimedOutError,
    "invalid": ConfigError,
    "profile": ConfigError,
    "files": ConfigError,
}
"""By code; ``unpublished`` is a ``RejectedError``, every other a plain ``LapwingError``: it happened at run time."""


@contextmanager
def core_failures(where: str) -> Iterator[None]:
    """Raises what goes wrong inside as errors of the tree, with ``where`` as their place."""
    try:
        yield
    except CoreError as failure:
        if failure.code == "unpublished":
            raise _rejected(failure, where) from failure
        kind = KINDS.get(failure.code, LapwingError)
        raise kind(failure.message.rstrip("."), where=where, remedy=failure.remedy) from failure


def _rejected(failure: CoreError, where: str) -> RejectedError:
    rejections = [Rejection(*row) for row in failure.rejections]
    count = failure.evidence["count"]
    return RejectedError(failure.message.rstrip("."), where=where, rejections=rejections, count=count)
