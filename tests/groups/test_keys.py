"""`key-ordered`: a key is with one member at a time, and its messages are worked on in their order."""

from __future__ import annotations

import pytest
from crew import SHARES, TIGHT, Hand, publish, until_counted
from members import said

import lapwing

KEYS, EACH = 8, 25


@pytest.mark.parametrize("shards", SHARES)
@pytest.mark.parametrize("by", ["topic", "client"])
def test_a_key_is_with_one_member_at_a_time(shards, by):
    """Three members, one lost with its hands full: are their keys always different, and each key in its order?"""
    group = {"filters": ["t/#"], "strategy": "key-ordered", "key": by, "parameters": {"stall_ms": 0}}
    with lapwing.Broker(shards=shards, limits=TIGHT, groups={"g": group}) as broker:
        for key in range(KEYS):
            payloads = [b"%d %d" % (key, n) for n in range(EACH)]
            # The other one is the same for all, or changes: it is not to matter.
            topic, client_id = (f"t/{key}", "p") if by == "topic" else ("t/all", f"p{key}")
            publish(broker, *payloads, topic=topic, client_id=client_id)
        crew = [Hand.joins(broker.url, f"c{n}", properties=said(ack="processed")) for n in range(3)]
        finished: dict[int, list[int]] = {key: [] for key in range(KEYS)}
        rounds = 0
        while sum(map(len, finished.values())) < KEYS * EACH:
            held = [member.pending() for member in crew]
            keys = [{int(message.payload.split()[0]) for message in messages} for messages in held]
            assert sum(map(len, keys)) == len(set.union(*keys)), keys
            rounds += 1
            if rounds == 4:
                crew[1].goes()
                held[1] = []
                crew[1] = Hand.joins(broker.url, "c1", properties=said(ack="processed"))
            for member, messages in zip(crew, held, strict=True):
                for message in messages:
                    key, number = map(int, message.payload.split())
                    finished[key].append(number)
                    member.finishes(message)
                member.round_trip_kept()
        assert finished == {key: list(range(EACH)) for key in range(KEYS)}
        until_counted(broker, acknowledged=KEYS * EACH, dropped={})
        for member in crew:
            member.goes()
