"""What does a rule make of a record?"""

from __future__ import annotations

import pytest

from lapwing.bridge.back_mapping import BackMapping, Publication, Source, Unfit
from lapwing.bridge.record import Headers
from lapwing.config.bridge import ToMqtt
from lapwing.contracts.kafka_record import Reason


def made(to: str, key: bytes | None = b"phone-7", headers: Headers | None = None) -> Publication | Unfit:
    rule = ToMqtt.model_validate({"name": "r", "topic": "commands", "to": to})
    mapping = BackMapping(rule, topic_levels_max=64, user_properties_max=64)
    return mapping.publication(Source("commands", 2, 41, key, b"go", headers or []))


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("commands/{key}", "commands/phone-7"),
        ("{topic}/all", "commands/all"),
        ("to/{header:device}", "to/first"),
    ],
)
def test_topics(to: str, expected: str) -> None:
    publication = made(to, headers=[("device", b"first"), ("device", b"second")])
    assert isinstance(publication, Publication)
    assert publication.topic == expected
    assert publication.user_properties[0] == ("lapwing-kafka-position", "commands/2/41")


@pytest.mark.parametrize(
    ("to", "key", "part"),
    [
        ("commands/{key}", None, "nothing for {key}"),
        ("commands/{key}", b"\xff", "nothing for {key}"),
        ("commands/{key}", b"a/#", "it has a wildcard"),
        ("{key}", b"$SYS/x", "begin with $"),
        ("{key}", b"", "it is empty"),
        ("{key}", b"/" * 64, "65 levels"),
        ("{header:x}", b"k", "nothing for {header:x}"),
    ],
)
def test_what_cannot_be_published(to: str, key: bytes | None, part: str) -> None:
    problem = made(to, key)
    assert isinstance(problem, Unfit)
    assert problem.reason is Reason.BAD_TOPIC
    assert part in problem.words


LONG = b"x" * 65_536


@pytest.mark.parametrize(
    ("headers", "part"),
    [
        ([("lapwing-response-topic", b"a/#")], "response topic 'a/#'"),
        ([("lapwing-response-topic", b"")], "response topic"),
        ([("lapwing-content-type", LONG)], "content type has more"),
        ([("lapwing-correlation-data", LONG)], "correlation data has more"),
        ([("unit", LONG)], "'unit' has more"),
        ([(LONG.decode(), b"dBm")], "has more than 65535"),
        ([("n", b"v")] * 64, "65 user properties"),
    ],
)
def test_headers_that_no_message_can_have(headers: Headers, part: str) -> None:
    """Is such a record told from one that is fit, before it is handed to a client that would raise?"""
    problem = made("t", headers=headers)
    assert isinstance(problem, Unfit)
    assert problem.reason is Reason.INVALID
    assert part in problem.words


def test_what_is_just_small_enough() -> None:
    headers: Headers = [("n", b"v")] * 62 + [("long", LONG[1:]), ("nothing", None), ("lapwing-correlation-data", None)]
    publication = made("{key}", b"/" * 63, headers)
    assert isinstance(publication, Publication)
    assert len(publication.user_properties) == 64
    assert publication.correlation_data is None


def test_headers_that_cannot_be_read() -> None:
    rule = ToMqtt.model_validate({"name": "r", "topic": "commands", "to": "t"})
    mapping = BackMapping(rule, topic_levels_max=64, user_properties_max=64)
    found = mapping.publication(Source("commands", 0, 0, None, b"", [], problem="not UTF-8"))
    assert found == Unfit(Reason.INVALID, "not UTF-8")


def test_properties_come_from_headers() -> None:
    headers: Headers = [
        ("unit", b"dBm"),
        ("unit", b"W"),
        ("raw", b"\xff"),
        ("lapwing-client", b"forged"),
        ("lapwing-content-type", b"text/plain"),
        ("lapwing-response-topic", b"answers"),
        ("lapwing-correlation-data", b"\xff\x00"),
    ]
    publication = made("t", headers=headers)
    assert isinstance(publication, Publication)
    assert publication.user_properties[1:] == [("unit", "dBm"), ("unit", "W")]
    assert publication.content_type == "text/plain"
    assert publication.response_topic == "answers"
    assert publication.correlation_data == b"\xff\x00"
