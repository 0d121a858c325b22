"""The two sides of the bridge: where broker and Kafka are, who the bridge is there, and how much it takes and sends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lapwing.client_url import is_plain
from lapwing.config.bridge_text import parse_kafka_topic
from lapwing.config.off import OptionalFile
from lapwing.config.several import refuse_all
from lapwing.config.units import Duration, Seconds, Size
from lapwing.host_port import split_host_port

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_OURS = frozenset(
    [
        "acks",
        "auto.offset.reset",
        "batch.num.messages",
        "bootstrap.servers",
        "client.id",
        "compression.codec",
        "compression.type",
        "delivery.report.only.error",
        "delivery.timeout.ms",
        "dr_cb",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "enable.gapless.guarantee",
        "enable.idempotence",
        "enable.partition.eof",
        "error_cb",
        "group.id",
        "group.instance.id",
        "group.protocol",
        "linger.ms",
        "logger",
        "message.max.bytes",
        "message.send.max.retries",
        "message.timeout.ms",
        "metadata.broker.list",
        "on_delivery",
        "partition.assignment.strategy",
        "partitioner",
        "queue.buffering.max.kbytes",
        "queue.buffering.max.messages",
        "queue.buffering.max.ms",
        "request.required.acks",
        "retries",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.username",
        "security.protocol",
        "transactional.id",
    ]
)
_SECRET = re.compile(r"password|secret|token|jaas|\.pem$|^ssl\.key\b|oauthbearer\.config")

RuleName = Annotated[str, Field(pattern=_NAME)]
_Text = Annotated[str, Field(min_length=1, max_length=1_024, pattern="^[^\\x00]*$")]


def _many(value: object) -> object:
    return [value] if isinstance(value, str) else value


def off_is_none(value: object) -> object:
    """What the word "off" means in the place of a value."""
    return None if value == "off" else value


def _parse_server(text: str) -> str:
    split_host_port(text)
    return text


def _parse_url(url: str) -> str:
    if "@" in url.partition("?")[0]:
        raise ValueError("must have no user in it: give bridge.mqtt.username, and password_file or LAPWING_PASSWORD")
    return url


def _check_options(options: dict[str, str | int | bool]) -> dict[str, str | int | bool]:
    for name in options:
        if _SECRET.search(name.lower()):
            raise ValueError(f"{name}: a secret belongs into a file, or into the environment")
        if name.lower() in _OURS:
            raise ValueError(f"{name} is the bridge's own: see the keys of [bridge.kafka]")
    return options


class BridgeMqtt(BaseModel):
    """The broker's side: where it is, who the bridge is there, and how much it takes at a time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, AfterValidator(_parse_url), Field(pattern="^(tcp|mqtt|tls|mqtts|ws|wss)://.+")] = (
        "tcp://127.0.0.1:1883"
    )
    """The broker, as it prints it."""

    group: Annotated[str, Field(pattern="^[^/+#\\x00]{1,256}$")] = "bridge"
    """Share name: bridges with the same one share the messages of each filter."""

    client_id: Annotated[_Text | None, BeforeValidator(off_is_none)] = None
    """What client ids begin with (instance, rule and number of the member follow), for sessions that outlive a restart;
    "off": made up."""

    instance: Annotated[Annotated[str, Field(pattern=_NAME)] | None, BeforeValidator(off_is_none)] = None
    """With client_id: names this process among all that run with the same configuration, the same after a restart; two
    with one name would end each other. "off": the name of this machine."""

    session_expiry: Seconds = 60
    """With client_id: how long the broker keeps the session of a member that is gone."""

    envelope: bool = True
    """Ask the broker who published each message (user property lapwing-envelope of CONNECT)."""

    batch: int = Field(default=1_000, ge=1, le=30_000)
    """Messages that a member takes at once, at most. It has twice as many unacknowledged, or as many as the broker's
    limits.inflight_messages_max lets it; the broker keeps all others."""

    linger: Duration = Field(default=5, le=60_000)
    """How long a batch waits for more after its first message."""

    waiting_bytes_max: Size = Field(default=32 << 20, ge=1 << 20, le=1 << 36)
    """Bytes of messages that have come and that nobody has taken, at most: then nothing more is read."""

    topic_levels_max: int = Field(default=64, ge=1, le=65_535)
    """Levels of a topic that the broker takes, its limits.topic_levels_max. A record for a deeper topic is a dead
    letter."""

    user_properties_max: int = Field(default=64, ge=1, le=65_535)
    """User properties of a message that the broker takes, its limits.user_properties_max; one is the bridge's own. A
    record with more headers is a dead letter."""

    username: Annotated[_Text | None, BeforeValidator(off_is_none)] = None
    """User name; "off": none. The password is in password_file or LAPWING_PASSWORD."""

    password_file: OptionalFile = None
    """A file whose first line is the password."""

    ca: OptionalFile = None
    """Authorities to trust over TLS, in PEM; "off": this machine's."""

    certificate: OptionalFile = None
    """The bridge's own certificate with its chain, in PEM."""

    key: OptionalFile = None
    """Its private key; "off": it is in the certificate's file."""

    @model_validator(mode="after")
    def _files_have_a_use(self) -> Self:
        if is_plain(self.url) and (self.ca or self.certificate or self.key):
            refuse_all(self, ["ca, certificate and key are for TLS: give url as tls://HOST:PORT, or wss://"])
        return self


