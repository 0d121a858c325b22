"""Every error that Lapwing raises on purpose, in one tree.

::

    LapwingError                    exit code 1: failed at run time
    ├── ConfigError                 2: wrong configuration or usage; holds every problem found
    ├── BrokerError                 1: the broker could not start, or stopped
    │   ├── AddressInUseError       1: another process listens there
    │   ├── DefectError             70: a defect of Lapwing's own stopped it; start it again
    │   ├── WrongPathError          2: a path leads to what no start can use
    │   └── DataFolderError         1: the data folder cannot be used, or its log is damaged
    │       └── WrongFolderError    2: it is no folder, somebody else's, or of another format
    ├── ConnectError                3: nobody answers there, or the broker refused the connection
    ├── BufferFullError             1: more waits for the broker than may; nothing was taken
    ├── RejectedError               1: the broker refused messages; says which, and why
    ├── TimedOutError               4: what was waited for did not come in time
    ├── StreamError                 1: a stream could not be read
    │   ├── StreamUnknownError      1: no such stream, or no such partition
    │   ├── OffsetTrimmedError      1: retention has deleted the offset asked for (HTTP 410)
    │   └── OffsetAheadError        1: the offset asked for is not written yet (HTTP 416)
    ├── GroupError                  1: a consumer group could not be shown or changed
    ├── SessionError                1: a client's session could not be shown or ended
    ├── BanError                    1: bans could not be shown or lifted
    └── InterruptError              130: Ctrl-C

A message says what was wrong, where, and what to do about it, in one line: ``what (where): remedy``.
Errors of the interpreter's own tree (``ValueError``, ``OSError``) are let through only where they are
a bug of the caller; whatever a user's file, flag or machine can bring about is one of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol


class LapwingError(Exception):
    """Base of the tree.

    Args:
        what: What was wrong, without a full stop: ``"port 1883 is in use"``.
        where: The place: a file and line, an environment variable, a flag, a URL; may be empty.
        remedy: What the reader can do; may be empty.
    """

    exit_code: ClassVar[int] = 1
    """What the command line returns to the shell."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(what, where, remedy)

    def __str__(self) -> str:
        # A message that names the place already need not name it twice.
        place = f" ({self.where})" if self.where and self.where not in self.what else ""
        remedy = f": {self.remedy}" if self.remedy else ""
        return " ".join(f"{self.what}{place}{remedy}".split())

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders (Spark workers); keyword arguments need this.
        return (_rebuild, (type(self), self.__dict__.copy()))

    def lines(self) -> list[str]:
        """One line per problem, as the command line prints them after ``error: ``."""
        return [str(self)]


def _rebuild(kind: type[LapwingError], state: dict[str, object]) -> LapwingError:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (state.get("what", ""), state.get("where", ""), state.get("remedy", ""))
    return error


class ConfigError(LapwingError):
    """The configuration is wrong; ``problems`` has one entry per wrong value."""

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", remedy: str = "", problems: Sequence[LapwingError] = ()) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems)) if self.problems else super().__str__()

    def lines(self) -> list[str]:
        """One line per problem."""
        return [str(problem) for problem in self.problems] or [super().__str__()]


class BrokerError(LapwingError):
    """The broker could not start, or stopped because it must (a failed ``fsync``)."""


class AddressInUseError(BrokerError):
    """Another process listens at that address."""


class DefectError(BrokerError):
    """A defect of Lapwing's own: part of the broker is in a state that nobody knows, so all of it has stopped.

    The message says where in the source, and over whose packet. What was acknowledged is on disk: start it again, and
    report the message.
    """

    exit_code = 70
    """As ``sysexits.h`` numbers an internal software error, so that a supervisor can tell it from a wrong setting."""


class WrongPathError(BrokerError):
    """A path of the configuration (a Unix socket, the audit trail) leads to what no start can use.

    Starting again changes nothing: it is a wrong setting, as far as a supervisor goes.
    """

    exit_code = 2


class DataFolderError(BrokerError):
    """The data folder cannot be created, read or written, or its log is damaged."""


