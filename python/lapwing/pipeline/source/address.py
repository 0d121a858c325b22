"""Where a stream is: ``http://HOST:PORT/v1/streams/NAME``."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from lapwing.client_url import without_user
from lapwing.errors import ConfigError
from lapwing.host_port import is_host

_PREFIX = "/v1/streams/"
_REMEDY = "give http://HOST:PORT/v1/streams/NAME"


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """One stream of one broker."""

    scheme: str
    host: str
    port: int
    stream: str

    @classmethod
    def parse(cls, url: str, *, default_stream: str = "readings") -> StreamAddress:
        """Reads a URL; one without a path means ``default_stream``.

        Raises:
            ConfigError: ``url`` is no such address.
        """
        shown = without_user(url)
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"source {shown!r} is no URL: {error}", where="--source", remedy=_REMEDY) from None
        if "@" in parts.netloc:
            # Not shown: what stands there is a secret, and a URL is shown everywhere.
            remedy = "give user, token or a file of one as options of their own"
            raise ConfigError("source has a user in its URL", where="--source", remedy=remedy)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or not is_host(host) or port == 0 or not url.isprintable():
            raise ConfigError(f"source {shown!r} is no HTTP address", where="--source", remedy=_REMEDY)
        path = parts.path.rstrip("/")
        stream = unquote(path.removeprefix(_PREFIX)) if path else default_stream
        if parts.query or parts.fragment or "/" in stream or not stream:
            raise ConfigError(f"source {shown!r} names no stream", where="--source", remedy=_REMEDY)
        return cls(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), stream)

    @property
    def path(self) -> str:
        """The path of the stream's HTTP resource."""
        return _PREFIX + quote(self.stream, safe="")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"
