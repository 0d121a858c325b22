"""Topics that are kept in memory alone, beside those on disk: what is there after a kill?"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
import wire
from commands import RunningBroker
from test_sessions_killed import is_silent, kept, publish, take, take_all
from web import get

from lapwing import Broker, Client

DEADLINE_S = 30.0
CONFIG = """\
[groups.crew]
filters = ["jobs/#"]

[topics."+/fast/#"]
durability = "memory"

[topics."+/fast/+/alarm"]
durability = "disk"
"""
IN_MEMORY = "lapwing_messages_in_memory_total"


def start(folder: Path, shards: int, config: str = CONFIG) -> RunningBroker:
    """A broker on this folder with these tables."""
    file = folder / "lapwing.toml"
    file.write_text(config)
    settings = ("--config", str(file), "--set", f"broker.shards={shards}")
    return RunningBroker(folder / "data", *settings).wait_until_ready()


def group_member(running: RunningBroker) -> Client:
    """Somebody who takes what waits in the group."""
    client = Client(running.url, client_id="worker").connect()
    client.subscribe("$share/crew/jobs/#", qos=1)
    return client


@pytest.mark.parametrize("shards", [1, 3])
def test_what_a_rule_keeps_in_memory_is_gone_and_nothing_else(tmp_path: Path, shards: int) -> None:
    """A session, a group and the retained table, killed: is what is on disk there, in order, and the rest gone?"""
    with start(tmp_path, shards) as running:
        kept(running).subscribe("t/#", qos=2)
        for n in range(20):
            publish(running, "t/slow", f"slow-{n}")
            publish(running, "t/fast/1", f"fast-{n}")
            publish(running, "t/fast/1/alarm", f"alarm-{n}")
        publish(running, "t/fast/1", "twice", qos=2)
        publish(running, "jobs/slow", "job")
        publish(running, "jobs/fast/1", "lost")
        publish(running, "r/slow", "value", retain=True)
        publish(running, "r/fast/1", "lost", retain=True)
        publish(running, "r/fast/1", "lost-too", retain=True, qos=0)
        running.process.kill()
    with start(tmp_path, shards) as running:
        with group_member(running) as worker:
            assert take_all(worker) == ["job"]
        client = kept(running)
        assert client.session_present
        came = take_all(client)
        assert [one for one in came if one.startswith("slow")] == [f"slow-{n}" for n in range(20)]
        assert [one for one in came if one.startswith("alarm")] == [f"alarm-{n}" for n in range(20)]
        assert sorted(set(came) - {f"{kind}-{n}" for kind in ("slow", "alarm") for n in range(20)}) == ["twice"]
        client.subscribe("r/#", qos=1)
        assert (take(client, 1), take_all(client)) == (["value"], [])


@pytest.mark.parametrize("shards", [1, 2])
def test_without_a_crash_both_arrive(tmp_path: Path, shards: int) -> None:
    """Each topic in its order, to a client that was away and to a member that was: and are they counted?"""
    topics = {"t/fast/#": {"durability": "memory"}, "jobs/fast/#": {"durability": "memory"}}
    groups = {"crew": {"filters": ["jobs/#"]}}
    with Broker(data=tmp_path, topics=topics, groups=groups, shards=shards) as broker:
        away(broker, "t/#")
        numbers = [str(n) for n in range(50)]
        with Client(broker.url, client_id="publisher") as publisher:
            for number in numbers:
                for topic in ("t/fast/1", "t/slow", "jobs/fast/1"):
                    publisher.publish(topic, number, qos=1)
            publisher.flush()
        assert broker.metrics()[IN_MEMORY] == 100
        with Client(broker.url, client_id="keeper", clean_start=False, session_expiry_s=60) as client:
            came = by_topic(client, 100)
        assert came == {"t/fast/1": numbers, "t/slow": numbers}
        with Client(broker.url, client_id="worker") as worker:
            worker.subscribe("$share/crew/jobs/#", qos=1)
            assert by_topic(worker, 50) == {"jobs/fast/1": numbers}


def away(broker: Broker, topic_filter: str) -> None:
    """A client subscribes in a session that stays, and goes."""
    with Client(broker.url, client_id="keeper", clean_start=False, session_expiry_s=60) as client:
        client.subscribe(topic_filter, qos=1)


def by_topic(client: Client, count: int) -> Mapping[str, list[str]]:
    """The payloads of the next messages, by topic."""
    came: dict[str, list[str]] = {}
    for _ in range(count):
        message = client.receive(DEADLINE_S)
        assert message, came
        came.setdefault(message.topic, []).append(message.payload.decode())
    return came


def test_an_older_value_on_disk_does_not_come_back(tmp_path: Path) -> None:
    """A topic that had its retained message on disk: after a newer one in memory and a kill, is there none at all?"""
    with start(tmp_path, 2, "") as running:
        publish(running, "r/fast/1", "old", retain=True)
        running.process.kill()
    with start(tmp_path, 2) as running:
        publish(running, "r/fast/1", "new", retain=True)
        running.process.kill()
    with start(tmp_path, 2) as running, Client(running.url) as client:
        client.subscribe("r/#", qos=1)
        assert take_all(client) == []


def test_rules_are_read_again_and_nothing_overtakes(tmp_path: Path) -> None:
    """Messages of a topic wait on disk when a rule for it comes: do those behind them stay behind, over a kill too?"""
    numbers = [str(n) for n in range(30)]
    with start(tmp_path, 2, "") as running:
        kept(running).disconnect()
        with kept(running) as client:
            client.subscribe("t/#", qos=1)
        publish(running, "t/fast/1", *numbers[:10])
        (tmp_path / "lapwing.toml").write_text(CONFIG)
        running.process.send_signal(signal.SIGHUP)
        wire.until(lambda: in_memory_after_one(running, "other/fast/1"))
        publish(running, "t/fast/1", *numbers[10:20])
        running.process.kill()
    with start(tmp_path, 2) as running:
        publish(running, "t/fast/1", *numbers[20:])
        with kept(running) as client:
            assert take(client, 30) == numbers
            assert is_silent(client)
            # Behind the acknowledgements on the same connection: when this is on disk, they are.
            client.unsubscribe("own/probe")
        publish(running, "t/fast/1", "lost")
        running.process.kill()
    with start(tmp_path, 2) as running:
        assert take_all(kept(running)) == []


def in_memory_after_one(running: RunningBroker, topic: str) -> bool:
    """Whether a message of a topic is counted as one in memory alone."""
    before = get(f"{running.http}/metrics").text
    publish(running, topic, "x")
    after = get(f"{running.http}/metrics").text
    return line_of(before) != line_of(after)


def line_of(metrics: str) -> str:
    """What the counter says."""
    return next(line for line in metrics.splitlines() if line.startswith(f"{IN_MEMORY} "))
