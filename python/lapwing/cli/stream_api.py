"""The few requests that ``lapwing stream`` makes to a broker's HTTP side."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from lapwing.cli.http_api import HttpApi
from lapwing.credentials import Credentials
from lapwing.errors import LapwingError, OffsetAheadError, OffsetTrimmedError, StreamError, StreamUnknownError
from lapwing.https import NO_FILES, TlsFiles

_KINDS: dict[str, type[LapwingError]] = {
    "stream_unknown": StreamUnknownError,
    "partition_unknown": StreamUnknownError,
    "offset_trimmed": OffsetTrimmedError,
    "offset_ahead": OffsetAheadError,
}


class MadeAnewError(StreamError):
    """The stream is another one than before, with offsets of its own: its data folder is new, or its settings were."""


@dataclass(frozen=True)
class Page:
    """Messages of one read, as Arrow IPC; ``next_offset`` to go on from, ``end_offset`` of the partition.

    ``uuid`` is the stream's: offsets of another have nothing to do with these.
    """

    arrow: bytes
    next_offset: int
    end_offset: int
    uuid: str


class StreamApi:
    """One broker's streams over one kept connection; see ``HttpApi``."""

    def __init__(self, url: str, credentials: Credentials | None = None, tls: TlsFiles = NO_FILES) -> None:
        self._api = HttpApi(url, credentials, tls, kinds=_KINDS, other=StreamError)
        self.url = self._api.url

    def streams(self) -> list[dict[str, Any]]:
        """Every stream."""
        _, body = self._api.request("GET", "/v1/streams")
        streams: list[dict[str, Any]] = json.loads(body)["streams"]
        return streams

    def stream(self, name: str) -> dict[str, Any]:
        """One stream.

        Raises:
            StreamUnknownError: no such stream; the message names those there are.
        """
        _, body = self._api.request("GET", f"/v1/streams/{quote(name, safe='')}")
        stream: dict[str, Any] = json.loads(body)
        return stream

    def forget(self, name: str, reader: str) -> None:
        """Has the stream forget a named reader.

        Raises:
            StreamUnknownError: no such stream.
            StreamError: no such reader.
        """
        self._api.request("DELETE", f"/v1/streams/{quote(name, safe='')}/readers/{quote(reader, safe='')}")

    def read(
        self,
        name: str,
        partition: int,
        offset: int | None,
        limit: int,
        reader: str | None,
        uuid: str | None = None,
    ) -> Page:
        """Messages from ``offset`` (None: the oldest kept), at most ``limit`` of them.

        Raises:
            MadeAnewError: the stream is not the one with this ``uuid``; None: any will do.
            StreamUnknownError: no such stream or partition.
            OffsetTrimmedError: retention has deleted ``offset``.
            OffsetAheadError: ``offset`` lies beyond the end.
        """
        wanted = {"from": offset, "limit": limit, "reader": reader}
        query = urlencode({key: value for key, value in wanted.items() if value is not None})
        try:
            headers, body = self._api.request("GET", f"/v1/streams/{quote(name, safe='')}/{partition}?{query}")
        except (OffsetAheadError, OffsetTrimmedError):
            # A stream that is shorter, or begins later, because it is another one.
            if uuid is not None:
                self._check_same(name, self.stream(name)["uuid"], uuid)
            raise
        found = headers["Lapwing-Stream-Uuid"]
        if uuid is not None:
            self._check_same(name, found, uuid)
        return Page(body, int(headers["Lapwing-Next-Offset"]), int(headers["Lapwing-End-Offset"]), found)

    def _check_same(self, name: str, found: str, uuid: str) -> None:
        if found != uuid:
            what = f"stream {name!r} was made anew while it was read"
            raise MadeAnewError(what, where=self.url, remedy="read it again, from its oldest message")
