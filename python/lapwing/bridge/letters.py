"""What a dead letter is as records of the dead-letter topic: small enough for it, whatever was too large. Pure."""

from __future__ import annotations

from lapwing.bridge.record import DeadLetter, Headers, Record
from lapwing.contracts import kafka_record as names

_HEADER_BYTES = 16
"""What a header costs besides its name and value, at most."""


def part_bytes_of(part_bytes: int, record_bytes_max: int) -> int:
    """How large a part may be, in bytes, so that a record has room for it, as many headers, and what is said of it."""
    return min(part_bytes, record_bytes_max // 4)


def dead_letter(letter: DeadLetter, kafka_topic: str, part_bytes: int) -> list[Record]:
    """The records of the dead-letter topic for one message: one, or several parts of a large value.

    Args:
        letter: What is dead, and why.
        kafka_topic: The dead-letter topic.
        part_bytes: A larger value goes in parts of this size; headers beyond it, and a key beyond a quarter of it, are
            left out or cut, which is said. A record has less than four times as much. All parts have one key: they stay
            in order, in one partition.
    """
    topic, key, value, own = letter.record
    headers, left_out = _at_most(own, part_bytes)
    key_bytes_max = part_bytes // 4
    shown_key = _cut(key, key_bytes_max) if isinstance(key, str) else key[:key_bytes_max] if key else key
    words = _cut(letter.words, part_bytes // 4)
    if left_out:
        words += f"; {left_out} headers are too large and left out"
    if shown_key != key:
        words += f"; its key of {len(_raw(key))} bytes is cut"
        key = None
    said: Headers = [(names.REASON, letter.reason.value), (names.ERROR, words)]
    if topic:
        said.append((names.KAFKA_TOPIC, _cut(topic, 256)))
    if shown_key is not None:
        said.append((names.KAFKA_KEY, shown_key))
    if value is None or len(value) <= part_bytes:
        return [Record(kafka_topic, key, value, said + headers)]
    count = -(-len(value) // part_bytes)
    part_key = key if key is not None else _identity(headers, _cut(topic, 256))
    parts = (value[number * part_bytes : (number + 1) * part_bytes] for number in range(count))
    return [
        Record(kafka_topic, part_key, part, [*said, (names.PART, f"{number}/{count}"), *headers])
        for number, part in enumerate(parts, 1)
    ]


def _identity(headers: Headers, otherwise: str) -> str | bytes:
    """What names the message, if something does."""
    found = (value for name, value in headers if name in (names.MESSAGE_ID, names.KAFKA_POSITION))
    return next((value for value in found if value is not None), otherwise)


def _at_most(headers: Headers, bytes_max: int) -> tuple[Headers, int]:
    """The first headers of so many bytes, and how many are left out."""
    kept: Headers = []
    left = bytes_max
    for name, value in headers:
        left -= _HEADER_BYTES + len(name.encode()) + len(_raw(value))
        if left < 0:
            break
        kept.append((name, value))
    return kept, len(headers) - len(kept)


def _raw(value: str | bytes | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""


def _cut(text: str, bytes_max: int) -> str:
    """Its first characters, of so many bytes."""
    return text if len(text) * 4 <= bytes_max else text.encode()[:bytes_max].decode(errors="ignore")
