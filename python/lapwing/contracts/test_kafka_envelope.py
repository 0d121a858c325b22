"""Does an envelope come back from its headers, and is a stranger's record a message all the same?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapwing.contracts.kafka_envelope import CLOCK_US_MAX, KafkaEnvelope, headers, read_envelope
from lapwing.contracts.kafka_record import INGRESS_US, QOS, RESERVED, RETAIN, SENT_AT_US, TOPIC

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
NAMES = TEXT | st.sampled_from([*sorted(RESERVED), SENT_AT_US, "property-", "property-lapwing-topic"])
CLOCK = st.none() | st.integers(0, CLOCK_US_MAX)
ENVELOPES = st.builds(
    KafkaEnvelope,
    topic=TEXT,
    client_id=TEXT,
    qos=st.integers(0, 2),
    retain=st.booleans(),
    user_properties=st.lists(st.tuples(NAMES, TEXT), max_size=4).map(tuple),
    session=TEXT,
    message_id=TEXT,
    ingress_at_us=CLOCK,
    forwarded_at_us=CLOCK,
)


@given(ENVELOPES)
def test_there_and_back(envelope: KafkaEnvelope) -> None:
    assert read_envelope(headers(envelope), topic="other", key=b"other") == envelope


def test_headers_are_text_that_anybody_can_read() -> None:
    properties = (("unit", "dBm"), ("lapwing-topic", "not ours"), (SENT_AT_US, "7"), ("unit", "W"))
    envelope = KafkaEnvelope("a/b", "d1", 1, user_properties=properties, ingress_at_us=1_700_000_000_000_000)
    assert headers(envelope) == [
        ("lapwing-topic", b"a/b"),
        ("lapwing-client", b"d1"),
        ("lapwing-qos", b"1"),
        ("lapwing-ingress-us", b"1700000000000000"),
        ("unit", b"dBm"),
        ("property-lapwing-topic", b"not ours"),
        ("lapwing-sent-at-us", b"7"),
        ("unit", b"W"),
    ]
    assert read_envelope(headers(envelope), topic="t").sent_at_us == 7


def test_a_record_without_headers_is_a_message_of_its_key() -> None:
    assert read_envelope([], topic="readings", key=b"d7") == KafkaEnvelope("readings", "d7")
    assert read_envelope([], topic="readings", key=b"\xff") == KafkaEnvelope("readings")
    assert read_envelope([], topic="readings") == KafkaEnvelope("readings")


@pytest.mark.parametrize("value", [None, b"", b"-1", b"1.5", b"\xff", b"+7", b" 7", b"9" * 18, b"9" * 19, "٣".encode()])
def test_what_is_no_clock_is_none(value: bytes | None) -> None:
    assert read_envelope([(INGRESS_US, value)], topic="t").ingress_at_us is None


def test_the_first_of_a_name_counts_and_nonsense_is_the_default() -> None:
    found = [(TOPIC, b"first"), (TOPIC, b"second"), (QOS, b"3"), (RETAIN, b"true"), ("x", b"\xff"), ("y", None)]
    assert read_envelope(found, topic="t") == KafkaEnvelope("first")
