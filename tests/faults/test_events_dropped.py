"""Events of clients that a full disk does not take: does each come in the end, or is it counted as dropped?"""

from __future__ import annotations

import json
from pathlib import Path

from commands import RunningBroker
from faulty_disk import FaultyDisk
from web import get
from wire import until

from lapwing import Client

QUEUE, STORM = 8, 20
SETTINGS = ("broker.shards=1", "events.clients=true", f"events.queue={QUEUE}")
TIMEOUT_S = 30.0


def metric(broker: RunningBroker, name: str) -> int:
    lines = get(f"{broker.http}/metrics").text.splitlines()
    return int(next(line for line in lines if line.startswith(f"{name} ")).split()[1])


def monitor(broker: RunningBroker) -> Client:
    """One whose session stays: what it is to have is on disk before it is sent."""
    return Client(broker.url, client_id="monitor", clean_start=False, session_expiry_s=3_600)


def test_a_storm_is_dropped_and_counted(disk: FaultyDisk, tmp_path: Path) -> None:
    """Some may wait while the disk takes nothing: are those behind them dropped, and no other?"""
    flags = [part for setting in SETTINGS for part in ("--set", setting)]
    with RunningBroker(tmp_path / "data", *flags, variables=disk.variables).wait_until_ready() as broker:
        with monitor(broker) as reader:
            reader.subscribe("$lapwing/events/subscribed/device", qos=1)
        with Client(broker.url, client_id="device") as device:
            # The monitor has come, subscribed and gone, the device has come: nothing waits.
            until(lambda: metric(broker, "lapwing_events_total") == 4)
            disk.begin("full")
            device.subscribe("t/first")
            until(lambda: metric(broker, "lapwing_log_disk_full") == 1)
            for number in range(STORM):
                device.subscribe(f"t/{number}")
            dropped, published = (metric(broker, f"lapwing_events{kind}_total") for kind in ("_dropped", ""))
            assert STORM - dropped in (QUEUE, QUEUE - 1), "the first is what the disk did not take, or waits itself"
            disk.end("full")
            until(lambda: metric(broker, "lapwing_events_total") == published + QUEUE)
            device.subscribe("t/last")
            with monitor(broker) as reader:
                kept = filters_up_to("t/last", reader)
        assert kept == ["t/first", *(f"t/{number}" for number in range(STORM - dropped)), "t/last"]
        assert metric(broker, "lapwing_events_dropped_total") == dropped


def filters_up_to(last: str, reader: Client) -> list[str]:
    """What the events say that were kept, in order, up to the one that says `last`."""
    filters: list[str] = []
    for message in reader.messages(TIMEOUT_S):
        filters.append(json.loads(message.payload)["filter"])
        if filters[-1] == last:
            return filters
    raise AssertionError(f"only {filters} came")
