"""Retained messages are cleared, and what clears them goes to a session that is kept: once, in order, from disk too."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import RunningBroker

from lapwing import Client

TIMEOUT_S = 30.0
TOPICS = [f"t/{number}" for number in range(100)]
"""Topics and sessions belong to sixteen data groups: with so many, some are in that of the session."""
SMALL = ("--set", "limits.queue_memory_bytes=64KiB", "--set", "limits.queue_messages_max=100000")


def keeper(running: RunningBroker) -> Client:
    """The client whose session is kept."""
    return Client(running.url, client_id="keeper", clean_start=False, session_expiry_s=3_600).connect()


def set_and_clear(publisher: Client, qos: int) -> list[tuple[str, bytes]]:
    """Each topic gets a retained message and loses it; returns what that publishes."""
    messages = [(topic, payload) for topic in TOPICS for payload in (b"value", b"")]
    for topic, payload in messages:
        publisher.publish(topic, payload, qos=qos, retain=True)
    publisher.flush()
    return messages


def take(client: Client, count: int) -> list[tuple[str, bytes]]:
    """The next messages."""
    messages = []
    for _ in range(count):
        message = client.receive(TIMEOUT_S)
        assert message, f"only {len(messages)} of {count} came"
        messages.append((message.topic, message.payload))
    return messages


@pytest.mark.parametrize("qos", [1, 2])
@pytest.mark.parametrize("shards", [1, 2])
def test_what_a_session_has_acknowledged_does_not_come_after_a_restart(tmp_path: Path, shards: int, qos: int) -> None:
    """Does an acknowledgement end the message itself, and not the entry before it, by which its topic was cleared?"""
    flags = ("--set", f"broker.shards={shards}")
    with RunningBroker(tmp_path, *flags).wait_until_ready() as running:
        with keeper(running) as client, Client(running.url, client_id="publisher").connect() as publisher:
            client.subscribe("t/#", qos=qos)
            sent = set_and_clear(publisher, qos)
            assert take(client, len(sent)) == sent
        assert running.end() == 0
    with RunningBroker(tmp_path, *flags).wait_until_ready() as running, keeper(running) as client:
        client.publish("t/last", b"last", qos=1)
        assert take(client, 1) == [("t/last", b"last")]


@pytest.mark.parametrize("shards", [1, 2])
def test_a_queue_that_waits_on_disk_is_read_over_them(tmp_path: Path, shards: int) -> None:
    """The broker used to end there: it found the entry that clears a topic where it looked for the message."""
    with RunningBroker(tmp_path, "--set", f"broker.shards={shards}", *SMALL).wait_until_ready() as running:
        with keeper(running) as client:
            client.subscribe("t/#", qos=1)
        with Client(running.url, client_id="publisher", timeout_s=TIMEOUT_S).connect() as publisher:
            numbers = [("t/x", b"%0200d" % number) for number in range(1_000)]
            for topic, payload in numbers[:500]:
                publisher.publish(topic, payload, qos=1)
            cleared = set_and_clear(publisher, 1)
            for topic, payload in numbers[500:]:
                publisher.publish(topic, payload, qos=1)
            publisher.flush()
        with keeper(running) as client:
            assert take(client, len(numbers) + len(cleared)) == [*numbers[:500], *cleared, *numbers[500:]]
        assert running.end() == 0
