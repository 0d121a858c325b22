"""The few requests that ``lapwing stream`` makes to a broker's HTTP side, with the standard library alone."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from lapwing.config.addresses import join_host_port
from lapwing.credentials import Credentials
from lapwing.errors import (
    ConnectError,
    LapwingError,
    OffsetAheadError,
    OffsetTrimmedError,
    StreamError,
    StreamUnknownError,
    TimedOutError,
)
from lapwing.https import open_connection, tls_reason

_TIMEOUT_S = 60
_KINDS: dict[str, type[LapwingError]] = {
    "stream_unknown": StreamUnknownError,
    "partition_unknown": StreamUnknownError,
    "unauthenticated": ConnectError,
    "forbidden": ConnectError,
    "too_many_failures": ConnectError,
    "offset_trimmed": OffsetTrimmedError,
    "offset_ahead": OffsetAheadError,
}


@dataclass(frozen=True)
class Page:
    """Messages of one read, as Arrow IPC; ``next_offset`` to go on from, ``end_offset`` of the partition."""

    arrow: bytes
    next_offset: int
    end_offset: int


class StreamApi:
    """One broker's streams over one kept connection.

    Args:
        url: ``http://HOST:PORT`` or ``https://HOST:PORT``, as the broker prints it.
        credentials: Who asks.
        ca: File of the authorities to trust over TLS; empty: those of this machine.

    Raises:
        ConnectError: not such a URL. Requests raise it when nobody answers.
        ConfigError: ``ca`` cannot be used.
    """

    def __init__(self, url: str, credentials: Credentials | None = None, ca: str = "") -> None:
        scheme, host, port = _parts(url)
        self.url = f"{scheme}://{join_host_port(host, port)}"
        self._headers = (credentials or Credentials()).headers()
        self._connection = open_connection(scheme, host, port, timeout_s=_TIMEOUT_S, ca=ca)

    def streams(self) -> list[dict[str, Any]]:
        """Every stream."""
        _, body = self._get("/v1/streams")
        streams: list[dict[str, Any]] = json.loads(body)["streams"]
        return streams

    def stream(self, name: str) -> dict[str, Any]:
        """One stream.

        Raises:
            StreamUnknownError: no such stream; the message names those there are.
        """
        _, body = self._get(f"/v1/streams/{quote(name, safe='')}")
        stream: dict[str, Any] = json.loads(body)
        return stream

    def forget(self, name: str, reader: str) -> None:
        """Has the stream forget a named reader.

        Raises:
            StreamUnknownError: no such stream.
            StreamError: no such reader.
        """
        self._request("DELETE", f"/v1/streams/{quote(name, safe='')}/readers/{quote(reader, safe='')}")

    def read(self, name: str, partition: int, offset: int | None, limit: int, reader: str | None) -> Page:
        """Messages from ``offset`` (None: the oldest kept), at most ``limit`` of them.

        Raises:
            StreamUnknownError: no such stream or partition.
            OffsetTrimmedError: retention has deleted ``offset``.
            OffsetAheadError: ``offset`` lies beyond the end.
        """
        wanted = {"from": offset, "limit": limit, "reader": reader}
        query = urlencode({key: value for key, value in wanted.items() if value is not None})
        headers, body = self._get(f"/v1/streams/{quote(name, safe='')}/{partition}?{query}")
        return Page(body, int(headers["Lapwing-Next-Offset"]), int(headers["Lapwing-End-Offset"]))

    def _get(self, path: str) -> tuple[http.client.HTTPMessage, bytes]:
        return self._request("GET", path)

    def _request(self, method: str, path: str) -> tuple[http.client.HTTPMessage, bytes]:
        try:
            self._connection.request(method, path, headers=self._headers)
            response = self._connection.getresponse()
            body = response.read()
        except TimeoutError as error:
            self._connection.close()
            raise TimedOutError("no answer within 60 s", where=self.url, remedy="see the broker's log") from error
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            tls = tls_reason(error) if isinstance(error, OSError) else ""
            reason = tls or getattr(error, "strerror", None) or str(error) or type(error).__name__
            remedy = "start a broker with HTTP, or give --url as it prints it"
            if tls:
                remedy = "give --ca, and the name that its certificate has"
            raise ConnectError(f"cannot connect: {reason}", where=self.url, remedy=remedy) from error
        if response.status not in (200, 204):
            raise _error(response.status, body, f"{self.url}{path}")
        return response.headers, body


def _parts(url: str) -> tuple[str, str, int]:
    """Scheme, host and port; what else stands in the URL (a user, say) is not shown, for it may be a secret."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
        parts = urlsplit("")
    if scheme not in ("http", "https") or not host or "@" in parts.netloc:
        remedy = "give --url http://HOST:PORT or https://HOST:PORT, as the broker prints it"
        shown = f"{url!r} is" if "@" not in url else "that is"
        raise ConnectError(f"{shown} not the URL of a broker's HTTP side", remedy=remedy)
    return scheme, host, port or (443 if scheme == "https" else 80)


def _error(status: int, body: bytes, where: str) -> LapwingError:
    try:
        answer = json.loads(body)["error"]
        code, message, remedy = answer["code"], answer["message"], answer["remedy"]
    except (ValueError, KeyError, TypeError):
        remedy = "check that a Lapwing broker listens there"
        return StreamError(f"HTTP {status} without an explanation", where=where, remedy=remedy)
    return _KINDS.get(code, StreamError)(message.rstrip("."), where=where, remedy=remedy)
