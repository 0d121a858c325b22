"""Messages per second without hooks, with a hook that is not for messages, and with one that passes each of them.

`python benches/hooks.py [seconds]`: two publishers at QoS 0 and one broker in this process.
"""

from __future__ import annotations

import sys
import threading
import time

import lapwing
from lapwing.hooks import Connect, Hooks, Message

PAYLOAD = bytes(32)
BATCH = 256


class Doorman(Hooks):
    """Nothing to do with messages."""

    def on_connect(self, connect: Connect) -> None:
        """Lets everybody in."""


class PassThrough(Hooks):
    """Sees every message."""

    def on_publish(self, message: Message) -> None:
        """Passes it."""


def publish(url: str, stop: threading.Event) -> None:
    """Publishes as fast as the broker takes it."""
    with lapwing.Client(url) as client:
        while not stop.is_set():
            for _ in range(BATCH):
                client.publish("bench/topic", PAYLOAD, hold=True)
            client.flush()


def rate(hooks: Hooks | None, seconds: float) -> float:
    """Messages that the broker took per second, after a second of warming up."""
    stop = threading.Event()
    with lapwing.Broker(hooks=hooks, hook_settings={"timeout": "30s"}) as broker:
        threads = [threading.Thread(target=publish, args=(broker.url, stop)) for _ in range(2)]
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
