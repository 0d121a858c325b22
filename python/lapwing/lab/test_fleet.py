"""The fleet against a real broker: everything that a source makes arrives, on time, under the device's name."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from lapwing import Broker
from lapwing._core import Node
from lapwing.errors import LapwingError, TimedOutError
from lapwing.lab.fleet import Counts, FleetRun
from lapwing.lab.synthetic import Synthetic


def arrived(broker: Broker) -> list[dict[str, object]]:
    node = broker._node
    assert isinstance(node, Node)
    (stream,) = broker.streams()
    tables = [
        pa.ipc.open_stream(node.read_stream("readings", part["partition"], 0, 100_000, 1 << 26)[0]).read_all()
        for part in stream["partitions"]
    ]
    rows: list[dict[str, object]] = pa.concat_tables(tables).to_pylist()
    return rows


def test_everything_arrives_once_from_the_devices_that_made_it() -> None:
    source = Synthetic(devices=40, seconds=1, rate=5, seed=2, speed=600)
    seen: list[Counts] = []
    with Broker(streams={"readings": "spectrum/+/readings"}) as broker:
        with FleetRun(broker.url, source.devices, seed=2) as fleet:
            fleet.connect(seen.append)
            assert seen[-1].online == 40
            fleet.play(source, seen.append)
            report = fleet.finish()
        rows = arrived(broker)
    assert report["complete"]
    assert len(rows) == report["acknowledged"] == seen[-1].done
    said = []
    for row in rows:
        payload = row["payload"]
        assert isinstance(payload, bytes)
        reading = json.loads(payload)
        assert row["client_id"] == reading["device"]
        assert row["topic"] == f"spectrum/{reading['device']}/readings"
        said.append((reading["device"], reading["boot"], reading["serial"]))
    assert len(set(said)) == len(said) > 100
    assert report["leaves"] > 0, "nobody fell silent: the schedule of moves is not tested"


def test_a_broker_that_is_not_there_is_named() -> None:
    with Broker() as broker:
        url = broker.url
    with pytest.raises(TimedOutError, match=f"1 of 1 devices not connected.*{url}"), FleetRun(url, ["a"]) as fleet:
        fleet.connect(lambda _counts: None, timeout_s=0.3)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(LapwingError, match="nonsense"):
        FleetRun("nonsense", ["a"])
