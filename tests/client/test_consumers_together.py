"""Consumers on a real broker: members that die, a buffer that holds back, batches, draining, reconnecting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from restarting import RestartingBroker
from threads import Threads

from lapwing import Broker
from lapwing.client import AsyncConsumer, Consumer, Delivery, Publisher

TIMEOUT_S = 30.0
Until = Callable[[Callable[[], bool]], None]

HOLDER = """
import sys
from lapwing.client import Consumer
for message in Consumer(sys.argv[1], "work", group="killed"):
    print(message.payload.decode(), flush=True)
    sys.stdin.read()
"""

HOLDER_ALONE = """
import sys
from lapwing.client import Consumer
with Consumer(sys.argv[1], "alone", client_id="alone", session_expiry_s=60) as consumer:
    print("connected", flush=True)
    print(next(iter(consumer)).payload.decode(), flush=True)
    sys.stdin.read()
"""


def test_a_killed_member_loses_nothing(broker: Broker) -> None:
    """A member has taken a message and is killed: does another get it, and everything else it had?"""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, broker.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with Publisher(broker.url) as publisher, holder:
        # The first thing it prints is a message in its hands.
        assert holder.stdout is not None
        held = threading.Event()

        def offer() -> None:
            number = 0
            while not held.wait(0.05):
                publisher.publish("work", f"early{number}")
                number += 1

        offering = threading.Thread(target=offer)
        offering.start()
        first = holder.stdout.readline().strip()
        held.set()
        offering.join()
        with Consumer(broker.url, "work", group="killed") as other:
            for number in range(20):
                publisher.publish("work", str(number))
            publisher.flush()
            holder.kill()
            expected = {first, *map(str, range(20))}
            got: set[str] = set()
            for message in other.messages(timeout_s=30.0):
                got.add(message.payload.decode())
                if expected <= got:
                    break
            assert expected <= got


def test_a_killed_consumer_gets_its_message_again(broker: Broker) -> None:
    """Killed with a message in its hands: does whoever comes under its name get it, marked as a repeat?"""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER_ALONE, broker.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with Publisher(broker.url) as publisher, process:
        assert process.stdout is not None
        assert process.stdout.readline() == "connected\n"
        publisher.publish("alone", b"1")
        assert process.stdout.readline() == "1\n"
        process.kill()
        with Consumer(broker.url, "alone", client_id="alone", session_expiry_s=0) as again:
            message = next(iter(again))
        assert (message.payload, message.dup) == (b"1", True)


@pytest.mark.parametrize("qos", [0, 1])
def test_what_waits_is_bounded(broker: Broker, pool: Threads, until: Until, qos: int) -> None:
    """Far more comes than the marks allow: does no more than that wait here, and does all arrive in the end?"""
    count, payload = 3000, bytes(1000)
    begin = threading.Event()
    seen = [0, 0]
    consumer = Consumer(broker.url, f"flood/{qos}", qos=qos, high=20, low=5, receive_maximum=1000).connect()

    def work(_: Delivery) -> None:
        assert begin.wait(30.0)
        counters = consumer.counters
        seen[0] = max(seen[0], counters.waiting)
        seen[1] += 1

    running = pool.submit(consumer.run, work)
    with Publisher(broker.url) as publisher:
        for _ in range(count):
            publisher.publish(f"flood/{qos}", payload, qos=qos)
        publisher.flush()
        until(lambda: consumer.counters.is_high)
        assert consumer.counters.waiting <= 20
        assert consumer.counters.waiting_bytes <= 20 * 1010
        begin.set()
        until(lambda: seen[1] == count)
    assert seen[0] <= 20
    assert consumer.counters.dropped == 0
    consumer.close()
    running.result(30.0)


def test_batches(broker: Broker) -> None:
    """Are they full when much waits, cut by time when little does, and acknowledged?"""
    with Consumer(broker.url, "batches", batch=100) as consumer, Publisher(broker.url) as publisher:
        for number in range(250):
            publisher.publish("batches", b"%d" % number)
        publisher.flush()
        sizes, numbers = [], []
        for batch in consumer.batches(max=100, wait_ms=2_000):
            sizes.append(len(batch))
            numbers += [int(message.payload) for message in batch]
            if len(numbers) == 250:
                break
        assert numbers == list(range(250))
        assert max(sizes) <= 100
        assert len(sizes) <= 6
    assert consumer.counters.processed == 250


def test_close_finishes_what_is_here(broker: Broker, pool: Threads, until: Until) -> None:
    """Closed with messages in work and waiting: all of them are worked on and acknowledged, none comes again."""
    done: list[bytes] = []
    begin = threading.Event()
    consumer = Consumer(broker.url, "drain", workers=3, client_id="drain", session_expiry_s=60).connect()

    def work(message: Delivery) -> None:
        assert begin.wait(30.0)
        done.append(message.payload)

    running = pool.submit(consumer.run, work)
    with Publisher(broker.url) as publisher:
        for number in range(50):
            publisher.publish("drain", b"%d" % number)
    until(lambda: (consumer.counters.received, consumer.counters.working) == (50, 3))
    closing = pool.submit(consumer.close)
    begin.set()
    closing.result(30.0)
    running.result(30.0)
    assert sorted(map(int, done)) == list(range(50))
    with Consumer(broker.url, "drain", client_id="drain", session_expiry_s=0) as again:
        assert list(again.messages(timeout_s=0.3)) == []


def test_a_loop_left_by_an_error_leaves_its_message(broker: Broker) -> None:
    def loop() -> None:
        with Consumer(broker.url, "left", client_id="left", session_expiry_s=60) as consumer:
            with Publisher(broker.url) as publisher:
                publisher.publish("left", b"1"), publisher.publish("left", b"2")
            for message in consumer:
                if message.payload == b"2":
                    raise ValueError("half done")

    with pytest.raises(ValueError, match="half done"):
        loop()
    with Consumer(broker.url, "left", client_id="left", session_expiry_s=0) as again:
        message = next(iter(again))
        assert (message.payload, message.dup) == (b"2", True)


def test_a_consumer_comes_back(restarting: RestartingBroker, until: Until) -> None:
    """The broker is killed and started again: does the consumer go on, with what it had not answered?"""
    consumer = Consumer(restarting.url, "t/#", group="g", back_off_s=(0.02, 0.2))
    with consumer, Publisher(restarting.url, back_off_s=(0.02, 0.2), timeout_s=60.0) as publisher:
        messages = consumer.messages(timeout_s=60.0)
        publisher.publish("t/a", b"before")
        assert next(messages).payload == b"before"
        # Else it would be sent again, as it should.
        publisher.flush()
        restarting.kill()
        until(lambda: consumer.counters.phase == "away")
        restarting.start()
        until(lambda: consumer.counters.phase == "up")
        publisher.publish("t/a", b"after")
        # A message is answered when the next one is asked for, and the group keeps it until then.
        assert [next(messages).payload for _ in range(2)] == [b"before", b"after"]
        # On a busy machine the group may take it for a member that stalls, and send it away once more.
        assert consumer.counters.connections >= 2


def test_async_consumer(broker: Broker) -> None:
    """One by one, by handlers that overlap, in batches; and draining at the end."""

    async def consume() -> None:
        async with AsyncConsumer(broker.url, "tasks/#", workers=4, batch=50) as consumer:
            with Publisher(broker.url) as publisher:
                for number in range(300):
                    publisher.publish("tasks/x", b"%d" % number)
            one_by_one = []
            async for message in consumer:
                one_by_one.append(int(message.payload))
                if len(one_by_one) == 100:
                    await consumer.done(message)
                    break
            async for batch in consumer.batches(wait_ms=20):
                one_by_one += [int(message.payload) for message in batch]
                if len(one_by_one) >= 200:
                    await consumer.done(*batch)
                    break
            assert one_by_one == list(range(len(one_by_one)))
            overlap, most, rest = 0, 0, []

            async def work(message: Delivery) -> None:
                nonlocal overlap, most
                overlap += 1
                most = max(most, overlap)
                await asyncio.sleep(0.001)
                overlap -= 1
                rest.append(int(message.payload))
                if len(one_by_one) + len(rest) == 300:
                    asyncio.get_running_loop().call_soon(closing.set)

            closing = asyncio.Event()
            running = asyncio.create_task(consumer.run(work))
            await asyncio.wait_for(closing.wait(), 30.0)
            await consumer.close()
            await running
            assert sorted(one_by_one + rest) == list(range(300))
            assert most == 4
            assert consumer.counters.processed == 300

    asyncio.run(consume())


def test_a_message_is_done_by_who_took_it_alone(broker: Broker) -> None:
    """Two connections have the same packet ids: another's message would be acknowledged, and never come again."""

    def other_consumer() -> Consumer:
        return Consumer(broker.url, "other", report=False, client_id="other", session_expiry_s=60)

    with Consumer(broker.url, "one", report=False) as one, Publisher(broker.url) as publisher:
        with other_consumer() as other:
            for topic in ("one", "other"):
                publisher.publish(topic, topic)
            publisher.flush()
            ours, theirs = next(one.messages(TIMEOUT_S)), next(other.messages(TIMEOUT_S))
            other.done(ours)
            assert (other.counters.processed, other.counters.late, other.counters.working) == (0, 1, 1)
            one.done(ours)
            assert (one.counters.processed, one.counters.working) == (1, 0)
            other.abort()
        with other_consumer() as other:
            assert next(other.messages(TIMEOUT_S)).payload == theirs.payload
