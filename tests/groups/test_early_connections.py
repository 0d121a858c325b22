"""A connection is accepted first and says last who it is: it takes the session over, and groups go on with it."""

from __future__ import annotations

import struct

import pytest
import wire
from crew import SHARES, Hand, publish, until_counted
from members import UNHURRIED, groups

import lapwing

EXPIRY = b"\x11" + struct.pack("!I", 600)


@pytest.mark.parametrize("shards", SHARES)
def test_whoever_connects_last_is_the_member(shards: int) -> None:
    """Not whoever was accepted last: is the session's former connection known as over, and its end as the last?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand(broker.url) as early:
        with Hand.joins(broker.url, "member"):
            early.send(wire.connect("member", clean=False, properties=EXPIRY))
            assert early.expect(wire.CONNACK).reason == 0
        publish(broker, b"1", b"2")
        assert early.takes(2) == [b"1", b"2"]
        until_counted(broker, acknowledged=2, stale_events=0)
        # Its session ends with it: so does the group, which nobody has declared.
        early.send(wire.packet(wire.DISCONNECT << 4, b"\x00\x05\x11" + bytes(4)))
        wire.until(lambda: not groups(broker))
