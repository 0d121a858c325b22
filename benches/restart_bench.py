"""Ready again after SIGKILL: with 10 GB of log, in one queue or in a stream, and with a million queues.

Ready is the first CONNACK. The data files are taken out of the page cache before the start, as after a boot.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from benches.brokers import RunningBroker, lapwing
from benches.crowd import crowd, fill_crowd
from benches.load import swarm
from benches.resident import resident_mib
from benches.sleeper import connect_packet, fall_asleep, fill, first_message_ms
from benches.table import print_table, verdict

BROKER, LOAD = {0, 1}, {1}
ROOMY = (
    "limits.queue_messages_max=40000000",
    "limits.queue_bytes_max=16GiB",
    "limits.memory_high_bytes=12GiB",
    "limits.sessions_offline_max=1100000",
    "limits.held_times_free_max=0",
)
STREAM = ("streams.long.filter=long/#", "streams.long.partitions=4", "streams.long.retain_bytes=16GiB")
PAYLOAD_BYTES = 4000
READY_S, FIRST_MS, OTHERS_TIMES = 5.0, 5.0, 2.0
OTHERS_PER_S, SAMPLE = 2_000, 200


def _ready_s(begun: float, url: str) -> float:
    place = urlsplit(url)
    with socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=60) as link:
        link.sendall(connect_packet("the-first"))
        if not link.recv(4):
            raise RuntimeError("the broker is there and answers nothing")
    return time.perf_counter() - begun


@contextlib.contextmanager
def _again(home: Path, settings: tuple[str, ...]) -> Iterator[tuple[RunningBroker, float]]:
    """The broker started anew on a cold folder, and the seconds until it was ready."""
    for file in (home / "data").rglob("*"):
        if file.is_file():
            with file.open("rb") as held:
                os.fsync(held.fileno())
                os.posix_fadvise(held.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    begun = time.perf_counter()
    with lapwing(BROKER, settings=settings, home=home) as broker:
        yield broker, _ready_s(begun, broker.url)


def _log_gb(home: Path) -> float:
    """On disk."""
    return sum(file.stat().st_blocks * 512 for file in (home / "data").rglob("*") if file.is_file()) / 1e9


def _long_log(what: str, gigabytes: float, prepare: Callable[[str], None], prefix: str) -> None:
    """Prints how soon a broker is ready that has so much of one kind."""
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder:
        home = Path(folder)
        with lapwing(BROKER, settings=(*ROOMY, *STREAM), home=home) as broker:
            prepare(broker.url)
            held = fill(broker, prefix, int(gigabytes * 1e9 / PAYLOAD_BYTES), PAYLOAD_BYTES, LOAD)
            os.kill(broker.pid, signal.SIGKILL)
        size = _log_gb(home)
        with _again(home, (*ROOMY, *STREAM)) as (broker, ready_s):
            memory = resident_mib(broker.pid)
    print_table(
        f"{held:,} messages of {PAYLOAD_BYTES} B {what}, then SIGKILL",
        ("log, GB", "ready, s", "broker, MiB"),
        [(size, ready_s, memory)],
    )
    verdict(f"ready with {size:.1f} GB {what}, s", ready_s, READY_S, at_most=True)


def _others_us(broker: RunningBroker) -> float:
    report = swarm("p2p", broker.url, LOAD, seconds=5, flags=("--no-spin",), publishers=20, qos=1, rate=OTHERS_PER_S)
    return float(report["latency_us"]["p99"])


def _many_queues(sleepers: int) -> None:
    """Prints what a queue costs, and what others and those who come back notice of them."""
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder:
        home = Path(folder)
        with lapwing(BROKER, settings=ROOMY, home=home) as broker:
            empty, alone_us = resident_mib(broker.pid), _others_us(broker)
            crowd(broker.url, sleepers)
            fill_crowd(broker.url, sleepers)
            full, beside_us = resident_mib(broker.pid), _others_us(broker)
            first = _returns(broker.url, sleepers)
            os.kill(broker.pid, signal.SIGKILL)
        with _again(home, ROOMY) as (broker, ready_s):
            restarted = resident_mib(broker.pid)
            first += _returns(broker.url, sleepers)
    first.sort()
    print_table(
        f"{sleepers:,} sessions that are away, one message in each",
        ("bytes a session", "ready after SIGKILL, s", "then, MiB", "first message p99, ms", "others p99 us", "alone"),
        [((full - empty) * 2**20 / sleepers, ready_s, restarted, first[len(first) * 99 // 100], beside_us, alone_us)],
    )
    verdict(f"ready with {sleepers:,} queues, s", ready_s, READY_S, at_most=True)
    verdict("first message after CONNACK, p99, ms", first[len(first) * 99 // 100], FIRST_MS, at_most=True)
    verdict("p99 of others, times that before", beside_us / alone_us, OTHERS_TIMES, at_most=True)


def _returns(url: str, sleepers: int) -> list[float]:
    """Some of them come back; each has its message, or this fails."""
    chosen = random.Random(7).sample(range(sleepers), SAMPLE)
    return [first_message_ms(url, f"s{number}") for number in chosen]


def run(*, quick: bool) -> None:
    """Prints the tables and whether the targets are reached."""
    gigabytes = 0.3 if quick else 10.5
    _long_log("in one queue", gigabytes, lambda url: fall_asleep(url, "sleeper", "deep/#"), "deep")
    _long_log("in a stream", gigabytes, lambda _: None, "long")
    _many_queues(20_000 if quick else 1_000_000)
