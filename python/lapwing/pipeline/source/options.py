"""The options of ``format("lapwing")``, checked as one, each with its unit in its name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from lapwing.credentials import Credentials, find_credentials
from lapwing.errors import ConfigError
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient

_WHERE = 'format("lapwing")'


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a user may set with ``.option(name, value)``; names are Spark's way case-insensitive."""

    url: str
    """``http://HOST:PORT/v1/streams/NAME``."""
    reader: str = ""
    """The broker remembers under this name what has been read, and raises an alarm before it trims the rest."""
    start: str = "earliest"
    """``earliest``, ``latest``, or JSON ``{"0": 12}``; without a checkpoint only."""
    until: str = ""
    """JSON ``{"0": 99}``: the first batch ends exactly there. A job sets it to finish a batch it had begun."""
    on_trimmed: Literal["fail", "skip"] = "fail"
    """What to do where retention was faster than the job: stop, or go on with what is left."""
    decode: Literal["none", "reading"] = "none"
    """``reading``: decode payloads in the source; the columns are those of `lapwing.pipeline.transforms.parse`."""
    max_rows_per_batch: int = 1_000_000
    """Most messages of one micro-batch; 0: no limit."""
    tasks: int = 0
    """Spark tasks per batch, about; 0: two per core of this machine."""
    rows_per_task_min: int = 20_000
    """A batch is not cut finer than this."""
    rows_per_request: int = 50_000
    """Most messages of one HTTP answer and of one Arrow batch."""
    bytes_per_request: int = 16 * 1024 * 1024
    """Most payload bytes of one HTTP answer."""
    timeout_s: float = 30.0
    """For a connection and for each answer."""
    retry_s: float = 10.0
    """How long a lost broker is tried again before the query fails."""
    token_file: str = ""
    """A file whose first line is a token, read where and when it is needed; without one: ``LAPWING_TOKEN``."""
    user: str = ""
    """A user, in place of a token."""
    password_file: str = ""
    """A file whose first line is the user's password; without one: ``LAPWING_PASSWORD``."""
    ca: str = ""
    """A file with the authorities to trust over https, in PEM; empty: those of the machine."""
    token: str = field(default="", repr=False)
    """A token itself: it travels to the workers inside Spark, where a file or the environment would not."""
    password: str = field(default="", repr=False)
    """The user's password itself; as `token`."""

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> SourceOptions:
        """Reads Spark's options.

        Raises:
            ConfigError: An option is unknown, missing, or no such value.
        """
        known = {_plain(each.name): each for each in fields(cls)}
        typed: dict[str, Any] = {}
        for name, value in given.items():
            if name.lower() == "path":
                continue
            if (each := known.get(_plain(name))) is None:
                # Its value is not shown: a misspelled secret is one all the same.
                remedy = f"options are {', '.join(each.name for each in known.values())}"
                raise ConfigError(f"there is no option {name}", where=_WHERE, remedy=remedy)
            typed[each.name] = _typed(each.name, str(each.type), value)
        if "url" not in typed:
            raise _wrong("url", "", "give http://HOST:PORT/v1/streams/NAME")
        options = cls(**typed)
        StreamAddress.parse(options.url)
        options.start_offsets()
        options.until_offsets()
        options.credentials()
        return options

    def client(self) -> StreamClient:
        """A client with these limits."""
        return StreamClient(
            StreamAddress.parse(self.url),
            timeout_s=self.timeout_s,
            retry_s=self.retry_s,
            reader=self.reader or None,
            credentials=self.credentials(),
            ca=self.ca,
        )

    def credentials(self) -> Credentials:
        """Who reads: looked up on the machine that asks, so that a file or a variable need not travel."""
        return find_credentials(
            user=self.user,
            password=self.password,
            password_file=self.password_file,
            token=self.token,
            token_file=self.token_file,
        )

    def task_count(self) -> int:
        """`tasks`, with its default filled in."""
        return self.tasks or 2 * (os.cpu_count() or 1)

    def start_offsets(self) -> Mapping[int, int] | None:
        """The offsets that `start` names; None for a word."""
        return None if self.start in ("earliest", "latest") else _offsets("start", self.start)

    def until_offsets(self) -> Mapping[int, int] | None:
        """The offsets that `until` names; None where it is not set."""
        return _offsets("until", self.until) if self.until else None


def _plain(name: str) -> str:
    """Spark keeps no case: ``tokenFile``, ``token_file`` and ``tokenfile`` are one."""
    return name.lower().replace("_", "")


def _offsets(name: str, text: str) -> Mapping[int, int]:
    try:
        return {int(partition): int(offset) for partition, offset in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError):
        raise _wrong(name, text, 'give earliest, latest or JSON {"PARTITION": OFFSET}') from None


def _typed(name: str, kind: str, value: str) -> Any:
    try:
        if kind.startswith("Literal"):
            words = [word.strip(" \"'") for word in kind[len("Literal[") : -1].split(",")]
            return words[words.index(value)]
        number = {"int": int, "float": float}.get(kind)
        if number is None:
            return value
        made = number(value)
        if made < 0:
            raise ValueError
        return made
    except ValueError:
        wanted = f"give one of {kind[len('Literal[') : -1]}" if kind.startswith("Literal") else f"give {kind} >= 0"
        raise _wrong(name, value, wanted) from None


def _wrong(name: str, value: str, remedy: str) -> ConfigError:
    return ConfigError(f"option {name} = {value!r} cannot be", where=_WHERE, remedy=remedy)
