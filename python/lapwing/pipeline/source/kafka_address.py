"""Where a Kafka topic is: ``kafka://HOST:PORT[,HOST:PORT]/TOPIC``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from lapwing.errors import ConfigError

SCHEME = "kafka://"
_REMEDY = "give kafka://HOST:PORT[,HOST:PORT]/TOPIC"
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
"""What Kafka allows."""


@dataclass(frozen=True, slots=True)
class KafkaAddress:
    """One topic of one cluster."""

    servers: tuple[str, ...]
    """``HOST:PORT`` of some of the cluster's servers."""
    topic: str

    @classmethod
    def parse(cls, url: str) -> KafkaAddress:
        """Reads a URL.

        Raises:
            ConfigError: ``url`` is no such address.
        """
        if "@" in url:
            # Not shown: what stands there is a secret, and a URL is shown everywhere.
            remedy = "name a file with the client's settings: --conf lapwing.client_config=FILE"
            raise ConfigError("source has a user in its URL", where="--source", remedy=remedy)
        servers, slash, topic = url.removeprefix(SCHEME).partition("/")
        if not url.startswith(SCHEME) or not slash or _TOPIC.fullmatch(topic) is None:
            raise ConfigError(f"source {url!r} names no Kafka topic", where="--source", remedy=_REMEDY)
        return cls(tuple(_server(each.strip(), url) for each in servers.split(",")), topic)

    @property
    def bootstrap(self) -> str:
        """As Kafka's clients take it."""
        return ",".join(self.servers)

    def __str__(self) -> str:
        return f"{SCHEME}{self.bootstrap}/{self.topic}"


def _server(text: str, url: str) -> str:
    try:
        parts = urlsplit(f"//{text}")
        known = parts.hostname is not None and parts.port and parts.netloc == text
    except ValueError:
        known = False
    if not known:
        raise ConfigError(f"source {url!r}: {text!r} is no HOST:PORT", where="--source", remedy=_REMEDY)
    return text
