"""What tests across rooms share: a publisher that waits for its acknowledgements."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import paho.mqtt.client as paho
import pytest
from tools.suite.by_phase import JVM_FOLDERS
from tools.suite.spread import asks_for_spark

TIMEOUT_S = 30

# A shell that starts the tests in the background lets them ignore Ctrl-C, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOWEST_FIRST = ("docs", "bridge", "interop", "pipeline", "lab", "suite")
"""Folders whose files take minutes: begun last, they would leave the other workers with nothing to do. Those of the
bridge mostly wait, so they go beside what computes."""


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks what needs a JVM, and sees to it that whoever has a Spark is known to: `tools.suite.spread`."""
    if item.path.parent.name in JVM_FOLDERS:
        item.add_marker(pytest.mark.jvm)
    if "spark" in getattr(item, "fixturenames", ()) and not asks_for_spark(item.path):
        raise pytest.UsageError(
            f'{item.path} has the fixture spark: say `usefixtures("spark")` or `spark: SparkSession`'
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders files, not tests: those with Spark, slow proofs where no JVM is, then `SLOWEST_FIRST`; they stay so."""
    rank = {name: at for at, name in enumerate(SLOWEST_FIRST)}
    sparks = {item.path for item in items if "spark" in getattr(item, "fixturenames", ())}
    proofs = {item.path for item in items if item.get_closest_marker("slow")}

    def place(item: pytest.Item) -> tuple[bool, bool, int]:
        is_late = item.get_closest_marker("jvm") is None and item.path not in proofs
        return item.path not in sparks, is_late, rank.get(item.path.parent.name, len(rank))

    items.sort(key=place)


def pytest_sessionfinish() -> None:
    """Removes folders that commands began in: workers of xdist end without `atexit`."""
    # Where no test has run a command there is nothing, and the import would take longer than some tests.
    if (commands := sys.modules.get("commands")) is not None:
        commands.remove_folders()


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
