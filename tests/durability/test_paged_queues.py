"""What waits for sessions waits on disk: read in order as it is sent, whoever goes away, and little of it in memory."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from commands import RunningBroker
from restarting import RestartingBroker
from test_killed_under_load import Peer, wait_for

from lapwing import Client
from lapwing.errors import LapwingError

DEADLINE_S = 60.0
SMALL = ("limits.queue_memory_bytes=64KiB", "limits.queue_messages_max=1000000", "limits.queue_bytes_max=1GiB")


def broker(data: Path, *settings: str) -> RunningBroker:
    """A broker of two shards on this folder."""
    flags = [part for setting in ("broker.shards=2", *settings) for part in ("--set", setting)]
    return RunningBroker(data, *flags).wait_until_ready()


def keeper(running: RunningBroker, **options: int) -> Client:
    """The client whose session stays."""
    name = "keeper"
    return Client(running.url, client_id=name, clean_start=False, session_expiry_s=3_600, **options).connect()


def subscribe(running: RunningBroker, qos: int) -> None:
    """The keeper subscribes and goes."""
    with keeper(running) as client:
        client.subscribe("t/#", qos=qos)
    assert poll(lambda: not is_here(running, "keeper"))


def is_here(running: RunningBroker, name: str) -> bool:
    """Whether the broker takes the client for connected: a DISCONNECT that was written is not yet read."""
    with urllib.request.urlopen(f"{running.http}/v1/sessions/{name}", timeout=DEADLINE_S) as answer:
        return bool(json.load(answer)["is_connected"])


def publish(running: RunningBroker, numbers: range, *, qos: int = 1, width: int = 100) -> None:
    """Publishes numbers, each so wide; returns when all are acknowledged."""
    with Client(running.url, client_id="publisher", timeout_s=DEADLINE_S) as client:
        for number in numbers:
            client.publish("t/x", b"%0*d" % (width, number), qos=qos)
        client.flush()


def take(client: Client, count: int) -> list[int]:
    """The numbers of the next messages."""
    numbers = []
    for _ in range(count):
        message = client.receive(DEADLINE_S)
        assert message, f"only {len(numbers)} of {count} came"
        numbers.append(int(message.payload))
    return numbers


def metric(running: RunningBroker, name: str) -> float:
    """A number of the broker's."""
    with urllib.request.urlopen(f"{running.http}/metrics", timeout=DEADLINE_S) as answer:
        lines = answer.read().decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.split()[0] == name)


def poll(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so in time."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if is_so():
            return True
    return False


def resident_bytes(running: RunningBroker) -> int:
    """Memory of the broker's process."""
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) << 10


@pytest.mark.parametrize("qos", [1, 2])
def test_thousands_come_in_order_through_a_small_window(tmp_path: Path, qos: int) -> None:
    with broker(tmp_path, *SMALL) as running:
        subscribe(running, qos)
        publish(running, range(5_000), qos=qos)
        assert poll(lambda: metric(running, "lapwing_queue_paged_messages") == 5_000)
        assert metric(running, "lapwing_queue_memory_bytes") == 8 * 5_000
        client = keeper(running)
        assert take(client, 5_000) == list(range(5_000))
        assert metric(running, "lapwing_queue_page_messages_total") == 5_000
        assert metric(running, "lapwing_queue_pages_read_total") > 50
        # And what comes now comes behind it.
        publish(running, range(5_000, 5_100), qos=qos)
        assert take(client, 100) == list(range(5_000, 5_100))


def test_who_goes_away_in_between_gets_the_rest(tmp_path: Path) -> None:
    with broker(tmp_path, *SMALL) as running:
        subscribe(running, 1)
        publish(running, range(3_000))
        received: list[int] = []
        for count in (700, 1, 900):
            client = keeper(running, receive_maximum=50)
            received += take(client, count)
            client.abort()
        # Another connection takes the session over while it is being read.
        client = keeper(running, receive_maximum=50)
        received += take(client, 300)
        client = keeper(running, receive_maximum=50)
        while 2_999 not in received:
            received += take(client, 1)
        assert list(dict.fromkeys(received)) == list(range(3_000))
        # What was taken had been acknowledged, but for a few on their way when the connection broke.
        assert len(received) < 3_000 + 5 * 51


