"""A disk that does not answer under a real broker: whoever asks, and whoever reads its log, hears of it."""

from __future__ import annotations

from pathlib import Path

from commands import RunningBroker
from faulty_disk import FaultyDisk
from web import get

from lapwing import Client


def test_a_disk_that_hangs_is_told(disk: FaultyDisk, tmp_path: Path) -> None:
    """Is the broker not ready while a sync does not return, with one line for that and one when it is over?"""
    flags = ("--set", "streams.all.filter=t/#", "--set", "broker.shards=1", "--set", "limits.stall_after=200ms")
    with RunningBroker(tmp_path / "data", *flags, variables=disk.variables).wait_until_ready() as broker:

        def until(state: int, word: str, line: str) -> None:
            while True:
                answer = get(f"{broker.http}/readyz")
                is_so = answer.status_code == state and word in answer.text
                if is_so and any(line in error for error in broker.errors):
                    return
                assert broker.process.poll() is None

        client = Client(broker.url).connect()
        disk.begin("hung")
        client.publish("t/1", b"waits", qos=1)
        until(503, "disk_stalled", "the disk does not answer")
        disk.end("hung")
        client.flush(30.0)
        until(200, "ready", "the disk answers again, after")
        client.disconnect()
        assert broker.end() == 0
