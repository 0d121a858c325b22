"""A stream's HTTP interface: its positions, and its messages as Arrow record batches.

Standard library only, one connection kept open. Safe to repeat: every request is a GET.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import pyarrow as pa

from lapwing.contracts.clocks import with_dates
from lapwing.contracts.envelope import ENVELOPE, METADATA_KEY
from lapwing.credentials import Credentials
from lapwing.errors import (
    ConnectError,
    LapwingError,
    OffsetAheadError,
    OffsetTrimmedError,
    StreamError,
    StreamUnknownError,
)
from lapwing.https import NO_FILES, TlsFiles, open_connection, tls_reason, wrong_port
from lapwing.pipeline.source.address import StreamAddress

_SCHEMA = ENVELOPE.arrow_schema()
_RETRY_PAUSE_S = 0.25
_PASSING_STATUS = frozenset((502, 503, 504))
"""A broker that stops, or is short of memory, still answers for a while; so does a proxy that has lost it."""


class _PassingError(Exception):
    """What may be otherwise in a moment."""

    def __init__(self, refusal: LapwingError) -> None:
        self.refusal = refusal
        super().__init__(refusal)


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What a partition holds: offsets ``first_offset <= offset < next_offset``."""

    first_offset: int
    next_offset: int


@dataclass(frozen=True, slots=True)
class StreamState:
    """A stream as the broker describes it; ``uuid`` changes when it is deleted and made again."""

    name: str
    uuid: str
    partitions: Mapping[int, PartitionState]


@dataclass(frozen=True, slots=True)
class Slice:
    """The answer to one read: ``batches`` in order, to be continued at ``next_offset``."""

    uuid: str
    next_offset: int
    batches: list[pa.RecordBatch]


