"""A client library for MQTT brokers.

Rules:

- The protocol is Rust's (``lapwing._core.Client``, on the broker's own codec); this package gives it types,
  errors of the ``LapwingError`` tree and Python's manners (``with``, iteration).
- Everything that waits takes a timeout in seconds.
- A message counts as received when the caller takes it: QoS 1 and 2 are acknowledged then, not before.
  What the process holds when it dies comes again.

::

    with Client("tcp://127.0.0.1:1883") as client:
        client.subscribe(["spectrum/+/readings"], qos=1)
        for message in client.messages(timeout_s=5.0):
            print(message.topic, message.payload)
"""

from __future__ import annotations

from lapwing.client.client import Client
from lapwing.client.message import Message
from lapwing.client.will import Will

__all__ = ["Client", "Message", "Will"]