class BridgeKafka(BaseModel):
    """Kafka's side: where it is, who the bridge is there, and how records are sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bootstrap: Annotated[
        list[Annotated[str, AfterValidator(_parse_server)]], BeforeValidator(_many), Field(min_length=1, max_length=64)
    ] = ["127.0.0.1:9092"]
    """HOST:PORT of one server, or of several."""

    security: Literal["plaintext", "tls", "sasl", "sasl-tls"] = "plaintext"
    """TLS encrypts; SASL says who the bridge is."""

    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    """How SASL shows the password."""

    username: Annotated[_Text | None, BeforeValidator(off_is_none)] = None
    """User name for SASL; "off": none. The password is in password_file or LAPWING_KAFKA_PASSWORD."""

    password_file: OptionalFile = None
    """A file whose first line is the password."""

    ca: OptionalFile = None
    """Authorities to trust, in PEM; "off": this machine's."""

    certificate: OptionalFile = None
    """The bridge's own certificate with its chain, in PEM."""

    key: OptionalFile = None
    """Its private key."""

    key_password_file: OptionalFile = None
    """A file whose first line opens the key."""

    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = "lz4"
    """Of batches of records."""

    record_bytes_max: Size = Field(default=1_048_588, ge=4_096, le=1_000_000_000)
    """Larger records go to the dead letters without being sent; Kafka's own default."""

    retry: Duration = Field(default=1_000, ge=10, le=600_000)
    """The pause after which what Kafka could not take (topic missing, not authorized) is sent again."""

    topics_max: int = Field(default=1_000, ge=1, le=100_000)
    """Kafka topics that templates may name, at most: a device must not make as many as it likes. One that never took a
    record and was given up (topic_wait) does not count."""

    topic_wait: Annotated[Annotated[Duration, Field(le=86_400_000)] | None, BeforeValidator(off_is_none)] = None
    """How long a topic that a template with captures names may be missing, or not be the bridge's to write; then what
    is for it goes to the dead letters at once, until it is there. "off": the rule waits, and all devices of it with the
    one that chose the name."""

    strange_topics_max: int = Field(default=10, ge=1, le=100_000)
    """With topic_wait: so many topics that never took a record are waited for, one after the other or at once; what is
    for further ones goes to the dead letters without a wait. One is forgotten, and may be waited for again, after ten
    times as long as all of them may be."""

    dead_letters: Annotated[str, AfterValidator(parse_kafka_topic)] = "lapwing-dead-letters"
    """The Kafka topic for what can never be carried."""

    dead_letter_part_bytes: Size = Field(default=256 << 10, ge=1_024, le=100_000_000)
    """The value of a dead letter that is larger goes in parts of this size, or of a quarter of record_bytes_max."""

    options: Annotated[dict[str, str | int | bool], AfterValidator(_check_options), Field(max_length=64)] = {}
    """Further settings of librdkafka, as { "socket.timeout.ms" = 10000 }; no secrets, and none that have a key here."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        refuse_all(self, self._problems())
        return self

    def _problems(self) -> Iterator[str]:
        """What does not go together, in words."""
        wants_user = self.security in ("sasl", "sasl-tls")
        if wants_user != (self.username is not None):
            yield 'give username with security = "sasl" or "sasl-tls", and only then'
        if self.security in ("plaintext", "sasl") and (self.ca or self.certificate or self.key):
            yield 'ca, certificate and key are for TLS: set security = "tls" or "sasl-tls"'
        if (self.certificate is None) != (self.key is None):
            yield "certificate and key belong together: give both"
