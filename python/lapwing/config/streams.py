"""One ``[streams.NAME]`` table: which messages a stream keeps, in how many partitions, and for how long."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lapwing._core import filter_fault
from lapwing.config.units import Duration, Size

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def parse_stream_name(name: str) -> str:
    """A name that is one segment of a URL and one folder on any file system.

    Raises:
        ValueError: other characters, empty, or longer than 64.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("use 1 to 64 of letters, digits, '.', '_' and '-', starting with a letter or digit")
    return name


def parse_filter(text: str) -> str:
    """A topic filter by the rules of MQTT 4.7, shared subscriptions excepted.

    Raises:
        ValueError: the rule that is broken.
    """
    if text.startswith("$share/"):
        raise ValueError("must be a plain topic filter: a stream is no member of a shared subscription")
    if fault := filter_fault(text):
        raise ValueError(f"is not a topic filter: {fault}")
    return text


StreamName = Annotated[str, AfterValidator(parse_stream_name)]


class StreamConfig(BaseModel):
    """What one stream keeps.

    Messages with the same key lie in the same partition, in the order in which the broker took them. The
    number of partitions is fixed when the stream is made.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    filter: Annotated[str, AfterValidator(parse_filter)]
    """Topic filter of the messages the stream keeps; required."""

    partitions: int = Field(default=1, ge=1, le=1024)
    """How many partitions, each read on its own."""

    key: Literal["client", "topic"] = "client"
    """What chooses the partition: the publisher's client id, or the topic."""

    retain_bytes: Size = 0
    """Oldest segments are deleted while the stream is larger than this. 0: no bound."""

    retain_age: Duration = Field(default=24 * 3_600_000, serialization_alias="retain_age_ms")
    """Segments whose newest message is older than this are deleted. 0: no bound."""

    segment_bytes: Size = Field(default=64 << 20, ge=64 << 10, le=1 << 30)
    """Size of a segment file; retention deletes whole ones."""
