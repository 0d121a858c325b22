"""What does a rule make of a record?"""

from __future__ import annotations

import pytest

from lapwing.bridge.back_mapping import BackMapping, Publication, Source
from lapwing.bridge.mapping import Headers
from lapwing.config.bridge import ToMqtt


def made(to: str, key: bytes | None = b"phone-7", headers: Headers | None = None) -> Publication | str:
    rule = ToMqtt.model_validate({"name": "r", "topic": "commands", "to": to})
    return BackMapping(rule).publication(Source("commands", 2, 41, key, b"go", headers or []))


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
        ("commands/{key}", b"a/#", "wildcards"),
        ("{key}", b"$SYS/x", "begin with $"),
        ("{key}", b"", "1 to 1024"),
        ("{header:x}", b"k", "nothing for {header:x}"),
    ],
)
def test_what_cannot_be_published(to: str, key: bytes | None, part: str) -> None:
    problem = made(to, key)
    assert isinstance(problem, str)
    assert part in problem


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