class WrongFolderError(DataFolderError):
    """What lies at the data folder's place is no folder, somebody else's, or of a format that is not known; or its
    segments are gone, or something else lies where it has a file.

    Starting again changes nothing: it is a wrong setting, as far as a supervisor goes.
    """

    exit_code = 2


class ConnectError(LapwingError):
    """Nobody answers at that URL, or the broker refused the connection."""

    exit_code = 3


class BufferFullError(LapwingError):
    """More waits for the broker than may; the message was not taken."""


@dataclass(frozen=True)
class Rejection:
    """A message that the broker refused, or that could not be sent.

    Attributes:
        number: What ``publish`` returned for it.
        topic: Where it was to go; ``""`` where that is not known any more.
        reason: MQTT's reason code, 0x80 to 0xff: 0x87 not authorized, 0x97 quota exceeded (there may be room later),
            0x83 could not be sent.
        words: The same for a person, with what the broker said besides: ``"Not authorized (0x87): closed on Sundays"``.
    """

    number: int
    topic: str
    reason: int
    words: str


class RejectedError(LapwingError):
    """Messages were published and the broker did not take them.

    Attributes:
        rejections: Which, in the order in which that became known: the first 65,536, topics and the broker's words of
            the first 256 KiB of them.
        count: How many there were.
    """

    def __init__(
        self, what: str, *, where: str = "", remedy: str = "", rejections: Sequence[Rejection] = (), count: int = 0
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.rejections = tuple(rejections)
        self.count = max(count, len(self.rejections))


class TimedOutError(LapwingError):
    """What was waited for did not come in time."""

    exit_code = 4


class StreamError(LapwingError):
    """A stream could not be read."""


class StreamUnknownError(StreamError):
    """No stream, or no partition, of that name or number."""


class OffsetTrimmedError(StreamError):
    """Retention has deleted the messages asked for; ``first_offset`` is the oldest one left."""

    def __init__(
        self, what: str, *, where: str = "", remedy: str = "", first_offset: int = 0, next_offset: int = 0
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.first_offset = first_offset
        self.next_offset = next_offset


class OffsetAheadError(StreamError):
    """The offset asked for is not written yet; ``next_offset`` is the end of the partition."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "", next_offset: int = 0) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.next_offset = next_offset


class GroupError(LapwingError):
    """A consumer group could not be shown or changed."""


class SessionError(LapwingError):
    """A client's session could not be shown or ended."""


class BanError(LapwingError):
    """Bans could not be shown or lifted."""


class InterruptError(LapwingError):
    """The user pressed Ctrl-C."""

    exit_code = 130


class CoreFailure(Protocol):
    """What ``lapwing._core.CoreError`` carries; named here so that this module needs no Rust."""

    code: str
    message: str
    remedy: str
    evidence: dict[str, int]


def from_core(failure: CoreFailure, where: str = "") -> LapwingError:
    """The error of this tree for one of the Rust side's; its code decides the class."""
    kind = _KINDS.get(failure.code, BrokerError)
    error = kind(failure.message.rstrip("."), where=where, remedy=failure.remedy)
    if isinstance(error, OffsetTrimmedError):
        error.first_offset = failure.evidence.get("first_offset", 0)
    if isinstance(error, OffsetTrimmedError | OffsetAheadError):
        error.next_offset = failure.evidence.get("next_offset", 0)
    return error


_KINDS: dict[str, type[LapwingError]] = {
    "config": ConfigError,
    "address": ConfigError,
    "certificate": ConfigError,
    "stream_settings": ConfigError,
    "address_in_use": AddressInUseError,
    "defect": DefectError,
    "data_folder": DataFolderError,
    "data_corrupt": DataFolderError,
    "data_full": DataFolderError,
    "store": DataFolderError,
    "store_refused": DataFolderError,
    "store_usage": ConfigError,
    "stream_unknown": StreamUnknownError,
    "partition_unknown": StreamUnknownError,
    "offset_trimmed": OffsetTrimmedError,
    "offset_ahead": OffsetAheadError,
    "reader": StreamError,
}
