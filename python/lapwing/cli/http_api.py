"""Requests of the command line to a broker's HTTP side, with the standard library alone."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from lapwing.credentials import Credentials
from lapwing.errors import ConnectError, LapwingError, TimedOutError
from lapwing.host_port import is_host, join_host_port
from lapwing.https import TlsFiles, open_connection, tls_reason, wrong_port

_TIMEOUT_S = 60
_KINDS: dict[str, type[LapwingError]] = {
    "unauthenticated": ConnectError,
    "forbidden": ConnectError,
    "too_many_failures": ConnectError,
}


class HttpAnswerError(Exception):
    """The cause of an error that the broker, or a proxy before it, has answered with ``status``."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


class HttpApi:
    """One kept connection. The broker ends it when nothing is asked for a while: what only reads is then asked again.

    Args:
        url: ``http://HOST:PORT`` or ``https://HOST:PORT``, as the broker prints it.
        credentials: Who asks.
        tls: Whom to trust over TLS, and the client's own certificate.
        kinds: Which error an error's code becomes.
        other: Which error every other one becomes.

    Raises:
        ConnectError: not such a URL. Requests raise it when nobody answers.
        ConfigError: a file of ``tls`` cannot be used.
    """

    def __init__(
        self,
        url: str,
        credentials: Credentials | None,
        tls: TlsFiles,
        *,
        kinds: Mapping[str, type[LapwingError]],
        other: type[LapwingError],
    ) -> None:
        scheme, host, port = _parts(url)
        self._at = scheme, host, port
        self.url = f"{scheme}://{join_host_port(host, port)}"
        self._headers = (credentials or Credentials()).headers()
        self._connection = open_connection(scheme, host, port, timeout_s=_TIMEOUT_S, tls=tls)
        self._kinds = {**_KINDS, **kinds}
        self._other = other

    def request(
        self, method: str, path: str, document: object = None, condition: Mapping[str, str] | None = None
    ) -> tuple[http.client.HTTPMessage, bytes]:
        """Headers and body of the answer; ``document`` is sent as JSON, ``condition`` as headers.

        Raises:
            LapwingError: nobody answers, or the answer is an error.
        """
        body = None if document is None else json.dumps(document)
        kind = {} if body is None else {"Content-Type": "application/json"}
        headers = {**self._headers, **kind, **(condition or {})}
        response, answer = self._exchange(method, path, body, headers)
        if response.status not in (200, 201, 204):
            raise self._error(response.status, answer, f"{self.url}{path}") from HttpAnswerError(response.status)
        return response.headers, answer

    def _exchange(
        self, method: str, path: str, body: str | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        # Only GET may be repeated: of anything else nobody knows whether the broker has carried it out.
        may_repeat = method == "GET" and self._connection.sock is not None
        try:
            self._connection.request(method, path, body=body, headers=headers)
            response = self._connection.getresponse()
            return response, response.read()
        except TimeoutError as error:
            self._connection.close()
            raise TimedOutError("no answer within 60 s", where=self.url, remedy="see the broker's log") from error
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            if may_repeat:
                return self._exchange(method, path, body, headers)  # on a connection of its own: once
            raise self._no_answer(error) from error

    def _no_answer(self, error: Exception) -> ConnectError:
        told = wrong_port(*self._at, error) or (tls_reason(error) if isinstance(error, OSError) else None)
        if told is None:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            told = reason, "start a broker with HTTP, or give --url as it prints it"
        return ConnectError(f"cannot connect: {told[0]}", where=self.url, remedy=told[1])

    def _error(self, status: int, body: bytes, where: str) -> LapwingError:
        try:
            answer = json.loads(body)["error"]
            code, message, remedy = answer["code"], answer["message"], answer["remedy"]
        except (ValueError, KeyError, TypeError):
            remedy = "check that a Lapwing broker listens there"
            return self._other(f"HTTP {status} without an explanation", where=where, remedy=remedy)
        return self._kinds.get(code, self._other)(message.rstrip("."), where=where, remedy=remedy)


def _parts(url: str) -> tuple[str, str, int]:
    """Scheme, host and port; what else stands in the URL (a user, say) is not shown, for it may be a secret."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
        parts = urlsplit("")
    if scheme not in ("http", "https") or not host or "@" in parts.netloc or not is_host(host):
        remedy = "give --url http://HOST:PORT or https://HOST:PORT, as the broker prints it"
        shown = f"{url!r} is" if "@" not in url else "that is"
        raise ConnectError(f"{shown} not the URL of a broker's HTTP side", remedy=remedy)
    return scheme, host, port or (443 if scheme == "https" else 80)
