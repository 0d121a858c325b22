"""A group keeps messages only while there is memory for them."""

from __future__ import annotations

import pytest
import wire
from crew import SHARES, Hand, until_group
from members import NEVER_STALLED, group

import lapwing

HIGH, MOST = 1_000_000, 2_000_000
SIZE, COUNT = 20_000, 300


@pytest.mark.parametrize("shards", SHARES)
def test_above_the_second_mark_nothing_more_waits(shards):
    """Three times as much as there may be, for nobody: is the rest dropped by name, and what waits still delivered?"""
    limits = {"memory_high_bytes": HIGH, "memory_max_bytes": MOST, "packet_bytes_max": HIGH // 4}
    with (
        lapwing.Broker(shards=shards, groups={"g": {"filters": ["t/#"], **NEVER_STALLED}}, limits=limits) as broker,
        Hand.joins(broker.url, "c", share=None) as later,
        Hand.joins(broker.url, "publisher", share=None) as publisher,
    ):
        for number in range(1, COUNT + 1):
            publisher.send(wire.publish("t/a", b"%d" % number + b"x" * SIZE, qos=1, packet_id=number))
            publisher.expect(wire.PUBACK)
        dropped = 'lapwing_messages_dropped_total{reason="memory_full"}'
        found = until_group(broker, lambda one: one["waiting_bulk"] + broker.metrics()[dropped] == COUNT)
        assert found["waiting_bytes"] < 2 * MOST
        assert found["waiting_bulk"] > 10
        later.asks(("$share/g/t/#", 1))
        assert len(later.takes(found["waiting_bulk"])) == found["waiting_bulk"]
        until_group(broker, lambda one: one["unacknowledged"] == 0)
        publisher.send(wire.publish("t/a", b"again", qos=1, packet_id=1))
        assert later.takes(1) == [b"again"]
        assert group(broker)["counters"]["dropped"] == {}
