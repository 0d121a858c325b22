"""What a message is as a Kafka record by one rule. Pure: a delivery in, a record out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from lapwing.bridge.record import DeadLetter, Headers, Record
from lapwing.bridge.template import fill, parse
from lapwing.config.bridge import ToKafka
from lapwing.config.bridge_text import is_kafka_topic
from lapwing.contracts import kafka_record as names
from lapwing.contracts.kafka_envelope import escaped
from lapwing.contracts.kafka_record import ENVELOPE, Reason

_TOPICS_KEPT = 20_000
"""Topics of devices whose record topic is remembered; then all are forgotten and found again."""


class Message(Protocol):
    """What the mapping reads of a delivery."""

    @property
    def topic(self) -> str:
        """Where it was published."""

    @property
    def payload(self) -> bytes:
        """What was published."""

    @property
    def retain(self) -> bool:
        """It was retained."""

    @property
    def user_properties(self) -> list[tuple[str, str]]:
        """In order; names may repeat."""

    @property
    def content_type(self) -> str | None:
        """What the payload is."""

    @property
    def response_topic(self) -> str | None:
        """Where to answer."""

    @property
    def correlation_data(self) -> bytes | None:
        """What to answer with."""


class _Route(NamedTuple):
    """What follows from a message's topic alone."""

    kafka_topic: str
    problem: Reason | None
    captures: tuple[str, ...]
    key: str | None
    """The key, where the topic decides it."""


class Mapping:
    """One rule, made ready.

    Args:
        rule: The rule.
        topics_max: Kafka topics that the rule's template may name: those that have taken records, and those of a batch
            that is under way.
        record_bytes_max: What a record may have in value and key.
    """

    def __init__(self, rule: ToKafka, *, topics_max: int, record_bytes_max: int) -> None:
        self._levels = rule.filter.split("/")
        self._topic = parse(rule.topic)
        self._key = None if rule.key is None else parse(rule.key)
        self._key_is_client = rule.key == "{client}"
        self._key_is_of_topic = self._key is None or all(is_of_topic(place) for place in self._key.places)
        self._topics_max = topics_max
        self._record_bytes_max = record_bytes_max
        self._kafka_topics: set[str] = set()
        self._new_topics: set[str] = set()
        """Named first by the batch that is under way: they may be made up."""
        self._routes: dict[str, _Route] = {}

    def records(self, messages: Sequence[Message], forwarded_us: int, *, told: bool) -> list[Record | DeadLetter]:
        """One record for each message, in order.

        Args:
            messages: Of one filter.
            forwarded_us: The bridge's clock, in microseconds since the epoch.
            told: The broker says who published: the first five user properties of a message are its own.
        """
        routes = self._routes
        forwarded = (names.FORWARDED_US, str(forwarded_us))
        records: list[Record | DeadLetter] = []
        for message in messages:
            topic = message.topic
            route = routes.get(topic) or self._route(topic)
            properties = message.user_properties
            is_told = told and _are_told(properties)
            headers: Headers = [(names.TOPIC, topic), forwarded]
            if is_told and len(properties) == _TOLD:
                headers += properties
            elif properties:
                headers += _escaped(properties, told=is_told)
            _add_rest(headers, message)
            if self._key_is_client:
                key = properties[0][1] if is_told else None
            elif self._key_is_of_topic:
                key = route.key
            else:
                key = self._filled_key(route, topic, properties, told=is_told)
            record = Record(route.kafka_topic, key, message.payload, headers)
            if route.problem is not None or len(record.value or b"") > self._record_bytes_max:
                records.append(self._dead(record, route.problem))
            else:
                records.append(record)
        return records

    def _route(self, topic: str) -> _Route:
        captures = capture(self._levels, topic)
        places = {str(number): text.replace("/", ".") for number, text in enumerate(captures, 1)}
        kafka_topic = fill(self._topic, places) or ""
        problem = self._problem(kafka_topic)
        key = None
        if self._key is not None and self._key_is_of_topic:
            key = fill(self._key, _places(captures, topic))
        route = _Route(kafka_topic, problem, captures, key)
        # Of others it is not known yet what becomes of them.
        if kafka_topic in self._kafka_topics or problem is Reason.BAD_TOPIC:
            if len(self._routes) >= _TOPICS_KEPT:
                self._routes.clear()
            self._routes[topic] = route
        return route

    def is_strange(self, kafka_topic: str) -> bool:
        """Whether it has never taken a record of this rule."""
        return kafka_topic not in self._kafka_topics

    def settle(self, given_up: Collection[str]) -> int:
        """A batch is carried: what took records of it counts from now on, and what was given up is forgotten.

        Args:
            given_up: Topics that took nothing.

        Returns: How many of the topics that this batch named first are forgotten.
        """
        forgotten = self._new_topics.intersection(given_up)
        self._kafka_topics |= self._new_topics - forgotten
        self._new_topics.clear()
        return len(forgotten)

    def _problem(self, kafka_topic: str) -> Reason | None:
        if kafka_topic in self._kafka_topics or kafka_topic in self._new_topics:
            return None
        if not is_kafka_topic(kafka_topic):
            return Reason.BAD_TOPIC
        if len(self._kafka_topics) + len(self._new_topics) >= self._topics_max:
            return Reason.TOO_MANY_TOPICS
        self._new_topics.add(kafka_topic)
        return None

    def _filled_key(
        self, route: _Route, topic: str, properties: Sequence[tuple[str, str]], *, told: bool
    ) -> str | None:
        """Null where a place has nothing: half a key would put strangers together, and order would mean nothing."""
        if self._key is None:
            return None
        places = _places(route.captures, topic)
        if told:
            places["client"] = properties[0][1]
        for name, value in reversed(properties):
            places[f"property:{name}"] = value
        return fill(self._key, places)

    def _dead(self, record: Record, problem: Reason | None) -> DeadLetter:
        if problem is None:
            size, most = len(record.value or b""), self._record_bytes_max
            return DeadLetter(record, Reason.TOO_LARGE, f"{size} bytes are more than kafka.record_bytes_max = {most}")
        if problem is Reason.TOO_MANY_TOPICS:
            words = f"{record.topic!r} would be one more than kafka.topics_max = {self._topics_max}"
            return DeadLetter(record, problem, words)
        return DeadLetter(record, problem, f"{record.topic[:300]!r} is no name for a Kafka topic")


