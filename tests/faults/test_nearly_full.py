"""A disk that is nearly full: does the broker go on by itself when what waited has been delivered?"""

from __future__ import annotations

import time
from pathlib import Path

from commands import RunningBroker
from faulty_disk import FaultyDisk
from web import get

from lapwing import Client
from lapwing.errors import TimedOutError

CAPACITY = 16 << 20
SETTINGS = (
    "broker.shards=1",
    "limits.log_segment_bytes=1MiB",
    "limits.log_snapshot_bytes=16KiB",
    "limits.queue_messages_max=1000000",
    "limits.queue_bytes_max=1GiB",
    "limits.log_lane_bytes=1MiB",
)
HEALED_S = 30.0
BODY = b"x" * 10_000
AT_A_TIME = 10


def sleeper(url: str) -> Client:
    """A client with a session that stays."""
    return Client(url, client_id="sleeper", clean_start=False, session_expiry_s=3_600).connect()


def is_full(broker: RunningBroker) -> bool:
    return "lapwing_log_disk_full 1" in get(f"{broker.http}/metrics").text.splitlines()


def publish_until_full(broker: RunningBroker, client: Client) -> int:
    """Messages that were acknowledged; those behind them wait in the client."""
    acknowledged = 0
    while True:
        for _ in range(AT_A_TIME):
            client.publish("t/1", BODY, qos=1)
        while not is_flushed(client):
            if is_full(broker):
                return acknowledged
        acknowledged += AT_A_TIME


def is_flushed(client: Client) -> bool:
    """Whether all is acknowledged, soon; a disk may be slow without being full."""
    try:
        client.flush(2.0)
    except TimedOutError:
        return False
    return True


def test_it_heals_by_itself(disk: FaultyDisk, tmp_path: Path) -> None:
    """Publishers wait, others go on, a sleeper empties its queue, and soon all are acknowledged."""
    disk.begin("capacity", CAPACITY)
    flags = [part for setting in SETTINGS for part in ("--set", setting)]
    with RunningBroker(tmp_path / "data", *flags, variables=disk.variables).wait_until_ready() as broker:
        with sleeper(broker.url) as client:
            client.subscribe("t/#", qos=1)
        publisher = Client(broker.url, client_id="publisher").connect()
        acknowledged = publish_until_full(broker, publisher)
        assert CAPACITY // 4 < acknowledged * len(BODY) < CAPACITY, f"{acknowledged} were acknowledged"
        assert is_full(broker)
        with Client(broker.url) as other:
            other.subscribe("elsewhere")
            other.publish("elsewhere", b"goes on")
            message = other.receive(30.0)
            assert message
            assert message.payload == b"goes on"

        reader = sleeper(broker.url)
        for number in range(acknowledged):
            assert reader.receive(30.0), f"only {number} of {acknowledged} came"
        delivered_at = time.monotonic()
        # What waited in the publisher is taken now; its messages go to the reader at once.
        publisher.flush(HEALED_S)
        while is_full(broker):
            assert time.monotonic() - delivered_at < HEALED_S, "the disk is still said to be full"
        for _ in range(AT_A_TIME):
            publisher.publish("t/1", BODY, qos=1)
        publisher.flush(HEALED_S)
        publisher.disconnect()
        reader.abort()
        assert broker.end() == 0