def test_what_comes_for_a_slow_client_waits_on_disk(tmp_path: Path) -> None:
    with broker(tmp_path, *SMALL) as running:
        slow = keeper(running, receive_maximum=5)
        slow.subscribe("t/#", qos=1)
        publish(running, range(4_000))
        assert metric(running, "lapwing_queue_memory_bytes") < 64 << 10
        assert take(slow, 4_000) == list(range(4_000))


@pytest.mark.parametrize("qos", [1, 2])
def test_a_broker_killed_while_a_queue_is_sent_goes_on_with_it(tmp_path: Path, qos: int) -> None:
    """QoS 1 at least once, QoS 2 once and in order, to a client that remembers."""
    settings = ("broker.shards=2", "limits.log_snapshot_bytes=4KiB", *SMALL)
    restarting = RestartingBroker(tmp_path, *(part for setting in settings for part in ("--set", setting)))
    restarting.start()
    reader = Peer(restarting, "reader").subscribe("t/#", qos)
    reader.client.disconnect()
    reader.end()
    writer = Peer(restarting, "writer")
    serials = set(range(3_000))
    for serial in serials:
        writer.publish("t/x", serial, qos)
    wait_for(restarting, "acknowledgements", lambda: writer.acknowledged >= serials)
    restarting.kill()
    restarting.start()
    reader.client.reconnect()
    reader.client.loop_start()
    for target in (500, 1_500):
        wait_for(restarting, "progress", lambda target=target: len(set(reader.received)) >= target)
        restarting.kill()
        restarting.start()
    wait_for(restarting, "the rest", lambda: set(reader.received) >= serials)
    reader.end()
    writer.end()
    restarting.kill()
    first_times = list(dict.fromkeys(reader.received))
    assert first_times == sorted(serials)
    if qos == 2:
        assert reader.received == sorted(serials)


def test_bounds_count_what_is_on_disk_before_and_after_a_start(tmp_path: Path) -> None:
    settings = ("limits.queue_messages_max=1000000", "limits.queue_bytes_max=512KiB")
    with broker(tmp_path, *settings) as running:
        subscribe(running, 1)
        publish(running, range(600), width=1_000)
        dropped = 'lapwing_messages_dropped_total{reason="queue_full"}'
        kept = 600 - metric(running, dropped)
        assert 400 < kept < 500
        running.process.kill()
    with broker(tmp_path, *settings) as running:
        publish(running, range(600, 900), width=1_000)
        assert 250 < metric(running, dropped) <= 300
        client = keeper(running)
        first = take(client, 1)[0]
        assert [first, *take(client, 899 - first)] == list(range(first, 900))
        assert 400 < 900 - first < 500


def test_memory_does_not_follow_what_waits(tmp_path: Path) -> None:
    count, width = 150_000, 1_000
    # Buffers grow to what the rate asks for, tens of megabytes, and stay: in the first third, as the rest shows.
    first, rest = range(count // 3), range(count // 3, count)
    allowed_bytes = len(rest) * width / 3
    settings = ("limits.queue_memory_bytes=8MiB", *SMALL[1:])
    with broker(tmp_path, *settings) as running:
        subscribe(running, 1)
        publish(running, first, width=width)
        before = resident_bytes(running)
        publish(running, rest, width=width)
        assert poll(lambda: metric(running, "lapwing_queue_paged_messages") == count)
        assert resident_bytes(running) - before < allowed_bytes
        running.process.kill()
    with broker(tmp_path, *settings) as running:
        client = keeper(running)
        assert take(client, len(first)) == list(first)
        before = resident_bytes(running)
        assert take(client, len(rest)) == list(rest)
        assert resident_bytes(running) - before < allowed_bytes


def test_damage_in_what_waits_stops_the_broker_and_names_the_place(tmp_path: Path) -> None:
    with broker(tmp_path, *SMALL) as running:
        subscribe(running, 1)
        publish(running, range(100))
        (segment,) = (tmp_path / "log").glob("*.log")
        at = segment.read_bytes().index(b"%0100d" % 50)
        with segment.open("r+b") as file:
            file.seek(at)
            file.write(b"damage")
        # What waits is read while the CONNACK waits for the disk: the broker may end before it has answered.
        client = Client(running.url, client_id="keeper", clean_start=False, session_expiry_s=3_600)
        with suppress(LapwingError):
            client.connect()
        assert running.process.wait(DEADLINE_S) != 0
        assert running.end(None) != 0
        assert segment.name in "".join(running.errors), running.errors
        client.abort()
