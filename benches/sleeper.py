"""A kept session whose client is away while a load fills it; what it gets when it comes back, and how soon."""

from __future__ import annotations

import socket
import struct
import time
from urllib.parse import urlsplit

from benches.brokers import RunningBroker
from benches.load import swarm
from lapwing.client import Client, Consumer

EXPIRY_S = 3600
PUBLISHERS = 50
FILL_PER_S = 150_000
_PUBLISH, _CONNACK = 0x30, 0x20


def fall_asleep(url: str, client_id: str, topic_filter: str) -> None:
    """Leaves a session with one subscription at QoS 1 behind."""
    with Client(url, client_id=client_id, session_expiry_s=EXPIRY_S) as client:
        client.subscribe([topic_filter], qos=1)


def fill(broker: RunningBroker, prefix: str, messages: int, payload_bytes: int, cpus: set[int]) -> int:
    """Publishes about ``messages`` at QoS 1 below ``prefix``; gives how many the broker has taken."""
    seconds = max(messages / FILL_PER_S, 0.5)
    report = swarm(
        "devices",
        broker.url,
        cpus,
        seconds=seconds,
        flags=("--no-spin",),
        publishers=PUBLISHERS,
        payload=payload_bytes,
        qos=1,
        rate=messages / seconds,
        window=1000,
        prefix=prefix,
        drain=60,
    )
    return int(report["acknowledged"])


def first_message_ms(url: str, client_id: str) -> float:
    """From the CONNACK's first byte to the first PUBLISH's, for one who comes back; it acknowledges nothing."""
    place = urlsplit(url)
    with socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=30) as link:
        link.sendall(connect_packet(client_id))
        held = link.recv(1 << 16)
        began = time.perf_counter()
        if held[0] != _CONNACK:
            raise RuntimeError(f"no CONNACK came, but a packet of type {held[0] >> 4}")
        behind = 2 + held[1]
        while len(held) <= behind:
            more = link.recv(1 << 16)
            if not more:
                raise RuntimeError("the broker closed the connection before it sent a message")
            held += more
        took_ms = (time.perf_counter() - began) * 1000
        if held[behind] & 0xF0 != _PUBLISH:
            raise RuntimeError(f"after CONNACK came a packet of type {held[behind] >> 4}, not a PUBLISH")
    return took_ms


def connect_packet(client_id: str) -> bytes:
    """CONNECT of MQTT 5.0: Clean Start 0, Session Expiry Interval, Receive Maximum 100."""
    properties = struct.pack(">BIBH", 0x11, EXPIRY_S, 0x21, 100)
    name = client_id.encode()
    body = b"\x00\x04MQTT\x05\x00\x00\x00" + bytes([len(properties)]) + properties
    body += struct.pack(">H", len(name)) + name
    return bytes([0x10, len(body)]) + body


def drain(url: str, client_id: str, topic_filter: str, messages: int) -> float:
    """Takes and acknowledges ``messages``; gives how many a second, the connection included."""
    began, seen = time.perf_counter(), 0
    consumer = Consumer(
        url,
        topic_filter,
        client_id=client_id,
        session_expiry_s=EXPIRY_S,
        receive_maximum=10_000,
        batch=1000,
        high=20_000,
    )
    with consumer:
        for batch in consumer.batches(wait_ms=5):
            seen += len(batch)
            if seen >= messages:
                break
    return messages / (time.perf_counter() - began)
