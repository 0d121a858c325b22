"""The broker is killed while QoS 1 is published into a stream: is every acknowledged message in it?"""

from __future__ import annotations

import queue
import random
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import pyarrow as pa
import pytest
from commands import RunningBroker
from web import get

WINDOW = 200
PUBLISHERS = 4
STREAM = ("--set", "streams.all.filter=t/#", "--set", "streams.all.partitions=2")


class Publisher:
    """Keeps WINDOW messages on their way, and remembers which were acknowledged."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self.acknowledged: set[int] = set()
        self._serials: dict[int, int] = {}
        self._places = threading.Semaphore(WINDOW)
        self._over = threading.Event()
        self._client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name, protocol=paho.MQTTv5)
        self._client.max_inflight_messages_set(WINDOW)
        self._client.on_publish = self._on_publish
        self._client.on_disconnect = lambda *_: self._over.set()
        parts = urlsplit(url)
        self._client.connect(str(parts.hostname), int(parts.port or 0))
        self._client.loop_start()

    def _on_publish(self, _client: Any, _userdata: Any, message_id: int, reason: Any, _properties: Any) -> None:
        assert not reason.is_failure, reason
        self.acknowledged.add(message_id)
        self._places.release()

    def run(self, progress: queue.SimpleQueue[int]) -> None:
        """Publishes until the broker is gone; packet ids tell acknowledgements apart, so at most 65,535."""
        for serial in range(60_000):
            while not self._places.acquire(timeout=0.05):
                if self._over.is_set():
                    return
            if self._over.is_set():
                return
            sent = self._client.publish(f"t/{self.name}", b"%d" % serial, qos=1)
            self._serials[sent.mid] = serial
            progress.put(serial)

    def end(self) -> set[int]:
        """Serials that the broker has acknowledged."""
        self._client.loop_stop()
        return {self._serials[message_id] for message_id in self.acknowledged}


def read_stream(http: str) -> dict[str, list[int]]:
    """Serials in the stream by client, in the order of their offsets."""
    found: dict[str, list[int]] = {}
    for partition in get(f"{http}/v1/streams/all").json()["partitions"]:
        offset = partition["first_offset"]
        while offset < partition["next_offset"]:
            response = get(f"{http}/v1/streams/all/{partition['partition']}", params={"from": offset})
            for row in pa.ipc.open_stream(response.content).read_all().to_pylist():
                assert row["offset"] == offset
                offset += 1
                found.setdefault(row["client_id"], []).append(int(row["payload"]))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_no_acknowledged_message_is_missing(tmp_path: Path, seed: int) -> None:
    """Killed at a random moment, then restarted: is each acknowledged message there, once, in order?"""
    kill_after = random.Random(seed).randint(500, 6_000)
    with RunningBroker(tmp_path, *STREAM).wait_until_ready() as broker:
        publishers = [Publisher(broker.url, f"p{number}") for number in range(PUBLISHERS)]
        progress: queue.SimpleQueue[int] = queue.SimpleQueue()
        threads = [threading.Thread(target=publisher.run, args=(progress,)) for publisher in publishers]
        for thread in threads:
            thread.start()
        for _ in range(kill_after):
            progress.get(timeout=30)
        broker.process.kill()
        for thread in threads:
            thread.join(30)
        acknowledged = {publisher.name: publisher.end() for publisher in publishers}
    assert sum(map(len, acknowledged.values())) > 0, f"nothing was acknowledged before {kill_after}"
    with RunningBroker(tmp_path, *STREAM).wait_until_ready() as broker:
        kept = read_stream(broker.http)
    for name, serials in acknowledged.items():
        assert serials <= set(kept.get(name, [])), f"seed {seed}: acknowledged and gone"
        assert kept.get(name, []) == sorted(set(kept.get(name, []))), f"seed {seed}: repeated or out of order"
