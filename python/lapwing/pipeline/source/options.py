"""The options of ``format("lapwing")``, checked as one, each with its unit in its name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from lapwing.client_url import check_tls_files
from lapwing.credentials import Credentials, find_credentials
from lapwing.https import TlsFiles
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient
from lapwing.pipeline.source.typed import offsets_option, typed_options, wrong_option

_WHERE = 'format("lapwing")'
_READER = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a user may set with ``.option(name, value)``; names are Spark's way case-insensitive."""

    url: str
    """``http://HOST:PORT/v1/streams/NAME``."""
    reader: str = ""
    """The broker remembers under this name what a stream's query has done, and tells of what it trims of the rest."""
    start: str = "earliest"
    """``earliest``, ``latest``, or JSON ``{"0": 12}``; without a checkpoint only. No batch begins with ``latest``."""
    until: str = ""
    """JSON ``{"0": 99}``: ``spark.read`` ends exactly there, and so does a stream's first batch.

    A job sets it to finish a batch it had begun; in that, partitions without a number wait for the next one.
    """
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
    certificate: str = ""
    """A file with the reader's own certificate and its chain, in PEM, where the broker asks for one over https."""
    key: str = ""
    """A file with its key, without a pass phrase; empty: it is in the certificate's."""
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
        typed = typed_options(fields(cls), {k: v for k, v in given.items() if k.lower() != "path"}, _WHERE)
        if "url" not in typed:
            raise wrong_option("url", "", "give http://HOST:PORT/v1/streams/NAME", _WHERE)
        options = cls(**typed)
        StreamAddress.parse(options.url)
        check_tls_files(options.url, options.tls_files()._asdict())
        options._check()
        return options

    def _check(self) -> None:
        start, until = self.start_offsets() or {}, self.until_offsets() or {}
        if any(end < start.get(partition, 0) for partition, end in until.items()):
            raise wrong_option("until", self.until, f"it ends before start = {self.start!r}", _WHERE)
        if self.reader and not _READER.fullmatch(self.reader):
            raise wrong_option("reader", self.reader, "give 1 to 64 of letters, digits, '.', '_', '-'", _WHERE)
        self.credentials()

    def client(self) -> StreamClient:
        """A client with these limits."""
        return StreamClient(
            StreamAddress.parse(self.url),
            timeout_s=self.timeout_s,
            retry_s=self.retry_s,
            credentials=self.credentials(),
            tls=self.tls_files(),
        )

    def tls_files(self) -> TlsFiles:
        """Whom to trust, and the reader's own certificate: files of the machine that asks."""
        return TlsFiles(self.ca, self.certificate, self.key)

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
        return None if self.start in ("earliest", "latest") else offsets_option("start", self.start, _WHERE)

    def until_offsets(self) -> Mapping[int, int] | None:
        """The offsets that `until` names; None where it is not set."""
        return offsets_option("until", self.until, _WHERE) if self.until else None
