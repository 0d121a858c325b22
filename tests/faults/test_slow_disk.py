"""A disk that is slow under a flood: do publishers wait instead of the broker's memory growing?"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from commands import RunningBroker
from faulty_disk import FaultyDisk
from keepers import KEEPERS, TOPIC
from web import get

from lapwing import Client
from lapwing.errors import LapwingError

SLOW_MS = 200
FLOOD_S = 4.0
PUBLISHERS = 4
BODY_BYTES = 100_000
"""A client may have 1,024 of them unanswered: 400 MiB of all four would be in memory, were they taken."""
FLAGS = ("--set", "limits.log_segment_bytes=16MiB")
"""Half of that may be on its way to the disk before publishers are held."""
GROWTH_BYTES_MAX = 160 << 20
"""What is on its way, several times over: in buffers, mailboxes and batches, and what the allocator keeps of it."""
PATIENCE_S = 60.0


class Flood:
    """Publishes as fast as the broker reads; each body begins with who sent it, and its number."""

    def __init__(self, url: str, name: bytes) -> None:
        self._name, self._sent = name, 0
        self._client = Client(url, client_id=name.decode(), timeout_s=PATIENCE_S).connect()
        self._over = threading.Event()
        self._failures: list[LapwingError] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                self._client.publish(TOPIC, (b"%s %d " % (self._name, self._sent)).ljust(BODY_BYTES, b"x"), qos=1)
                self._sent += 1
        except LapwingError as failure:
            self._failures.append(failure)

    def stop(self) -> None:
        """Sends nothing more."""
        self._over.set()

    def end(self) -> list[int]:
        """Numbers of what it has sent, when all of that is acknowledged."""
        self._thread.join(PATIENCE_S)
        assert not self._failures, self._failures
        self._client.flush(PATIENCE_S)
        self._client.disconnect()
        return list(range(self._sent))


def resident_bytes(broker: RunningBroker) -> int:
    status = Path(f"/proc/{broker.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) << 10


def reads_held(broker: RunningBroker) -> int:
    """How often a connection was not read on."""
    lines = get(f"{broker.http}/metrics").text.splitlines()
    return int(next(line for line in lines if line.startswith("lapwing_reads_held_total")).split()[1])


def watch(broker: RunningBroker, held: int) -> int:
    """The most memory that the process has while it is flooded, and until it has held somebody."""
    most, began = 0, time.monotonic()
    while time.monotonic() - began < FLOOD_S or reads_held(broker) <= held:
        assert time.monotonic() - began < PATIENCE_S, "nobody is held"
        most = max(most, resident_bytes(broker))
        time.sleep(0.02)
    return most


@pytest.mark.parametrize(("kept_by", "lane"), [*((keeper, "32MiB") for keeper in KEEPERS), ("session", "1MiB")])
def test_a_slow_disk_holds_publishers_and_costs_no_memory(
    disk: FaultyDisk, tmp_path: Path, kept_by: str, lane: str
) -> None:
    """Four publish as fast as they can: are they held, does memory stay bounded, is everything there in the end?

    With little room for each shard nobody is sent away either, though what other shards mail comes on top.
    """
    keeper = KEEPERS[kept_by]
    flags = (*keeper.flags, *FLAGS, "--set", f"limits.log_lane_bytes={lane}")
    with RunningBroker(tmp_path / "data", *flags, variables=disk.variables).wait_until_ready() as broker:
        keeper.begin(broker)
        resident, held = resident_bytes(broker), reads_held(broker)
        disk.begin("slow", SLOW_MS)
        floods = {b"p%d" % number: Flood(broker.url, b"p%d" % number) for number in range(PUBLISHERS)}
        growth = watch(broker, held) - resident
        assert growth < GROWTH_BYTES_MAX, f"{growth >> 20} MiB more"
        for flood in floods.values():
            flood.stop()
        disk.end("slow")
        acknowledged = {name: flood.end() for name, flood in floods.items()}
        assert by_publisher(keeper.read(broker)) == acknowledged
        assert broker.end() == 0


def by_publisher(payloads: list[bytes]) -> dict[bytes, list[int]]:
    """The numbers that each has sent, in the order in which they were kept."""
    found: dict[bytes, list[int]] = {}
    for payload in payloads:
        name, number, _ = payload.split(b" ")
        found.setdefault(name, []).append(int(number))
    return found
