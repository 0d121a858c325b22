"""One HTTP request with the standard library: tests need no client library of their own."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

TIMEOUT_S = 60


@dataclass(frozen=True)
class Response:
    """What came back; header names in lower case."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


def get(
    url: str,
    params: dict[str, object] | None = None,
    *,
    method: str = "GET",
    content: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Sends one request on a connection of its own."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=TIMEOUT_S)
    query = urlencode(params) if params else parts.query
    try:
        target = f"{parts.path}?{query}" if query else parts.path
        connection.request(method, target, body=content, headers=headers or {})
        response = connection.getresponse()
        kept = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, kept, response.read())
    finally:
        connection.close()


def answers(url: str) -> bool:
    """Whether somebody is there and says 200."""
    try:
        return get(url).status_code == 200
    except OSError:
        return False