class StreamClient:
    """Reads one stream.

    Args:
        address: The stream.
        timeout_s: For a connection and for each answer.
        retry_s: How long a lost connection is tried again before `ConnectError`; 0: not at all.
        credentials: Who reads.
        tls: Whom to trust over TLS, and the client's own certificate.
    """

    def __init__(
        self,
        address: StreamAddress,
        *,
        timeout_s: float = 30.0,
        retry_s: float = 0.0,
        credentials: Credentials | None = None,
        tls: TlsFiles = NO_FILES,
    ) -> None:
        self.address = address
        self._timeout_s = timeout_s
        self._retry_s = retry_s
        self._credentials = credentials or Credentials()
        self._tls = tls
        self._connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; the next request opens another."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def state(self) -> StreamState:
        """The stream's UUID and what each partition holds.

        Raises:
            ConnectError: Nobody answers.
            StreamUnknownError: The broker has no such stream.
        """
        _, body = self._get(self.address.path)
        try:
            told = json.loads(body)
            states = {
                int(each["partition"]): PartitionState(int(each["first_offset"]), int(each["next_offset"]))
                for each in told["partitions"]
            }
            return StreamState(str(told["name"]), str(told["uuid"]), dict(sorted(states.items())))
        except (ValueError, KeyError, TypeError):
            raise self._no_lapwing("its answer describes no stream") from None

    def read(self, partition: int, start: int, *, rows_max: int, bytes_max: int) -> Slice:
        """Messages of ``partition`` from offset ``start``: at most ``rows_max``, at least one where there is one.

        Raises:
            OffsetTrimmedError: ``start`` lies below what retention has left.
            OffsetAheadError: ``start`` lies above the end.
            StreamError: The broker's envelope has another version.
        """
        query = {"from": start, "limit": rows_max, "bytes": bytes_max}
        headers, body = self._get(f"{self.address.path}/{partition}?{urlencode(query)}")
        try:
            with pa.ipc.open_stream(body) as stream:
                batches = [self._checked(batch) for batch in stream if batch.num_rows]
            return Slice(headers["lapwing-stream-uuid"], int(headers["lapwing-next-offset"]), batches)
        except (pa.ArrowInvalid, KeyError, ValueError) as error:
            raise self._no_lapwing(f"its answer is no Arrow stream: {error}") from None

    def tell(self, reader: str, partition: int, done: int) -> None:
        """Says that the named ``reader`` has all of ``partition`` below offset ``done``; tried once, without a wait.

        Raises:
            LapwingError: The broker does not know it now.
        """
        # The interface has no other way to say it: what is asked for is as little as there is, one message or none.
        query = urlencode({"from": done, "limit": 1, "bytes": 1, "reader": reader})
        self._get(f"{self.address.path}/{partition}?{query}", retry_s=0.0)

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if not batch.schema.equals(_SCHEMA):
            said = (batch.schema.metadata or {}).get(METADATA_KEY.encode(), b"unknown").decode()
            raise StreamError(
                f"the broker's envelope has version {said} and other columns than version {ENVELOPE.version}",
                where=str(self.address),
                remedy="run pipeline and broker from the same release",
            )
        return with_dates(pa.RecordBatch.from_arrays(batch.columns, schema=_SCHEMA))

    def _get(self, target: str, *, retry_s: float | None = None) -> tuple[Mapping[str, str], bytes]:
        for deadline in self._attempts(self._retry_s if retry_s is None else retry_s):
            try:
                return self._once(target)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if isinstance(error, OSError) and (told := tls_reason(error)):
                    what, remedy = self._wrong_port(error) or told
                    raise ConnectError(what, where=str(self.address), remedy=remedy) from None
                if time.monotonic() >= deadline:
                    if wrong := self._wrong_port(error):
                        raise ConnectError(wrong[0], where=str(self.address), remedy=wrong[1]) from None
                    raise ConnectError(
                        f"nobody answers: {error or type(error).__name__}",
                        where=str(self.address),
                        remedy="start the broker, or correct the address of the source",
                    ) from None
            except _PassingError as passing:
                if time.monotonic() >= deadline:
                    raise passing.refusal from None
            time.sleep(_RETRY_PAUSE_S)
        raise AssertionError("attempts never end")

    def _wrong_port(self, error: Exception) -> tuple[str, str] | None:
        return wrong_port(self.address.scheme, self.address.host, self.address.port, error)

    def _attempts(self, retry_s: float) -> Iterator[float]:
        # A kept connection may have been closed by the broker's side meanwhile: one free attempt for that.
        if self._connection is not None:
            yield float("inf")
        deadline = time.monotonic() + retry_s
        while True:
            yield deadline

    def _once(self, target: str) -> tuple[Mapping[str, str], bytes]:
        if self._connection is None:
            to = self.address
            self._connection = open_connection(to.scheme, to.host, to.port, timeout_s=self._timeout_s, tls=self._tls)
        self._connection.request("GET", target, headers=self._credentials.headers())
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status in _PASSING_STATUS:
            raise _PassingError(self._refusal(answer.status, body))
        if answer.status != http.client.OK:
            raise self._refusal(answer.status, body)
        return {name.lower(): value for name, value in answer.getheaders()}, body

    def _refusal(self, status: int, body: bytes) -> LapwingError:
        try:
            told: dict[str, Any] = json.loads(body)["error"]
            what, remedy = str(told["message"]), str(told.get("remedy", ""))
        except (ValueError, KeyError, TypeError):
            return self._no_lapwing(f"it answers {status}")
        where = str(self.address)
        first, end = int(told.get("first_offset", 0)), int(told.get("next_offset", 0))
        if status == http.client.GONE:
            return OffsetTrimmedError(what, where=where, remedy=remedy, first_offset=first, next_offset=end)
        if status == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            return OffsetAheadError(what, where=where, remedy=remedy, next_offset=end)
        if status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN, http.client.TOO_MANY_REQUESTS):
            return ConnectError(what, where=where, remedy=remedy)
        kind = StreamUnknownError if status == http.client.NOT_FOUND else StreamError
        return kind(what, where=where, remedy=remedy)

    def _no_lapwing(self, what: str) -> StreamError:
        return StreamError(
            f"this is no Lapwing broker: {what}",
            where=str(self.address),
            remedy="give the broker's --http address",
        )
