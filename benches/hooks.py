"""Messages per second without hooks, with a hook that is not for messages, and with one that passes each of them.

`python benches/hooks.py [seconds]`: two publishers at QoS 0 and one broker in this process.
"""

from __future__ import annotations

import socket
import sys
import threading
import time

import lapwing
from lapwing.hooks import Connect, Hooks, Message

TOPIC, PAYLOAD = b"bench/topic", bytes(32)
BATCH = 1024


class Doorman(Hooks):
    """Nothing to do with messages."""

    def on_connect(self, connect: Connect) -> None:
        """Lets everybody in."""


class PassThrough(Hooks):
    """Sees every message."""

    def on_publish(self, message: Message) -> None:
        """Passes it."""


def publish(url: str, client_id: str, stop: threading.Event) -> None:
    """Publishes as fast as the broker takes it: packets made beforehand, so that this process measures the broker."""
    host, _, port = url.removeprefix("tcp://").rpartition(":")
    name = client_id.encode()
    connect = b"\x00\x04MQTT\x04\x02\x00\x00" + len(name).to_bytes(2) + name
    body = len(TOPIC).to_bytes(2) + TOPIC + PAYLOAD
    packets = (b"\x30" + bytes([len(body)]) + body) * BATCH
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"\x10" + bytes([len(connect)]) + connect)
        while not stop.is_set():
            connection.sendall(packets)


def rate(hooks: Hooks | None, seconds: float) -> float:
    """Messages that the broker took per second, after a second of warming up."""
    stop = threading.Event()
    with lapwing.Broker(hooks=hooks, hook_settings={"timeout": "30s"}) as broker:
        threads = [threading.Thread(target=publish, args=(broker.url, f"bench-{n}", stop)) for n in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        before, begun = received(broker), time.monotonic()
        time.sleep(seconds)
        after, took = received(broker), time.monotonic() - begun
        stop.set()
        for thread in threads:
            thread.join()
    return (after - before) / took


def received(broker: lapwing.Broker) -> float:
    """Messages received so far."""
    return broker.metrics()['lapwing_messages_received_total{qos="0"}']


def main() -> None:
    """Prints the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    rows = [("no hooks", None), ("on_connect only", Doorman()), ("on_publish that passes", PassThrough())]
    rates = [(name, rate(hooks, seconds)) for name, hooks in rows]
    print(f"{'hooks':<24} {'messages/s':>12} {'ratio':>7}")
    for name, figure in rates:
        print(f"{name:<24} {figure:>12,.0f} {figure / rates[0][1]:>7.3f}")


if __name__ == "__main__":
    main()
