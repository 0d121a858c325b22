"""One client takes all it can of what all share, with the defaults but for the sizes: does another get something?"""

from __future__ import annotations

from wire import CONNACK, PUBACK, SUBACK, Wire, connect, publish, subscribe, until

import lapwing
from lapwing.config import Config

QUOTA_EXCEEDED = 0x97
NOBODY_SUBSCRIBED = 0x10


def small_tables() -> lapwing.Broker:
    """A broker with twenty places in each table, for whoever comes."""
    broker = {"listen": ["tcp://127.0.0.1:0"], "http": None, "shards": 2, "durability": "memory"}
    return lapwing.Broker.from_config(
        Config(
            broker=broker,
            dispatch={"groups_max": 20},
            limits={"retained_messages_max": 20, "connections_max": 20},
        )
    )


def refused(broker: lapwing.Broker, what: str) -> float:
    found = broker.metrics().items()
    name = f'lapwing_identity_share_refused_total{{what="{what}"}}'
    return sum(value for key, value in found if key == name)


def begins(client: Wire, group: str) -> int:
    client.send(subscribe(f"$share/{group}/t"))
    return client.expect(SUBACK).body[-1]


def retains(client: Wire, topic: str) -> int:
    client.send(publish(topic, b"x", qos=1, retain=True))
    return client.expect(PUBACK).reason


def test_an_anonymous_client_leaves_places_to_others() -> None:
    with (
        small_tables() as broker,
        Wire.client(broker.url, "greedy") as greedy,
        Wire.client(broker.url, "modest") as modest,
    ):
        assert [begins(greedy, f"g{n}") for n in range(24)] == [0] * 19 + [QUOTA_EXCEEDED] * 5
        assert begins(modest, "last") == 0
        assert [retains(greedy, f"t/{n}") for n in range(24)] == [NOBODY_SUBSCRIBED] * 19 + [QUOTA_EXCEEDED] * 5
        assert retains(modest, "own") == NOBODY_SUBSCRIBED
        assert retains(greedy, "t/0") == NOBODY_SUBSCRIBED, "one's own is replaced"
        until(lambda: (refused(broker, "groups"), refused(broker, "retained")) == (5, 5))


def test_an_address_leaves_a_connection_to_others() -> None:
    """Another address of this machine comes in, where the first one has nineteen of twenty places."""
    with small_tables() as broker:
        first = [Wire.client(broker.url, f"first{n}") for n in range(19)]
        with Wire(broker.url) as more:
            more.send(connect("more"))
            assert more.expect(CONNACK).reason == QUOTA_EXCEEDED
        assert refused(broker, "connections") == 1
        with Wire(broker.url, source="127.0.0.2") as other:
            other.send(connect("other"))
            assert other.expect(CONNACK).reason == 0
        for wire in first:
            wire.close()
