"""The options of a Kafka source, checked as one, and what Spark and Kafka's clients are told for them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from lapwing.errors import ConfigError
from lapwing.pipeline.source.java_properties import properties
from lapwing.pipeline.source.kafka_address import KafkaAddress
from lapwing.pipeline.source.typed import offsets_option, typed_options
from lapwing.regular_file import read_once

WHERE = "a Kafka source"
_CLIENT_PREFIX = "kafka."
_FILE_BYTES_MAX = 64 * 1024
_ISOLATION = "isolation.level"
READ_COMMITTED = "read_committed"
_ISOLATIONS = (READ_COMMITTED, "read_uncommitted")
_NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*", re.ASCII | re.IGNORECASE)
"""Of a setting of Kafka's client, or of what it loads."""
_EARLIEST = -2
"""Spark's number for "the oldest there is"."""

_OURS = {
    "bootstrap.servers": "the source's URL",
    "group.id": "Spark's, of its own for each query",
    "auto.offset.reset": "the option start",
    "key.deserializer": "always bytes",
    "value.deserializer": "always bytes",
    "enable.auto.commit": "never: positions are in the tables",
    "interceptor.classes": "not safe with Spark",
}


@dataclass(frozen=True, slots=True)
class KafkaOptions:
    """What a user may set with ``--conf lapwing.NAME=VALUE`` when the source is Kafka."""

    start: str = "earliest"
    """``earliest``, ``latest``, or JSON ``{"0": 12}`` (others: earliest); only where no table has a position."""
    on_trimmed: Literal["fail", "skip"] = "fail"
    """What to do where retention was faster than the job: stop, or go on with what is left."""
    max_rows_per_batch: int = 1_000_000
    """Most records of one micro-batch, about; 0: no limit."""
    tasks: int = 0
    """Spark tasks per batch, at least; 0: one per core of this machine. Never fewer than the topic has partitions."""
    timeout_s: float = 30.0
    """For each request to Kafka."""
    rest_after_s: float = 60.0
    """Where nothing has come for so long Spark's query rests, and one request waits for what comes; 0: never."""
    client_config: str = ""
    """A file of settings of Kafka's Java clients (``security.protocol=SASL_SSL``), as its own tools take them."""
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The same settings, from ``lapwing.kafka.NAME=VALUE``: they go before those of the file."""

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> KafkaOptions:
        """Reads options.

        Raises:
            ConfigError: An option is unknown, or no such value, or the file cannot be read.
        """
        own = {name: value for name, value in given.items() if not name.startswith(_CLIENT_PREFIX)}
        client = {k.removeprefix(_CLIENT_PREFIX): v for k, v in given.items() if k.startswith(_CLIENT_PREFIX)}
        typed = typed_options([each for each in fields(cls) if each.name != "client"], own, WHERE)
        file = typed.get("client_config", "")
        client = {**(_read_properties(Path(file)) if file else {}), **client}
        for name in client:
            if name in _OURS:
                raise ConfigError(f"setting {name} of Kafka's client cannot be set: it is {_OURS[name]}", where=WHERE)
        if client.get(_ISOLATION, READ_COMMITTED) not in _ISOLATIONS:
            raise ConfigError(
                f"kafka.{_ISOLATION} = {client[_ISOLATION]!r} cannot be",
                where=WHERE,
                remedy=f"give {' or '.join(_ISOLATIONS)}",
            )
        options = cls(**typed, client=client)
        options.start_offsets()
        return options

    def client_settings(self, address: KafkaAddress) -> dict[str, str]:
        """What Kafka's own clients are told; may hold secrets."""
        own = {
            "request.timeout.ms": self._wait_ms,
            "default.api.timeout.ms": self._wait_ms,
            # Else a topic that is deleted under a job comes back, empty, as soon as the job asks for it.
            "allow.auto.create.topics": "false",
            # Kafka's own default also reads what its producers have taken back, or not confirmed yet.
            _ISOLATION: READ_COMMITTED,
        }
        return {"bootstrap.servers": address.bootstrap, **own, **self.client}

    def spark_options(self, address: KafkaAddress, reader: str, partitions: int) -> dict[str, str]:
        """What Spark's source is told, but for where it starts.

        Args:
            address: The topic.
            reader: Before the name of the consumer group that Spark makes up.
            partitions: How many the topic has.
        """
        told = {
            "subscribe": address.topic,
            "includeHeaders": "true",
            "failOnDataLoss": str(self.on_trimmed == "fail").lower(),
            "groupIdPrefix": f"lapwing-{reader}",
            # Else Spark waits two minutes for a Kafka that is gone in the midst of a batch.
            "kafkaConsumer.pollTimeoutMs": self._wait_ms,
            **{_CLIENT_PREFIX + name: value for name, value in self.client_settings(address).items()},
        }
        if self.max_rows_per_batch:
            told["maxOffsetsPerTrigger"] = str(self.max_rows_per_batch)
        tasks = self.tasks or os.cpu_count() or 1
        if tasks > partitions:
            told["minPartitions"] = str(tasks)
        return told

    @property
    def _wait_ms(self) -> str:
        return str(max(1, round(self.timeout_s * 1000)))

    def start_offsets(self) -> Mapping[int, int] | None:
        """The offsets that `start` names; None for a word."""
        return None if self.start in ("earliest", "latest") else offsets_option("start", self.start, WHERE)


def starting_offsets(topic: str, partitions: Mapping[int, int | None]) -> str:
    """Spark's ``startingOffsets``: it wants each partition named.

    Args:
        topic: The topic.
        partitions: All of them, each with the next offset to read; None: the oldest there is.
    """
    at = {str(p): _EARLIEST if offset is None else offset for p, offset in sorted(partitions.items())}
    return json.dumps({topic: at})


def _read_properties(file: Path) -> dict[str, str]:
    try:
        raw = read_once(file, _FILE_BYTES_MAX + 1)
        if len(raw) > _FILE_BYTES_MAX:
            raise ConfigError(f"larger than {_FILE_BYTES_MAX} bytes", where=str(file), remedy="name a file of settings")
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ConfigError(f"client_config cannot be read: {why}", where=str(file)) from None
    settings = {}
    try:
        for number, name, value in properties(text):
            if value is None or not _NAME.fullmatch(name):
                # The line is not shown: it may hold a secret.
                raise ConfigError("this is no setting", where=f"{file}:{number}", remedy="write NAME=VALUE")
            settings[name] = value.rstrip(" \t\f")
    except ValueError as error:
        raise ConfigError(f"client_config cannot be read: {error}", where=str(file)) from None
    return settings
