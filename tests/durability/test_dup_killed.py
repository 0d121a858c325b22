"""Which QoS 1 messages go with DUP when the broker was killed: those that may have been sent before, and no others."""

from __future__ import annotations

import struct
from pathlib import Path

import wire
from test_sessions_killed import broker, publish

STAYS = b"\x11" + struct.pack("!I", 3_600)


def receive(client: wire.Wire, payload: bytes, *, dup: bool) -> None:
    """The next message, which is not acknowledged."""
    message = client.expect(wire.PUBLISH, 30.0)
    assert (message.payload, bool(message.first & 8)) == (payload, dup)


def test_dup_tells_what_may_have_been_sent_however_often_the_broker_dies(tmp_path: Path) -> None:
    """One message was sent before the first kill; two came while the client was away, and are sent before the last."""
    with broker(tmp_path) as running:
        client = wire.Wire.client(running.url, "keeper", clean=False, properties=STAYS)
        client.subscribe(("t", 1))
        publish(running, "t", "sent")
        receive(client, b"sent", dup=False)
        running.process.kill()
    client.close()
    for payload in ("missed", "missed too"):
        with broker(tmp_path) as running:
            publish(running, "t", payload)
            running.process.kill()
    with broker(tmp_path) as running:
        client = wire.Wire.client(running.url, "keeper", clean=False, properties=STAYS)
        receive(client, b"sent", dup=True)
        receive(client, b"missed", dup=False)
        receive(client, b"missed too", dup=False)
        running.process.kill()
    client.close()
    with broker(tmp_path) as running, wire.Wire.client(running.url, "keeper", clean=False, properties=STAYS) as client:
        for payload in ("sent", "missed", "missed too"):
            receive(client, payload.encode(), dup=True)
