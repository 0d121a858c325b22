"""What ends a point, and what ends the whole experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lapwing.errors import BrokerError, ConfigError, InterruptError, LapwingError, TimedOutError
from lapwing.lab.crowdsourcing.answer import plain_answer
from lapwing.lab.crowdsourcing.architecture import Architecture, Evidence
from lapwing.lab.crowdsourcing.balance import Losses, Place
from lapwing.lab.crowdsourcing.part import PartEndedError, Standing
from lapwing.lab.crowdsourcing.plan import Setting
from lapwing.lab.crowdsourcing.point import run_point
from lapwing.lab.crowdsourcing.row import Row


@dataclass(frozen=True)
class Broken:
    """A part that cannot start."""

    error: LapwingError
    name: str = "kafka"

    def start(self, _folder: Path) -> Standing:
        raise self.error


def nothing(_evidence: Evidence) -> Mapping[Place, Losses]:
    return {}


def measure(error: LapwingError, folder: Path) -> Row:
    architecture = Architecture(
        "x", "X", "a part that fails", (1,), lambda _site: [Broken(error)], plain_answer, nothing, warm_s=0.0
    )
    setting = Setting(architecture, 1, 2, 1, 1.0, 1.0, 0.1, 1.0, 1, 1)
    return run_point(setting, folder, lambda _what, _done, _total: None)


@pytest.mark.parametrize(
    "error",
    [
        BrokerError("Kafka did not make the topic: it is there", where="readings"),
        LapwingError("the controller has written no tables", where="/there"),
        PartEndedError("broker ended by signal 9", where="broker.log", remedy="out of luck"),
        TimedOutError("kafka was not ready within 90 s"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_fails_at_a_point_ends_that_point_only_and_is_told(error: LapwingError, tmp_path: Path) -> None:
    row = measure(error, tmp_path / "point")
    assert row.ended == str(error)
    assert row.to_json()["ended"] == str(error)
    assert not (tmp_path / "point" / "scratch").exists()


@pytest.mark.parametrize("error", [ConfigError("Java is not on the PATH"), InterruptError("interrupted")])
def test_what_would_fail_at_every_point_ends_the_experiment(error: LapwingError, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        measure(error, tmp_path / "point")
