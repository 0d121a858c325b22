"""What a client is told that may not do what it asks for."""

from __future__ import annotations

import pytest
import wire
from wire import PUBACK, PUBCOMP, PUBREC, PUBREL

SHARDS = 1
RULES = [
    {"identity": "anonymous", "may": ["subscribe"], "topics": ["#"]},
    {"identity": "anonymous", "may": ["publish"], "topics": ["open/#"]},
]


@pytest.mark.statement(4, "MQTT-3.3.5-2")
def test_a_message_that_may_not_be_published_is_acknowledged_all_the_same(join, version, name):
    subscriber, peer = join(), join()
    subscriber.subscribe_to((name, 2), packet_id=1)
    subscriber.subscribe_to((f"open/{name}", 2), packet_id=2)
    peer.send(wire.publish(name, b"qos 0", version=version))
    peer.send(wire.publish(name, b"qos 1", qos=1, packet_id=1, version=version))
    assert peer.expect(PUBACK).packet_id == 1
    peer.send(wire.publish(name, b"qos 2", qos=2, packet_id=2, version=version))
    assert peer.expect(PUBREC).packet_id == 2
    peer.send(wire.ack(PUBREL, 2))
    assert peer.expect(PUBCOMP).packet_id == 2
    peer.publish(f"open/{name}", b"open", qos=1, packet_id=3)
    assert subscriber.message().payload == b"open", "and nothing before it"
