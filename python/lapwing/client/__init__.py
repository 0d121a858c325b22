"""A client library for MQTT brokers.

Rules:

- The protocol is Rust's (``lapwing._core``, on the broker's own codec); this package gives it types, errors of the
  ``LapwingError`` tree and Python's manners (``with``, iteration, ``async``).
- ``Client`` is one connection and no thread: for commands, tests, scripts. ``Consumer``, ``Publisher`` and
  ``Requester`` keep theirs on a thread in Rust, which needs no interpreter lock; each has an ``Async`` face.
- Everything that waits takes a timeout in seconds, and every buffer has a limit.
- ``Client``: a message counts as received when the caller takes it. ``Consumer``: when its work is done. What the
  process holds when it dies comes again.

::

    with Consumer("tcp://127.0.0.1:1883", "alarms/#", group="guards") as consumer:
        for message in consumer:
            handle(message.topic, message.payload)
"""

from __future__ import annotations

from lapwing.client.async_consumer import AsyncConsumer
from lapwing.client.async_publisher import AsyncPublisher
from lapwing.client.client import Client
from lapwing.client.consumer import Consumer
from lapwing.client.counters import Counters
from lapwing.client.intake import Delivery
from lapwing.client.message import Message
from lapwing.client.options import ConnectOptions
from lapwing.client.publisher import Publisher
from lapwing.client.requester import AsyncRequester, Requester
from lapwing.client.will import Will

__all__ = [
    "AsyncConsumer",
    "AsyncPublisher",
    "AsyncRequester",
    "Client",
    "ConnectOptions",
    "Consumer",
    "Counters",
    "Delivery",
    "Message",
    "Publisher",
    "Requester",
    "Will",
]
