"""An error as JSON with a code for programs, a sentence for people, a remedy, and the evidence."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from lapwing.json_answer import JsonAnswer
from lapwing.same_origin import NO_SNIFFING


class HttpError(Exception):
    """An answer that is not what was asked for.

    Args:
        status: HTTP status.
        code: Stable, for programs.
        message: What was wrong, in a sentence's words.
        remedy: What the caller can do.
        headers: Further response headers.
        evidence: Further members of the error object.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        remedy: str,
        *,
        headers: dict[str, str] | None = None,
        **evidence: object,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers
        self.body: dict[str, Any] = {"code": code, "message": message, "remedy": remedy, **evidence}

    def response(self) -> JsonAnswer:
        """The error as a response."""
        return JsonAnswer({"error": self.body}, status_code=self.status, headers=self.headers)

    def raw(self) -> bytes:
        """The whole answer in bytes, the last on its connection; for what no application has seen."""
        response = self.response()
        fields = [*response.raw_headers, NO_SNIFFING, (b"connection", b"close")]
        lines = [b"HTTP/1.1 %d %s" % (self.status, HTTPStatus(self.status).phrase.encode())]
        lines += [b"%s: %s" % field for field in fields]
        return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(response.body)
