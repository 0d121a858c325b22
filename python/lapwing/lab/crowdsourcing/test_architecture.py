"""An architecture is a declaration: are its parts whole, apart from each other, and told of each other?"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from lapwing.config.bridge import BridgeSection
from lapwing.errors import ConfigError
from lapwing.lab.crowdsourcing import declared
from lapwing.lab.crowdsourcing.architecture import A1, ARCHITECTURES, Architecture, named
from lapwing.lab.crowdsourcing.part import Part
from lapwing.lab.crowdsourcing.plan import Plan
from lapwing.lab.crowdsourcing.site import FILTER, Site
from lapwing.lab.doctor import NEEDS


def plan(**changed: object) -> Plan:
    usual: dict[str, object] = {
        "architectures": tuple(ARCHITECTURES.values()),
        "devices": (500, 1000),
        "qos": None,
        "seeds": 1,
        "rate": 1.0,
        "seconds": 5.0,
        "idle_s": 1.0,
        "drain_s": 10.0,
        "shards": 2,
        "bridges": 1,
    }
    return Plan(**usual | changed)  # type: ignore[arg-type]


def settings_of(part: Part) -> dict[str, object]:
    (text,) = part.files.values()
    return tomllib.loads(text)


def test_a1_is_a_broker_and_a_subscriber(tmp_path: Path) -> None:
    site = Site(tmp_path, qos=0)
    broker, controller = A1.parts(site)
    assert isinstance(broker, Part)
    assert isinstance(controller, Part)
    assert (broker.role, controller.role) == ("broker", "controller")
    assert site.url in controller.command[-1]
    assert broker.metrics.startswith(site.http)
    assert set(settings_of(broker)) == {"broker"}


def test_ports_of_a_site_are_kept_and_differ(tmp_path: Path) -> None:
    site = Site(tmp_path, qos=0)
    ports = [site.port(name) for name in ("mqtt", "http", "bridge-0", "bridge-1")]
    assert len(set(ports)) == 4
    assert ports == [site.port(name) for name in ("mqtt", "http", "bridge-0", "bridge-1")]


def test_the_group_of_the_bridge_is_declared_to_the_broker(tmp_path: Path) -> None:
    broker = settings_of(declared.broker_with_group(Site(tmp_path, qos=1)))
    assert broker["groups"]["bridge"]["filters"] == [FILTER]  # type: ignore[index]


def test_the_settings_of_a_bridge_member_are_valid(tmp_path: Path) -> None:
    class Kafka:
        bootstrap = "127.0.0.1:9092"

    site = Site(tmp_path, qos=1)
    site.__dict__["kafka"] = Kafka()
    part = declared.bridge(site, 1)
    bridge = BridgeSection.model_validate(settings_of(part)["bridge"])
    assert (bridge.members, bridge.mqtt.url, bridge.mqtt.group) == (1, site.url, "bridge")
    assert bridge.to_kafka[0].filter == FILTER
    assert part.metrics == f"http://{bridge.metrics}/metrics"


def test_the_controller_of_a3_reads_kafka_and_has_its_wires_to_the_broker(tmp_path: Path) -> None:
    class Kafka:
        bootstrap = "127.0.0.1:9092"

    site = Site(tmp_path, qos=1)
    site.__dict__["kafka"] = Kafka()
    words = declared.spark_controller(site).command
    assert words[words.index("run") + 1] == "controller"
    assert words[words.index("--source") + 1] == "kafka://127.0.0.1:9092/readings"
    assert words[words.index("--broker") + 1] == site.url


def test_every_architecture_has_its_needs_and_its_own_line() -> None:
    assert set(NEEDS) == set(ARCHITECTURES)
    labels = [architecture.label(qos) for architecture, qos in plan().lines()]
    assert len(set(labels)) == len(labels)
    assert "A1, QoS 0" in labels


def test_another_architecture_is_a_declaration_away(tmp_path: Path) -> None:
    two = Architecture(
        "two", "Two", "two brokers", (1,), lambda site: (declared.broker(site),) * 2, A1.answer, A1.lost, warm_s=0.0
    )
    assert len(two.parts(Site(tmp_path, qos=1))) == 2
    assert two.label(1) == "Two"


def test_wrong_plans_are_refused_with_what_is_right() -> None:
    for changed, word in (
        ({"devices": (1000, 500)}, "500,1000,2000"),
        ({"devices": ()}, "--devices"),
        ({"architectures": (A1, A1)}, "once"),
        ({"qos": (2,)}, "a1 is measured with 0, 1"),
    ):
        with pytest.raises(ConfigError, match=word):
            plan(**changed)
    with pytest.raises(ConfigError, match=r"a1 \(one broker"):
        named("a9")


def test_points_of_a_plan() -> None:
    made = plan(architectures=(A1,), seeds=3)
    assert made.points_max == 2 * 2 * 3
    settings = list(made.settings(A1, 1, 500))
    assert [setting.seed for setting in settings] == [1, 2, 3]
    assert settings[0].slug == "a1-qos1-500-seed1"
