"""The message envelope: the same columns whether a message comes from a broker's stream, Kafka or files."""

from __future__ import annotations

from lapwing.contracts.clocks import CLOCKS
from lapwing.contracts.fields import Field, Record
from lapwing.contracts.kafka_record import MESSAGE_ID_CHARS_MAX

VERSION = 1
METADATA_KEY = "lapwing.envelope.version"
"""The broker says its version under this key of the Arrow schema's metadata."""

_ALWAYS_SET = {"ingress", "appended"}
_USER_PROPERTY = (
    Field("name", "string", "the property's name; names repeat"),
    Field("value", "string", "the property's value"),
)

ENVELOPE = Record(
    "envelope",
    VERSION,
    (
        Field("topic", "string", "the topic that the message was published to"),
        Field("payload", "binary", "the payload, untouched"),
        Field("client_id", "string", "who published it"),
        Field("qos", "int8", "the publisher's quality of service", low=0, high=2),
        Field("retain", "bool", "the publisher's retain flag"),
        Field("user_properties", "rows", "MQTT 5.0 user properties, in order", rows=_USER_PROPERTY),
        Field("partition", "int32", "the stream's partition", low=0),
        Field("offset", "int64", "the message's number within the partition", low=0),
        *(Field(c.column, "time", c.meaning, nullable=c.name not in _ALWAYS_SET) for c in CLOCKS),
    ),
    {METADATA_KEY: str(VERSION)},
)
"""In the order of the wire: ``sent_at, ingress_at, appended_at, forwarded_at, observed_at`` come last."""

CARRIED = Record(
    "carried envelope",
    VERSION,
    (
        *ENVELOPE.fields,
        Field(
            "message_id",
            "string",
            "names the message: what is carried twice has it twice; null: nobody says",
            nullable=True,
            low=1,
            high=MESSAGE_ID_CHARS_MAX,
        ),
    ),
)
"""What a job reads of a source that may bring a message twice. A stream does not: there the column is null."""
