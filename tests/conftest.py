"""What tests across rooms share: a publisher that waits for its acknowledgements."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import pytest

TIMEOUT_S = 30

# A shell that starts the tests in the background lets them ignore Ctrl-C, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOWEST_FIRST = ("pipeline", "docs", "interop")
"""Folders whose files take minutes: begun last, they would leave the other worker with nothing to do."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders files, not tests: slow proofs, then `SLOWEST_FIRST`; the Makefile tells pytest-xdist to leave it so."""
    rank = {name: at for at, name in enumerate(SLOWEST_FIRST)}
    proofs = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in proofs, rank.get(item.path.parent.name, len(rank))))


Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]


@pytest.fixture
def publish() -> Publish:
    """`publish(url, [(topic, payload), ...])`: at QoS 1, by paho; returns when all are acknowledged."""

    def publish_all(url: str, messages: Iterable[tuple[str, bytes]]) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="publisher", protocol=paho.MQTTv5)
        client.connect(parts.hostname, parts.port)
        client.loop_start()
        try:
            for sent in [client.publish(topic, payload, qos=1) for topic, payload in messages]:
                sent.wait_for_publish(TIMEOUT_S)
                assert sent.is_published()
        finally:
            client.disconnect()
            client.loop_stop()

    return publish_all
