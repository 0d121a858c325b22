"""A broker that is asked something while it drains."""

from __future__ import annotations

import threading
from contextlib import suppress

from wire import CONNACK, Wire, connect, publish, until

import lapwing


def test_a_broker_that_drains_answers_meanwhile() -> None:
    """A reader that takes nothing holds the drain up; readiness and metrics must not wait for it."""
    broker = lapwing.Broker(shards=1, limits={"output_high_bytes": 50_000_000, "output_bytes_max": 60_000_000}).start()
    with Wire(broker.url, receive_buffer_bytes=4096) as reader, Wire.client(broker.url, "w") as writer:
        reader.send(connect("r"))
        reader.expect(CONNACK)
        reader.subscribe("t")
        for _ in range(200):
            writer.send(publish("t", b"x" * 100_000))
        writer.round_trip()

        def stop() -> None:
            with suppress(lapwing.LapwingError):
                broker.stop(drain_s=30)

        drain = threading.Thread(target=stop)
        drain.start()
        until(lambda: not broker.ready)
        broker.metrics_text()
        assert drain.is_alive(), "it answered when the drain was over"
    drain.join()
