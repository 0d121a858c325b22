"""The tables under ``[bridge]``: what ``lapwing bridge run`` carries between a broker and Kafka, and how.

A broker that reads the same file leaves them alone. Secrets are in files or in the environment, never here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lapwing.config.addresses import is_loopback, parse_http_address
from lapwing.config.bridge_sides import BridgeKafka, BridgeMqtt, RuleName, off_is_none
from lapwing.config.bridge_text import (
    captures_of,
    parse_bridge_filter,
    parse_kafka_template,
    parse_kafka_topic,
    parse_key_template,
    parse_mqtt_template,
    places,
)
from lapwing.config.several import refuse_all
from lapwing.config.units import Duration
from lapwing.host_port import split_host_port

_RULES_MAX = 256


def _parse_metrics(text: str | None) -> str | None:
    address = parse_http_address(text) if text else None
    if address is not None and not is_loopback(split_host_port(address)[0]):
        raise ValueError("must be an address of loopback: nobody is asked who he is there")
    return address


class ToKafka(BaseModel):
    """Messages of one topic filter, and the Kafka topic that they go to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: RuleName
    """Names the rule in metrics and messages; required."""

    filter: Annotated[str, AfterValidator(parse_bridge_filter)]
    """Topic filter: each + and the # captures what it matches, {1} the first; required. A message of two filters goes
    both ways."""

    topic: Annotated[str, AfterValidator(parse_kafka_template)]
    """Kafka topic, with captures: "readings", "readings-{1}"; "/" in a capture becomes "."; required."""

    key: Annotated[str | None, BeforeValidator(off_is_none), AfterValidator(lambda v: v and parse_key_template(v))] = (
        "{client}"
    )
    """The record's key: "{client}", captures, "{topic}" or "{property:NAME}" in any text; "off": none."""

    @model_validator(mode="after")
    def _captures_are_there(self) -> Self:
        templates = (("topic", self.topic), ("key", self.key or ""))
        refuse_all(self, (why for key, text in templates for why in _strange_captures(self.filter, text, key)))
        return self


class ToMqtt(BaseModel):
    """Records of one Kafka topic, and the MQTT topic that they go to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: RuleName
    """Names the rule in metrics and messages; required."""

    topic: Annotated[str, AfterValidator(parse_kafka_topic)]
    """Kafka topic; required."""

    to: Annotated[str, AfterValidator(parse_mqtt_template)]
    """MQTT topic: "{key}", "{topic}" (Kafka's), "{header:NAME}" in any text, as in "commands/{key}"; required."""

    group: Annotated[str, Field(min_length=1, max_length=249, pattern="^[^\\x00]*$")] = "lapwing-bridge"
    """Kafka consumer group: bridges with the same one share the partitions. Two rules of one topic need two."""

    qos: Annotated[int, Field(ge=0, le=2)] = 1
    """Quality of service to publish with. At 0 nothing answers: what the broker drops is lost."""

    retain: bool = False
    """Publish as retained messages; an empty value clears the topic."""

    start: Literal["earliest", "latest"] = "earliest"
    """Where a group begins that has no offsets yet, or one behind the end of a partition."""


class BridgeSection(BaseModel):
    """The bridge to Kafka: its members, and how they end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    members: int = Field(default=1, ge=1, le=64)
    """Members in this process, each with connections of its own. They share one interpreter: for more messages, run
    this command once more, here or elsewhere."""

    metrics: Annotated[str | None, AfterValidator(_parse_metrics)] = "127.0.0.1:0"
    """HOST:PORT of /metrics and /healthz, on loopback; port 0 lets the system choose; "off" for none."""

    drain: Duration = Field(default=10_000, le=3_600_000)
    """How long SIGTERM waits until Kafka, or the broker, has what is in flight."""

    to_kafka: Annotated[list[ToKafka], Field(max_length=_RULES_MAX)] = []
    """Rules from MQTT to Kafka: filter, topic, key."""

    to_mqtt: Annotated[list[ToMqtt], Field(max_length=_RULES_MAX)] = []
    """Rules from Kafka to MQTT: topic, to, group, qos, retain."""

    mqtt: BridgeMqtt = BridgeMqtt()
    kafka: BridgeKafka = BridgeKafka()

    @model_validator(mode="after")
    def _rules_do_not_meet(self) -> Self:
        refuse_all(self, self._problems())
        return self

    def _problems(self) -> Iterator[str]:
        """What does not go together, in words."""
        names = Counter([rule.name for rule in self.to_kafka] + [rule.name for rule in self.to_mqtt])
        for name in (name for name, count in names.items() if count > 1):
            yield f'two rules are named "{name}": each needs a name of its own'
        filters = Counter(rule.filter for rule in self.to_kafka)
        for shared in (each for each, count in filters.items() if count > 1):
            yield f'two rules have the filter "{shared}": they would share its messages'
        readers = Counter((rule.topic, rule.group) for rule in self.to_mqtt)
        for topic, group in (each for each, count in readers.items() if count > 1):
            yield f'two rules read the topic "{topic}" as the group "{group}", which shares it: give each a group'


def _strange_captures(topic_filter: str, template: str, key: str) -> Iterator[str]:
    there = captures_of(topic_filter)
    for place in places(template):
        if place.isdigit() and not 1 <= int(place) <= there:
            yield f"{key} names {{{place}}}, and the filter {topic_filter!r} captures {there}"
