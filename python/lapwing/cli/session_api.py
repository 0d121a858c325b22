"""The few requests that ``lapwing sessions`` and ``lapwing queues`` make to a broker's HTTP side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from lapwing.cli.http_api import HttpApi
from lapwing.credentials import Credentials
from lapwing.errors import LapwingError, SessionError
from lapwing.https import NO_FILES, TlsFiles

PAGE_MAX = 10_000


class SessionUnknownError(SessionError):
    """No session of that client id."""


class ClientUnknownError(SessionError):
    """No client of that id is connected."""


_KINDS: dict[str, type[LapwingError]] = {"session_unknown": SessionUnknownError, "client_unknown": ClientUnknownError}


class SessionApi:
    """One broker's sessions over one kept connection; see ``HttpApi``."""

    def __init__(self, url: str, credentials: Credentials | None = None, tls: TlsFiles = NO_FILES) -> None:
        self._api = HttpApi(url, credentials, tls, kinds=_KINDS, other=SessionError)

    def page(self, kind: str, query: Mapping[str, str | int]) -> dict[str, Any]:
        """A page of ``"sessions"``, ``"clients"`` or ``"queues"``, with ``matching`` and ``next``."""
        return self._get(f"/v1/{kind}?{urlencode(query)}")

    def pages(self, kind: str, query: Mapping[str, str | int]) -> Iterator[dict[str, Any]]:
        """Every page by client id, as large as it may be."""
        after: dict[str, str | int] = {}
        while True:
            page = self.page(kind, {**query, "limit": PAGE_MAX, **after})
            yield page
            if page["next"] is None:
                return
            after = {"after": page["next"]}

    def one(self, kind: str, client_id: str, head: int) -> dict[str, Any]:
        """One session, or what concerns its queue.

        Raises:
            SessionUnknownError: there is none of this client id.
        """
        return self._get(f"{_path(kind, client_id)}?head={head}")

    def end(self, client_id: str) -> None:
        """Ends a session and its connection.

        Raises:
            SessionUnknownError: there is none of this client id.
        """
        self._api.request("DELETE", _path("sessions", client_id))

    def kick(self, client_id: str) -> None:
        """Ends a connection and leaves its session.

        Raises:
            ClientUnknownError: nobody of this client id is connected.
        """
        self._api.request("DELETE", _path("clients", client_id))

    def empty(self, client_id: str) -> dict[str, Any]:
        """Drops what waits for a client; ``messages`` and ``bytes`` that went.

        Raises:
            SessionUnknownError: there is none of this client id.
        """
        _, body = self._api.request("DELETE", _path("queues", client_id))
        dropped: dict[str, Any] = json.loads(body)
        return dropped

    def _get(self, path: str) -> dict[str, Any]:
        _, body = self._api.request("GET", path)
        document: dict[str, Any] = json.loads(body)
        return document


def _path(kind: str, client_id: str) -> str:
    return f"/v1/{kind}/{quote(client_id, safe='')}"
