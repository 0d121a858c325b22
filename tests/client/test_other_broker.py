"""Consumers and publishers on Mosquitto: nothing of Lapwing's is needed, reports are ignored."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from threads import Threads

from lapwing.client import Consumer, Delivery, Publisher, Requester
from lapwing.lab.ports import free_port


@pytest.fixture(scope="module")
def mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Mosquitto of its own; `make interop-clients` installs it."""
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    assert Path(program).exists(), "mosquitto is missing: run `make interop-clients`, which installs it"
    port = free_port()
    settings = tmp_path_factory.mktemp("mosquitto") / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nlog_type none\n")
    process = subprocess.Popen([program, "-c", str(settings)])
    while True:
        assert process.poll() is None, "mosquitto ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            continue
    yield f"tcp://127.0.0.1:{port}"
    process.terminate()
    process.wait(30)


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("qos", [1, 2])
def test_a_group_takes_everything(
    mosquitto: str, version: int, qos: int, pool: Threads, until: Callable[[Callable[[], bool]], None]
) -> None:
    """Two members with small marks, so that many reports go: is all done once, and do the connections stand?"""
    count = 200
    done: list[int] = []
    topic = f"work/{version}/{qos}"
    consumers = [
        Consumer(mosquitto, topic, group="g", qos=qos, version=version, workers=2, high=10, low=2, probe_ms=100)
        for _ in range(2)
    ]
    for consumer in consumers:
        consumer.connect()
    running = [pool.submit(each.run, lambda message: done.append(int(message.payload))) for each in consumers]
    with Publisher(mosquitto, version=version) as publisher:
        for number in range(count):
            publisher.publish(topic, b"%d" % number, qos=qos)
        publisher.flush()
        try:
            until(lambda: len(done) >= count)
        finally:
            for consumer in consumers:
                consumer.close(30.0)
    [each.result(30.0) for each in running]
    assert sorted(done) == list(range(count))
    assert {consumer.counters.connections for consumer in consumers} == {1}


def test_request_and_reply(mosquitto: str, pool: Threads) -> None:
    with Consumer(mosquitto, "echo") as consumer, Requester(mosquitto) as requester:

        def reply(message: Delivery) -> None:
            consumer.reply(message, message.payload[::-1])

        running = pool.submit(consumer.run, reply)
        assert requester.request("echo", "abc", timeout_s=30.0).payload == b"cba"
        consumer.close()
        running.result(30.0)
