"""What does a rule make of a message?"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from pydantic import ValidationError

from lapwing.bridge.mapping import Mapping, capture, taken_in_us
from lapwing.bridge.record import DeadLetter, Record
from lapwing.config.bridge import BridgeSection, ToKafka
from lapwing.config.bridge_sides import BridgeKafka
from lapwing.contracts.kafka_record import Reason

TOLD = [
    ("lapwing-client", "phone-7"),
    ("lapwing-session", "1f.2"),
    ("lapwing-qos", "1"),
    ("lapwing-message-id", "1f.0.7"),
    ("lapwing-ingress-us", "1700000000000000"),
]


@dataclass
class Said:
    topic: str = "spectrum/7/readings"
    payload: bytes = b"-70"
    retain: bool = False
    user_properties: list[tuple[str, str]] = field(default_factory=list)
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None


def mapping(topic: str = "readings", *, topics_max: int = 10, **rule: str) -> Mapping:
    table = ToKafka.model_validate({"name": "r", "filter": "spectrum/+/#", "topic": topic, **rule})
    return Mapping(table, topics_max=topics_max, record_bytes_max=1_000)


def one(made: Mapping, message: Said, *, told: bool = True) -> Record:
    (record,) = made.records([message], 1_800_000_000_000_000, told=told)
    assert isinstance(record, Record)
    return record


def test_when_a_message_was_taken_in_is_the_brokers_to_say() -> None:
    """A device that writes the property itself would choose the lag that an operator is warned by."""
    forged = [("lapwing-ingress-us", "1")]
    assert taken_in_us(Said(user_properties=TOLD + forged), told=True) == 1_700_000_000_000_000
    assert taken_in_us(Said(user_properties=forged), told=False) == 0
    assert taken_in_us(Said(user_properties=TOLD), told=False) == 0
    assert taken_in_us(Said(user_properties=forged), told=True) == 0
    assert taken_in_us(Said(user_properties=[*TOLD[:-1], ("lapwing-ingress-us", "soon")]), told=True) == 0


@pytest.mark.parametrize(
    ("topic_filter", "topic", "expected"),
    [
        ("a/+/c", "a/b/c", ("b",)),
        ("+/+", "a/", ("a", "")),
        ("a/#", "a/b/c", ("b/c",)),
        ("a/+/#", "a/b", ("b", "")),
        ("#", "a/b", ("a/b",)),
        ("a/b", "a/b", ()),
    ],
)
def test_captures(topic_filter: str, topic: str, expected: tuple[str, ...]) -> None:
    assert capture(topic_filter.split("/"), topic) == expected


@pytest.mark.parametrize(
    ("key", "told", "expected"),
    [
        ("{client}", True, "phone-7"),
        ("{client}", False, None),
        ("{1}", True, "7"),
        ("{topic}", True, "spectrum/7/readings"),
        ("{1}-{client}", True, "7-phone-7"),
        ("{1}-{client}", False, None),
        ("{property:device}", True, "d1"),
        ("{property:nobody}", True, None),
        ("one", True, "one"),
        ("off", True, None),
    ],
)
def test_keys(key: str, *, told: bool, expected: str | None) -> None:
    properties = [*(TOLD if told else []), ("device", "d1"), ("device", "d2")]
    assert one(mapping(key=key), Said(user_properties=properties), told=told).key == expected


def test_headers() -> None:
    """Does nobody speak under our names but us?"""
    forged = [
        ("lapwing-topic", "x"),
        ("lapwing-client", "x"),
        ("unit", "dBm"),
        ("unit", "W"),
        ("lapwing-sent-at-us", "5"),
    ]
    record = one(mapping(), Said(user_properties=[*TOLD, *forged], retain=True, content_type="text/plain"))
    ours = [("lapwing-topic", "spectrum/7/readings"), ("lapwing-forwarded-us", "1800000000000000")]
    escaped = [("property-lapwing-topic", "x"), ("property-lapwing-client", "x")]
    own = [*escaped, ("unit", "dBm"), ("unit", "W"), ("lapwing-sent-at-us", "5")]
    assert record.headers == [*ours, *TOLD, *own, ("lapwing-retain", "1"), ("lapwing-content-type", "text/plain")]
    stranger = one(mapping(), Said(user_properties=forged), told=False)
    assert stranger.headers == [*ours, *own]


def test_topics_from_captures() -> None:
    made = mapping("readings-{1}.{2}", topics_max=2)
    assert one(made, Said("spectrum/7/a/b")).topic == "readings-7.a.b"
    assert one(made, Said("spectrum/8/a")).topic == "readings-8.a"
    (bad, many, known) = made.records([Said("spectrum/ö/a"), Said("spectrum/9/a"), Said("spectrum/8/a")], 0, told=True)
    assert isinstance(bad, DeadLetter)
    assert isinstance(many, DeadLetter)
    assert [bad.reason, many.reason] == [Reason.BAD_TOPIC, Reason.TOO_MANY_TOPICS]
    assert isinstance(known, Record)


def test_names_that_nobody_knows_take_no_room_from_those_that_there_are() -> None:
    """A stranger makes up names, batch for batch: is there always room for a topic that takes records?"""
    made = mapping("readings-{1}", topics_max=3)
    for number in range(50):
        junk = [f"readings-{number}a", f"readings-{number}b"]
        records = made.records([Said(f"spectrum/{number}{each}/a") for each in "ab"], 0, told=True)
        assert [type(record) for record in records] == [Record, Record]
        assert made.settle(junk) == 2
        assert one(made, Said("spectrum/7/a")).topic == "readings-7"
        assert made.settle([]) == 0
    assert [made.is_strange(name) for name in ("readings-7", "readings-0a")] == [False, True]


def test_topics_that_took_records_are_as_many_as_there_may_be() -> None:
    made = mapping("readings-{1}", topics_max=2)
    for name in "78":
        one(made, Said(f"spectrum/{name}/a"))
        made.settle([])
    (letter,) = made.records([Said("spectrum/9/a")], 0, told=True)
    assert isinstance(letter, DeadLetter)
    assert letter.reason is Reason.TOO_MANY_TOPICS


def test_large_values_are_dead_letters() -> None:
    (letter,) = mapping().records([Said(payload=bytes(range(250)) * 5, user_properties=TOLD)], 0, told=True)
    assert isinstance(letter, DeadLetter)
    assert letter.reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ({"filter": "a/+/c", "topic": "t-{2}"}, "captures 1"),
        ({"filter": "a/b", "topic": "t", "key": "{1}"}, "captures 0"),
        ({"filter": "a/b", "topic": "t{client}"}, "capture, as {1}"),
        ({"filter": "a/b", "topic": "t t"}, "name of a Kafka topic"),
        ({"filter": "a/b", "topic": "t", "key": "{who}"}, "{client}, {topic}"),
        ({"filter": "a/b#", "topic": "t"}, "# must be the whole last level"),
        ({"filter": "a/b", "topic": "t", "key": "{client"}, "brace"),
    ],
)
def test_wrong_rules(rule: dict[str, str], part: str) -> None:
    with pytest.raises(ValidationError) as raised:
        ToKafka.model_validate({"name": "r", **rule})
    assert part in str(raised.value)


@pytest.mark.parametrize(
    ("section", "part"),
    [
        ({"to_kafka": [{"name": n, "filter": "a", "topic": "t"} for n in "xy"]}, "share its messages"),
        ({"to_kafka": [{"name": "x", "filter": f, "topic": "t"} for f in "ab"]}, "a name of its own"),
        ({"metrics": "0.0.0.0:1"}, "loopback"),
        ({"kafka": {"options": {"sasl.password": "x"}}}, "a secret belongs"),
        ({"kafka": {"options": {"acks": "0"}}}, "the bridge's own"),
        ({"kafka": {"options": {"group.instance.id": "0"}}}, "the bridge's own"),
        ({"kafka": {"options": {"enable.partition.eof": True}}}, "the bridge's own"),
        ({"mqtt": {"url": "tcp://me:horse@host"}}, "no user in it"),
        ({"kafka": {"security": "sasl"}}, "give username"),
        ({"kafka": {"ca": "x.pem"}}, "are for TLS"),
    ],
)
def test_wrong_sections(section: dict[str, object], part: str) -> None:
    with pytest.raises(ValidationError) as raised:
        BridgeSection.model_validate(section)
    assert part in str(raised.value)


def test_defaults_are_in_order() -> None:
    assert BridgeSection().kafka == BridgeKafka()
