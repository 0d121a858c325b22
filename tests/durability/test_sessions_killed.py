"""The broker is killed and started again: what of sessions and retained messages was promised is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import RunningBroker
from web import get
from wire import name_on

from lapwing import Client
from lapwing.client import Will

SHARDS = pytest.mark.parametrize("shards", [1, 3])
DEADLINE_S = 30.0


@contextmanager
def broker(data: Path, shards: int = 2, *settings: str) -> Iterator[RunningBroker]:
    """A broker on this folder; killed when the block is left."""
    flags = [part for setting in (f"broker.shards={shards}", *settings) for part in ("--set", setting)]
    with RunningBroker(data, *flags).wait_until_ready() as running:
        yield running


def kept(running: RunningBroker, name: str = "keeper", *, expiry_s: int = 3_600, version: int = 5) -> Client:
    """A client that goes on with its session, or begins one that stays."""
    return Client(
        running.url,
        client_id=name,
        clean_start=False,
        session_expiry_s=expiry_s if version == 5 else 0,
        version=version,
    ).connect()


def publish(running: RunningBroker, topic: str, *payloads: str, qos: int = 1, retain: bool = False) -> None:
    """Publishes; returns when all are acknowledged."""
    with Client(running.url, client_id="publisher") as client:
        for payload in payloads:
            client.publish(topic, payload, qos=qos, retain=retain)
        client.flush()


def take(client: Client, count: int) -> list[str]:
    """The payloads of the next messages."""
    payloads = []
    for _ in range(count):
        message = client.receive(DEADLINE_S)
        assert message, f"only {len(payloads)} of {count} came"
        payloads.append(message.payload.decode())
    return payloads


def is_silent(client: Client) -> bool:
    """Whether nothing waits for a client: what it publishes to itself now comes first."""
    client.subscribe("own/probe", qos=1)
    client.publish("own/probe", "probe", qos=1)
    message = client.receive(DEADLINE_S)
    return message is not None and message.topic == "own/probe"


@SHARDS
@pytest.mark.parametrize("qos", [1, 2])
def test_what_waits_for_a_client_is_there_in_order(tmp_path: Path, shards: int, qos: int) -> None:
    numbers = [str(number) for number in range(500)]
    with broker(tmp_path, shards) as running:
        kept(running).subscribe("t/#", qos=qos)
        publish(running, "t/a", *numbers, qos=qos)
        running.process.kill()
    with broker(tmp_path, shards) as running:
        client = kept(running)
        assert client.session_present
        assert take(client, len(numbers)) == numbers
        assert is_silent(client)


def test_another_number_of_shards_finds_the_same(tmp_path: Path) -> None:
    with broker(tmp_path, 3) as running:
        for name in "abcdefgh":
            with kept(running, name) as client:
                client.subscribe(f"t/{name}", qos=1)
            publish(running, f"t/{name}", name)
        publish(running, "retained/x", "r", retain=True)
    with broker(tmp_path, 2) as running:
        for name in "abcdefgh":
            with kept(running, name) as client:
                assert client.session_present
                assert take(client, 1) == [name]
                client.subscribe("retained/#")
                assert take(client, 1) == ["r"]


@SHARDS
def test_subscriptions_are_there_and_those_cancelled_are_not(tmp_path: Path, shards: int) -> None:
    with broker(tmp_path, shards) as running, kept(running) as client:
        client.subscribe(["stays/#", "goes/#"], qos=1)
        client.unsubscribe("goes/#")
        running.process.kill()
    with broker(tmp_path, shards) as running:
        publish(running, "goes/1", "no")
        publish(running, "stays/1", "yes")
        client = kept(running)
        assert client.session_present
        assert take(client, 1) == ["yes"]
        assert is_silent(client)


def test_what_was_acknowledged_does_not_come_again(tmp_path: Path) -> None:
    """A client that has said so, and whose word the disk has heard, gets nothing twice."""
    with broker(tmp_path) as running:
        client = kept(running)
        client.subscribe("t/#", qos=1)
        publish(running, "t", "1", "2", "3")
        assert take(client, 3) == ["1", "2", "3"]
        # Behind the acknowledgements on the same connection: when this is on disk, they are.
        assert is_silent(client)
        client.unsubscribe("own/probe")
        running.process.kill()
    with broker(tmp_path) as running:
        client = kept(running)
        assert client.session_present
        assert is_silent(client)


@SHARDS
def test_retained_messages_are_there_and_those_cleared_are_not(tmp_path: Path, shards: int) -> None:
    with broker(tmp_path, shards) as running:
        for number in range(20):
            publish(running, f"r/{number}", "old", retain=True)
            publish(running, f"r/{number}", str(number), retain=True)
        publish(running, "r/3", "", retain=True)
        running.process.kill()
    with broker(tmp_path, shards) as running, Client(running.url) as client:
        client.subscribe("r/#", qos=1)
        assert sorted(take(client, 19), key=int) == [str(number) for number in range(20) if number != 3]
        assert is_silent(client)


@SHARDS
def test_retained_messages_on_their_way_to_a_session_arrive_all_the_same(tmp_path: Path, shards: int) -> None:
    """Given to a slow client with its subscription: they are its own, beside what comes later, each once."""
    with broker(tmp_path, shards) as running:
        for number in range(20):
            publish(running, f"r/{number}", f"r{number}", retain=True)
        slow = Client(
            running.url, client_id="keeper", clean_start=False, session_expiry_s=3_600, receive_maximum=1
        ).connect()
        slow.subscribe("r/#", qos=1)
        publish(running, "r/live", *[f"l{number}" for number in range(20)])
        publish(running, "r/3", "", retain=True)
        running.process.kill()
    with broker(tmp_path, shards) as running:
        client = kept(running)
        expected = [f"{kind}{number}" for kind in "rl" for number in range(20)]
        assert sorted(set(take_all(client))) == sorted([*expected, ""])


def take_all(client: Client) -> list[str]:
    """The payloads of all that waits."""
    client.subscribe("own/probe", qos=1)
    client.publish("own/probe", "probe", qos=1)
    payloads = []
    while (message := client.receive(DEADLINE_S)) and message.topic != "own/probe":
        payloads.append(message.payload.decode())
    assert message, "the probe did not come"
    return payloads


def test_a_clean_start_is_for_ever(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        kept(running).subscribe("t/#", qos=1)
        publish(running, "t", "old")
        Client(running.url, client_id="keeper", clean_start=True).connect()
        running.process.kill()
    with broker(tmp_path) as running:
        assert not kept(running).session_present


def poll(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so in time."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if is_so():
            return True
    return False


def test_a_client_of_3_1_1_finds_its_session(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        kept(running, version=4).subscribe("t/#", qos=1)
        publish(running, "t", "waits")
        running.process.kill()
    with broker(tmp_path) as running:
        client = kept(running, version=4)
        assert client.session_present
        assert take(client, 1) == ["waits"]


@pytest.mark.parametrize("expiry_s", [0, 3_600])
def test_the_wills_of_clients_that_were_here_go_out(tmp_path: Path, expiry_s: int) -> None:
    """The crash was the end of their connections, and perhaps of their sessions. Each goes out once, and to who is kept
    by the other shard too: not before every shard knows of all subscriptions."""
    names = [name_on(n % 2, 2, f"sensor-{n}-") for n in range(20)]
    with broker(tmp_path) as running:
        kept(running, "guard").subscribe("wills/#", qos=1)
        sensors = [
            Client(
                running.url, client_id=name, session_expiry_s=expiry_s, will=Will("wills/sensor", name.encode(), qos=1)
            ).connect()
            for name in names
        ]
        for sensor in sensors:
            # On one connection in order, and the answer waits for the disk.
            sensor.publish("wills/marker", "marker", qos=1)
        for sensor in sensors:
            sensor.flush()
        running.process.kill()
    with broker(tmp_path) as running:
        guard = kept(running, "guard")
        assert sorted(take(guard, 2 * len(names))) == sorted([*names, *["marker"] * len(names)])
        assert is_silent(guard)
        running.process.kill()
    with broker(tmp_path) as running:
        assert is_silent(kept(running, "guard"))


def test_properties_and_identifiers_come_back(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        kept(running).subscribe("t/#", qos=1, subscription_id=7)
        with Client(running.url) as client:
            client.publish(
                "t/a", b"\x00\xff", qos=1, user_properties=[("k", "v")], content_type="x/y", message_expiry_s=3_600
            )
            client.flush()
        running.process.kill()
    with broker(tmp_path) as running:
        message = kept(running).receive(DEADLINE_S)
        assert message
        assert (message.payload, message.user_properties, message.content_type) == (b"\x00\xff", [("k", "v")], "x/y")
        assert message.subscription_ids == [7]
        assert 0 < (message.message_expiry_s or 0) <= 3_600


def test_a_start_reads_snapshots_and_what_came_behind(tmp_path: Path) -> None:
    numbers = [f"{number:01000}" for number in range(600)]
    with broker(tmp_path, 2, "limits.log_snapshot_bytes=4KiB") as running:
        kept(running).subscribe("t/#", qos=1)
        publish(running, "t/a", *numbers[:400])
        publish(running, "r/a", "retained", retain=True)
        snapshots = tmp_path / "log" / "snapshots"
        assert poll(lambda: any(snapshots.glob("*.snap")))
        publish(running, "t/a", *numbers[400:])
        running.process.kill()
    with broker(tmp_path) as running:
        client = kept(running)
        assert take(client, len(numbers)) == numbers
        client.subscribe("r/#")
        assert take(client, 1) == ["retained"]


def test_in_memory_nothing_is_promised(tmp_path: Path) -> None:
    for _ in range(2):
        with RunningBroker(tmp_path, "--set", "broker.durability=memory").wait_until_ready() as running:
            client = kept(running)
            assert not client.session_present
            client.subscribe("t/#", qos=1)
            publish(running, "t", "1")
            running.process.kill()


def test_disk_use_follows_what_is_live(tmp_path: Path) -> None:
    """Messages that were delivered and acknowledged leave the disk, those that wait stay."""
    segment_bytes = 64 << 20
    with broker(tmp_path, 1, "limits.log_snapshot_bytes=256KiB", "limits.packet_bytes_max=1MiB") as running:
        with kept(running, "sleeper") as sleeper:
            sleeper.subscribe("rare/#", qos=1)
        reader = kept(running, "reader")
        reader.subscribe("often/#", qos=1)
        publish(running, "rare/1", "waits")
        body = "x" * 500_000
        for _ in range(24):
            publish(running, "often/1", *[body] * 20)
            assert take(reader, 20) == [body] * 20
        # A segment to write to, the next one, the reserve; a fourth is there only for a moment.
        assert poll(lambda: bytes_of(tmp_path / "log") < 4 * segment_bytes)
        # Behind the acknowledgements on the same connection: when this is on disk, they are.
        assert is_silent(reader)
        reader.unsubscribe("own/probe")
        running.process.kill()
    with broker(tmp_path, 1) as running:
        assert take(kept(running, "sleeper"), 1) == ["waits"]
        assert is_silent(kept(running, "reader"))


def bytes_of(folder: Path) -> int:
    """Bytes of all files in a folder and below."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:  # it has just gone
            continue
    return total


def test_what_an_operator_has_ended_does_not_come_back(tmp_path: Path) -> None:
    """Is an order on disk when it is answered: a session that has ended, and a queue that was emptied?"""
    with broker(tmp_path) as running:
        for name in ("ended", "emptied", "left"):
            with kept(running, name) as client:
                client.subscribe("t", qos=1)
        publish(running, "t", "old")
        ordered = [get(f"{running.http}/v1/{path}", method="DELETE") for path in ("sessions/ended", "queues/emptied")]
        running.process.kill()
        assert [answer.status_code for answer in ordered] == [204, 200]
        assert ordered[1].json()["messages"] == 1
    with broker(tmp_path) as running:
        assert get(f"{running.http}/v1/sessions/ended").status_code == 404
        left = get(f"{running.http}/v1/sessions/left").json()
        assert (left["waiting_messages"], left["is_durable"], len(left["queue"])) == (1, True, 1)
        assert 0 <= left["queue"][0]["age_ms"] < DEADLINE_S * 1000
        with kept(running, "ended") as ended, kept(running, "emptied") as emptied, kept(running, "left") as client:
            assert not ended.session_present
            assert emptied.session_present
            assert is_silent(emptied)
            assert take(client, 1) == ["old"]