def taken_in_us(message: Message, *, told: bool) -> int:
    """When the broker took a message in, in microseconds since the epoch; 0: it does not say.

    Args:
        message: Whose publisher may have written anything, under the broker's names, too.
        told: The broker says who published.
    """
    properties = message.user_properties
    if not (told and _are_told(properties)):
        return 0
    text = properties[_TOLD - 1][1]
    # Another broker may use the name for something else.
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _are_told(properties: Sequence[tuple[str, str]]) -> bool:
    """Whether they begin with what a broker that tells puts before a publisher's own."""
    return len(properties) >= _TOLD and properties[0][0] == names.CLIENT


_TOLD = len(ENVELOPE)


def is_of_topic(place: str) -> bool:
    """Whether a place of a key is filled from the topic alone."""
    return place == "topic" or place.isdigit()


def _places(captures: Sequence[str], topic: str) -> dict[str, str]:
    return {"topic": topic} | {str(number): text for number, text in enumerate(captures, 1)}


def _escaped(properties: Sequence[tuple[str, str]], *, told: bool) -> list[tuple[str, str]]:
    """The broker's own as they are; of the publisher's those that are called as ours are under another name."""
    start = _TOLD if told else 0
    return [*properties[:start], *((escaped(name), value) for name, value in properties[start:])]


def _add_rest(headers: Headers, message: Message) -> None:
    if message.retain:
        headers.append((names.RETAIN, "1"))
    if (content_type := message.content_type) is not None:
        headers.append((names.CONTENT_TYPE, content_type))
    if (response_topic := message.response_topic) is not None:
        headers.append((names.RESPONSE_TOPIC, response_topic))
        if (data := message.correlation_data) is not None:
            headers.append((names.CORRELATION_DATA, data))


def capture(levels: Sequence[str], topic: str) -> tuple[str, ...]:
    """What each wildcard of a filter, by its levels, matches in a topic of that filter."""
    found = topic.split("/")
    captures = [there for want, there in zip(levels, found, strict=False) if want == "+"]
    if levels[-1] == "#":
        captures.append("/".join(found[len(levels) - 1 :]))
    return tuple(captures)
