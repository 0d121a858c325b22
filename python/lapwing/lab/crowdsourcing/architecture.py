"""Architectures: each a small declaration of parts, of how its controller answers, and of who can lose readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lapwing.errors import ConfigError
from lapwing.lab.crowdsourcing import declared
from lapwing.lab.crowdsourcing.answer import Answer, plain_answer, tables_answer
from lapwing.lab.crowdsourcing.balance import (
    Balance,
    Losses,
    Place,
    bridge_losses,
    broker_losses,
    kafka_losses,
    publisher_losses,
    reader_losses,
    subscriber_losses,
)
from lapwing.lab.crowdsourcing.kafka_part import KafkaPart
from lapwing.lab.crowdsourcing.part import Startable
from lapwing.lab.crowdsourcing.scrape import NOTHING, Metrics
from lapwing.lab.crowdsourcing.site import Site


@dataclass(frozen=True)
class Evidence:
    """What is known at the end of a point.

    Attributes:
        qos: Of the phones.
        due: Readings that they had to send.
        fleet: The fleet's report.
        answer: What the controller has found.
        metrics: The last ones of each part, by its name.
        tallies: What parts without metrics said at the end, by their names.
    """

    qos: int
    due: int
    fleet: Mapping[str, Any]
    answer: Answer
    metrics: Mapping[str, Metrics]
    tallies: Mapping[str, Mapping[str, int]]

    @property
    def taken_in(self) -> int:
        """PUBLISH packets that the brokers have read from phones."""
        return round(self._of_broker.total("lapwing_messages_received_total"))

    @property
    def _of_broker(self) -> Metrics:
        return self.metrics.get("broker", NOTHING)


@dataclass(frozen=True)
class Architecture:
    """One way from phones to the controller.

    Attributes:
        name: As ``--architecture`` takes it.
        title: As charts show it.
        meaning: In a line.
        qos: Those of phones that it is measured with.
        parts: In the order in which they start; they are stopped the other way round. The last one is the controller.
        answer: Reads what the controller has written.
        lost: Who has lost how many readings, and why.
        warm_s: Readings of so many seconds come first and are in no latency.
        quiet_s: When the controller has taken nothing up for so long, nothing more comes.
    """

    name: str
    title: str
    meaning: str
    qos: tuple[int, ...]
    parts: Callable[[Site], Sequence[Startable]]
    answer: Callable[[Path], Answer]
    lost: Callable[[Evidence], Mapping[Place, Losses]]
    warm_s: float = 3.0
    quiet_s: float = 3.0

    def balance(self, evidence: Evidence) -> Balance:
        """The account of a point."""
        lost = {place: losses for place, losses in self.lost(evidence).items() if losses}
        return Balance(evidence.due, evidence.answer.different, lost)

    def label(self, qos: int) -> str:
        """The title, with the QoS where there are several."""
        return f"{self.title}, QoS {qos}" if len(self.qos) > 1 else self.title


def _lost_in_a1(evidence: Evidence) -> dict[Place, Losses]:
    broker = evidence.metrics.get("broker", NOTHING)
    return {
        "publisher": publisher_losses(evidence.due, evidence.fleet, evidence.taken_in),
        "broker": broker_losses(broker),
        "controller": subscriber_losses(evidence.qos, evidence.answer.counters, broker),
    }


A1 = Architecture(
    "a1",
    "A1",
    "one broker, and the controller as one plain MQTT subscriber",
    qos=(0, 1),
    parts=lambda site: (declared.broker(site), declared.plain_controller(site)),
    answer=plain_answer,
    lost=_lost_in_a1,
)


def _a3_parts(site: Site) -> list[Startable]:
    members = [declared.bridge(site, number) for number in range(site.bridges)]
    return [declared.broker_with_group(site), KafkaPart(site), *members, declared.spark_controller(site)]


def _lost_in_a3(evidence: Evidence) -> dict[Place, Losses]:
    members = [metrics for name, metrics in evidence.metrics.items() if name.startswith("bridge-")]
    carried = round(sum(member.total("lapwing_bridge_messages_total") for member in members))
    kafka = evidence.tallies["kafka"]
    return {
        "publisher": publisher_losses(evidence.due, evidence.fleet, evidence.taken_in),
        "broker": broker_losses(evidence.metrics.get("broker", NOTHING)),
        "bridge": bridge_losses(members),
        "kafka": kafka_losses(carried, kafka["records"] + kafka["dead_letters"]),
        "controller": reader_losses(kafka["records"], evidence.answer.received),
    }


A3_SINGLE = Architecture(
    "a3-single",
    "A3, one broker",
    "one broker, bridge members, Kafka, and the controller on Spark",
    qos=(1,),
    parts=_a3_parts,
    answer=tables_answer,
    lost=_lost_in_a3,
    warm_s=20.0,
    quiet_s=30.0,
)

ARCHITECTURES: Mapping[str, Architecture] = {each.name: each for each in (A1, A3_SINGLE)}


def named(name: str) -> Architecture:
    """The architecture of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in ARCHITECTURES:
        there = ", ".join(f"{each.name} ({each.meaning})" for each in ARCHITECTURES.values())
        raise ConfigError(f"no architecture is called {name!r}", where="--architecture", remedy=f"there is {there}")
    return ARCHITECTURES[name]
