"""Do the demo's clients do what MQTT 5.0 wants of who keeps a session? Else the books would show their own faults."""

from __future__ import annotations

import pytest

from lapwing.lab.cluster_demo import packets
from lapwing.lab.cluster_demo.books import Books
from lapwing.lab.cluster_demo.packets import (
    PUBACK,
    PUBCOMP,
    PUBLISH,
    PUBREC,
    PUBREL,
    SUBSCRIBE,
    Packet,
    take,
)
from lapwing.lab.cluster_demo.receiver import Receiver
from lapwing.lab.cluster_demo.sender import WINDOW, Sender

REFUSED = bytes([0, 1, 0x97])
"""Packet id 1, and *quota exceeded*."""


def read(data: bytes) -> list[Packet]:
    buffer = bytearray(data)
    found = list(take(buffer))
    assert not buffer
    return found


def kinds(data: bytes) -> list[tuple[int, int]]:
    """Type and packet id of each."""
    return [(packet.kind, packet.packet_id) for packet in read(data)]


def answer(kind: int, packet_id: int = 1) -> Packet:
    return read(packets.answer(kind, packet_id))[0]


def sender(qos: int) -> tuple[Sender, Books]:
    books = Books([qos])
    made = Sender(0, qos, books)
    made.resume(is_present=False)
    return made, books


def test_packets_come_in_pieces() -> None:
    """What has not come whole waits; what has does not."""
    whole = packets.publish("demo/0", b"x" * 300, qos=2, packet_id=7) + packets.answer(PUBREL, 9)
    buffer, found = bytearray(), list[Packet]()
    for byte in whole:
        buffer.append(byte)
        found += take(buffer)
    assert [(packet.kind, packet.packet_id) for packet in found] == [(PUBLISH, 7), (PUBREL, 9)]
    assert (found[0].payload, found[0].qos) == (b"x" * 300, 2)
    with pytest.raises(ValueError, match="four bytes"):
        list(take(bytearray(b"\x30\xff\xff\xff\xff")))


def test_qos_1_goes_again_until_it_is_acknowledged() -> None:
    client, books = sender(1)
    first, second = client.publish(), client.publish()
    client.take(answer(PUBACK, 1))
    again = read(client.resume(is_present=True))
    assert [(packet.packet_id, packet.payload, packet.first & 8) for packet in again] == [
        (2, read(second)[0].payload, 8)
    ]
    assert (books.acknowledged, client.in_flight) == (1, 1)
    assert read(first)[0].payload.startswith(b"0:0:")


def test_qos_2_is_acknowledged_once_and_released_again() -> None:
    """Its PUBREC counts; behind it no PUBLISH goes, or it would come twice."""
    client, books = sender(2)
    client.publish()
    assert kinds(client.take(answer(PUBREC))) == [(PUBREL, 1)]
    assert kinds(client.resume(is_present=True)) == [(PUBREL, 1)]
    assert client.take(answer(PUBCOMP)) == b""
    assert (books.acknowledged, client.in_flight) == (1, 0)


def test_what_is_refused_is_not_acknowledged() -> None:
    for qos, kind in ((1, PUBACK), (2, PUBREC)):
        client, books = sender(qos)
        client.publish()
        assert client.take(Packet(kind << 4, REFUSED)) == b""
        assert (client.refused, books.acknowledged, client.in_flight) == (1, 0, 0)


def test_so_much_is_unacknowledged_and_no_more() -> None:
    client, _ = sender(1)
    assert all(client.publish() for _ in range(WINDOW))
    assert client.publish() == b""


def test_a_session_that_is_gone_is_counted() -> None:
    """What was not taken goes as new."""
    client, books = sender(2)
    client.publish()
    client.publish()
    client.take(answer(PUBREC, 1))
    again = read(client.resume(is_present=False))
    assert [(packet.kind, packet.packet_id, packet.first & 8) for packet in again] == [(PUBLISH, 2, 0)]
    assert books.sessions_lost == 1


def test_an_answer_that_nobody_waits_for() -> None:
    for qos, wrong in ((1, answer(PUBREC)), (1, answer(PUBACK, 3)), (2, answer(PUBACK)), (2, answer(PUBCOMP))):
        client, _ = sender(qos)
        client.publish()
        with pytest.raises(ValueError, match="did not wait for"):
            client.take(wrong)


def test_a_subscriber_asks_once() -> None:
    books = Books([1])
    client = Receiver(0, books)
    assert kinds(client.resume(is_present=False))[0][0] == SUBSCRIBE
    assert not client.is_ready
    client.take(Packet(0x90, b"\0\1\0\2"))
    assert client.is_ready
    assert client.resume(is_present=True) == b""
    assert client.resume(is_present=False) != b""
    assert (books.sessions_lost, client.is_ready) == (1, False)


def test_a_repeat_of_qos_2_is_known_by_its_packet_id() -> None:
    """Over a connection that broke, too; behind PUBREL the same id is another message."""
    books = Books([2])
    client = Receiver(0, books)
    client.resume(is_present=False)
    message = read(packets.publish("demo/0", books.publish(0), qos=2, packet_id=5))[0]
    for _ in range(2):
        assert kinds(client.take(message)) == [(PUBREC, 5)]
        client.resume(is_present=True)
    assert kinds(client.take(answer(PUBREL, 5))) == [(PUBCOMP, 5)]
    assert books.verdict().qos_2.again == 0
    client.take(message)
    assert books.verdict().twice == 1


def test_qos_1_is_acknowledged_each_time() -> None:
    books = Books([1])
    client = Receiver(0, books)
    client.resume(is_present=False)
    message = read(packets.publish("demo/0", books.publish(0), qos=1, packet_id=5))[0]
    for _ in range(2):
        assert kinds(client.take(message)) == [(PUBACK, 5)]
    assert books.verdict().qos_1.again == 1
