"""Prints docs/metrics.md: every metric of a running broker, from what it says of itself under /metrics.

`python tools/metrics_reference.py > docs/metrics.md`; a test compares the two.
"""

from __future__ import annotations

import re
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import lapwing
from lapwing._core import cluster_found
from lapwing.config import Config, cluster_json, node_json
from lapwing.hooks import Hooks, Message
from lapwing.host_port import split_host_port
from lapwing.strategy import Ask, Strategy

HEAD = """\
# Metrics

`GET /metrics` answers in Prometheus' text format; `Broker.metrics_text()` gives the same without the HTTP part. A
counter grows from 0 since the process started; a gauge goes up and down. A sample of `route`, `status` or a reason code
appears once there is something to count. Which of them tell of trouble, and what then happens: [faults.md](faults.md).

This page is made from a running broker: `python tools/metrics_reference.py`."""
PARTS = [
    ("HTTP", ("lapwing_http_",), "Counted by the HTTP side."),
    (
        "Consumer groups",
        ("lapwing_group", "lapwing_strategy_"),
        "By share name and filter ([groups.md](groups.md)). Counters begin and end with their group; those of a"
        " strategy in Python ([strategies.md](strategies.md)) are of all groups that use it.",
    ),
    (
        "MQTT-SN",
        ("lapwing_sn_",),
        "Where a listener is `sn://` or `sns://` ([mqtt-sn.md](mqtt-sn.md)).",
    ),
    (
        "Holds",
        ("lapwing_hold_",),
        "By filter: messages that wait for their first subscriber ([hold.md](hold.md)).",
    ),
    (
        "Clusters",
        ("lapwing_cluster_",),
        "Of a member of a cluster, whether it serves or stands by ([cluster.md](cluster.md)).",
    ),
    ("Hooks", ("lapwing_hook_",), "Where there are hooks ([hooks.md](hooks.md))."),
    (
        "Sessions and retained messages on disk",
        ("lapwing_journal_",),
        'With `broker.durability = "disk"`; entries of the data groups ([durability.md](durability.md)).',
    ),
    ("Streams and their log", ("lapwing_log_", "lapwing_stream_next"), "One log per broker; nothing without a stream."),
    ("Connections, sessions, messages", ("lapwing_",), "Sums over all shards."),
]
GROUPS = {
    "full": {"filters": ["full/#"], "queue_messages_max": 1},
    "late": {
        "filters": ["late"],
        "expired": "dead-letter",
        "dead_letter_topic": "dead",
        "rules": [{"topics": ["late"], "deadline": "1ms"}],
    },
    "own": {"filters": ["own"], "use": f"{__name__}:Holding"},
}
"""One that drops, one that writes a dead letter, one with a strategy in Python."""
HOLD: dict[str, dict[str, object]] = {"held/#": {}}
_TRIES_MAX = 500
_OF_MEMBERS_LATE = (
    "lapwing_cluster_connections_cut_total{",
    "lapwing_cluster_disk_free_bytes{",
    "lapwing_cluster_lag_entries{",
    "lapwing_cluster_uncommitted_age_seconds",
)
_SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? \S+")


@dataclass
class Metric:
    """One metric as the broker describes it."""

    name: str
    meaning: str
    kind: str = ""
    labels: list[str] = field(default_factory=list)

    def row(self) -> str:
        """A line of the table."""
        labels = ", ".join(f"`{label}`" for label in self.labels)
        return f"| `{self.name}` | {self.kind} | {labels} | {self.meaning.rstrip('.')}. |"


def reference() -> str:
    """The whole page."""
    left = described(scraped() + scraped_of_member())
    sections = {}
    for title, prefixes, words in PARTS:
        rows = [metric.row() for metric in left if metric.name.startswith(prefixes)]
        left = [metric for metric in left if not metric.name.startswith(prefixes)]
        head = "| name | kind | labels | meaning |\n|---|---|---|---|"
        sections[title] = "\n".join([f"## {title}\n\n{words}\n\n{head}", *rows])
    return "\n\n".join([HEAD, *(sections[title] for title, _, _ in reversed(PARTS))]) + "\n"


class Passing(Hooks):
    """Hooks for the page; any will do."""

    def on_publish(self, message: Message) -> None:
        """Passes it."""


class Holding(Strategy):
    """A strategy for the page; any will do."""

    def choose(self, asks: Sequence[Ask]) -> list[None]:
        """Lets them wait."""
        return [None] * len(asks)


def scraped() -> str:
    """The text of a broker with a stream, hooks, groups, a member and a request: every label is there."""
    streams = {"readings": "spectrum/+/readings"}
    with (
        lapwing.Broker(
            listen="tcp://127.0.0.1:0",
            listeners=[{"url": "sn://127.0.0.1:0"}],
            streams=streams,
            groups=GROUPS,
            hold=HOLD,
            http="127.0.0.1:0",
            shards=1,
            hooks=Passing(),
            durability="disk",
        ) as broker,
        lapwing.Client(broker.url) as client,
    ):
        client.subscribe("$share/jobs/jobs/#", qos=1)
        for topic in ("spectrum/d1/readings", "late", "jobs/1", "full/1", "full/2"):
            client.publish(topic, b"{}", qos=1)
        client.flush()
        client.receive(timeout_s=10)
        for _ in range(_TRIES_MAX):
            with urlopen(f"{broker.http_url}/metrics") as answer:  # noqa: S310 (a URL of our own)
                text: str = answer.read().decode()
            # The first answer is counted in the second, and a deadline has to pass.
            if "lapwing_http_requests_total{" in text and "lapwing_group_dead_letters_total{" in text:
                return text
            time.sleep(0.02)
    raise RuntimeError("the broker does not show every metric")


def scraped_of_member() -> str:
    """What a member of a cluster says beside: one that serves, and that a stranger has come to."""
    with tempfile.TemporaryDirectory(prefix="lapwing-") as data:
        tables = {"broker": {"listen": ["tcp://127.0.0.1:0"], "http": None, "data": Path(data, "data"), "pin": False}}
        config = Config.model_validate({**tables, "cluster": {"name": "north", "listen": "127.0.0.1:0"}})
        cluster_found(node_json(config), cluster_json(config) or "", "marsh")
        with (
            lapwing.Broker.from_config(config) as broker,
            socket.create_connection(split_host_port(broker.peer_address or "")) as stranger,
        ):
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            for _ in range(_TRIES_MAX):
                lines = [line for line in broker.metrics_text().splitlines(True) if "lapwing_cluster_" in line]
                if all(any(name in line for line in lines) for name in _OF_MEMBERS_LATE):
                    return "".join(lines)
                time.sleep(0.02)
    raise RuntimeError("the member does not show every metric")


def described(text: str) -> list[Metric]:
    """The metrics in the order of the page."""
    found: dict[str, Metric] = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, meaning = line.split(" ", 3)
            found[name] = Metric(name, meaning)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            found[name].kind = kind
        elif sample := _SAMPLE.fullmatch(line):
            found[sample[1]].labels = re.findall(r'(\w+)="', sample[2] or "")
    return list(found.values())


if __name__ == "__main__":
    sys.stdout.write(reference())
