"""Parts as architectures declare them: functions from a site to a part, with its command line, readiness and logs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from lapwing.lab.crowdsourcing.controller import Order as ControllerOrder
from lapwing.lab.crowdsourcing.part import Part, listens, says
from lapwing.lab.crowdsourcing.site import DEAD_LETTERS, FILTER, GROUP, HOST, TOPIC, Site

_LAPWING = (sys.executable, "-m", "lapwing")
_GIVES_WAY = 10
"""As `nice` takes it: a process of 0 gets nine times the processor time."""


def broker(site: Site) -> Part:
    """One Lapwing as a user starts it: nothing is set but addresses, folder and threads."""
    return _broker(site, "")


def broker_with_group(site: Site) -> Part:
    """The same, with the bridge's group declared: from the start it keeps what no member has taken, on disk."""
    return _broker(site, _GROUP_SETTINGS)


_GROUP_SETTINGS = f"""
[groups."{GROUP}"]
filters = ["{FILTER}"]
queue_messages_max = 1000000
queue_bytes_max = "1GiB"
"""


def _broker(site: Site, more: str) -> Part:
    settings = site.folder / "lapwing.toml"
    return Part(
        "broker",
        "broker",
        (*_LAPWING, "broker", "--config", str(settings)),
        listens(HOST, site.port("mqtt"), site.port("http")),
        metrics=f"{site.http}/metrics",
        files={settings: _broker_settings(site) + more},
    )


def _broker_settings(site: Site) -> str:
    return f"""\
[broker]
listen = ["{site.url}"]
http = "{HOST}:{site.port("http")}"
data = "{site.scratch / "broker"}"
shards = {site.shards}
pin = false
"""


def plain_controller(site: Site) -> Part:
    """The controller as one plain subscriber."""
    order = ControllerOrder(site.url, FILTER, site.qos, str(site.answer), site.envelope)
    module = "lapwing.lab.crowdsourcing.controller"
    return Part("controller", "controller", process_command(module, order), says("ready"))


def bridge(site: Site, number: int) -> Part:
    """One member of the bridge, a process of its own."""
    name = f"bridge-{number}"
    settings, port = site.folder / f"{name}.toml", site.port(name)
    return Part(
        name,
        "bridge",
        (*_LAPWING, "bridge", "run", "--config", str(settings), "--json"),
        says("ready"),
        metrics=f"http://{HOST}:{port}/metrics",
        files={settings: _bridge_settings(site, port)},
    )


def _bridge_settings(site: Site, port: int) -> str:
    return f"""\
[bridge]
members = 1
metrics = "{HOST}:{port}"

[bridge.mqtt]
url = "{site.url}"
group = "{GROUP}"

[bridge.kafka]
bootstrap = "{site.kafka.bootstrap}"
dead_letters = "{DEAD_LETTERS}"

[[bridge.to_kafka]]
name = "readings"
filter = "{FILTER}"
topic = "{TOPIC}"
key = "{{client}}"
"""


def spark_controller(site: Site) -> Part:
    """The controller on Spark, reading Kafka: the job of that name, with its wires to the broker.

    A batch a second at most. Phones of the lab do not register: it keeps its books of places and devices, and has
    nobody to tell anything.

    It gives way, as a batch job beside a broker should: it takes all cores for most of each second, and everything that
    a reading passes before would wait for its threads.
    """
    source = f"kafka://{site.kafka.bootstrap}/{TOPIC}"
    asked = ("pipeline", "run", "controller", "--source", source, "--broker", site.url)
    words = (*asked, "--out", str(site.answer), "--trigger", "1", "--json")
    # The first batch is an empty one, and the longest: Spark makes its plans and starts its workers.
    begun = site.answer / "checkpoint" / "commits" / "0"
    return Part(
        "controller",
        "controller",
        (*_LAPWING, *words),
        lambda _: begun.exists(),
        ready_s=240.0,
        end_s=180.0,
        niceness=_GIVES_WAY,
    )


def process_command(module: str, order: Any) -> tuple[str, ...]:
    """The words of one of this room's own processes."""
    return (sys.executable, "-m", module, json.dumps(asdict(order)))
