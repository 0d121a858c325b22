"""Does every dead letter fit into the dead-letter topic, and say what it was?"""

from __future__ import annotations

import pytest

from lapwing.bridge.letters import dead_letter, part_bytes_of
from lapwing.bridge.record import DeadLetter, Headers, Record
from lapwing.contracts.kafka_record import Reason

VALUE = bytes(range(250)) * 5


def letter_of(
    *, topic: str = "t", key: str | bytes | None = None, value: bytes | None = b"v", headers: Headers | None = None
) -> DeadLetter:
    return DeadLetter(Record(topic, key, value, headers or []), Reason.TOO_LARGE, "why")


def test_a_large_value_comes_in_parts_under_one_key() -> None:
    parts = dead_letter(letter_of(key="phone-7", value=VALUE), "dead", 500)
    assert b"".join(part.value or b"" for part in parts) == VALUE
    assert [dict(part.headers)["lapwing-part"] for part in parts] == ["1/3", "2/3", "3/3"]
    assert {part.key for part in parts} == {"phone-7"}
    assert all(dict(part.headers)["lapwing-reason"] == "too-large" for part in parts)


def test_headers_are_bounded() -> None:
    letter = letter_of(headers=[("a", "x" * 200), ("b", "y" * 200)])
    (made,) = dead_letter(letter, "dead", 256)
    said = dict(made.headers)
    assert "a" in said
    assert "b" not in said
    assert "1 headers" in str(said["lapwing-error"])


def test_a_header_without_a_value_is_kept() -> None:
    """Does a null of another producer, which is no text, pass as it is?"""
    (made,) = dead_letter(letter_of(headers=[("nothing", None)]), "dead", 256)
    assert made.headers[-1] == ("nothing", None)


def test_a_large_key_is_no_key() -> None:
    (made,) = dead_letter(letter_of(key=b"k" * 600_000), "dead", 256 << 10)
    said = dict(made.headers)
    assert made.key is None
    assert said["lapwing-kafka-key"] == b"k" * (64 << 10)
    assert "600000 bytes is cut" in str(said["lapwing-error"])


@pytest.mark.parametrize("record_bytes_max", [4_096, 10_000, 1_048_588])
def test_the_largest_fits(record_bytes_max: int) -> None:
    """Whatever is large in it: does each of its records fit, with Kafka's own bytes?"""
    huge = 2 * record_bytes_max
    headers: Headers = [*(("", b"") for _ in range(1_000)), ("h", "ö" * huge)]
    letter = letter_of(topic="ö" * huge, key="ö" * huge, value=b"v" * huge, headers=headers)
    for made in dead_letter(letter, "dead", part_bytes_of(256 << 10, record_bytes_max)):
        size = len(made.value or b"") + len(str(made.key).encode())
        size += sum(10 + len(name.encode()) + len(_raw(value)) for name, value in made.headers)
        assert size + 100 < record_bytes_max


def _raw(value: str | bytes | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""
