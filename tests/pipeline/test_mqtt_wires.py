"""Does the controller hear all that waited for it, however much that is, and say what went wrong?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lapwing import Broker
from lapwing.client import Client
from lapwing.contracts.commands import Registration, encode, registration_topic
from lapwing.controller import MqttWires
from lapwing.controller.run import controller_name
from lapwing.errors import LapwingError, TimedOutError
from lapwing.pipeline.errors import TableError

DEVICES = 40
REGISTER_S = 0.1


class Hearer:
    """Takes its time over a registration; `failure` is what it makes of answers."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure, self.heard = failure, 0
        self.told: list[LapwingError] = []

    def registered(self, device: str, payload: bytes) -> None:
        time.sleep(REGISTER_S)
        self.heard += 1

    def answered(self, answers: Sequence[tuple[str, bytes]]) -> None:
        if self.failure:
            raise self.failure

    def tick(self) -> None:
        pass

    def broken(self, error: LapwingError) -> None:
        self.told.append(error)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def test_what_takes_long_but_comes_is_waited_for(broker: Broker) -> None:
    with Client(broker.url, client_id="all") as client:
        for number in range(DEVICES):
            device = f"d{number}"
            client.publish(registration_topic(device), encode(Registration(device, True)), qos=1, retain=True)
        client.flush()
    hearer, wires = Hearer(), MqttWires(broker.url, "controller")
    wires.open(hearer, timeout_s=DEVICES * REGISTER_S / 2)
    wires.close()
    assert hearer.heard == DEVICES


def test_what_breaks_a_listener_is_told_by_name(broker: Broker) -> None:
    hearer, wires = Hearer(ValueError("no room on the disk")), MqttWires(broker.url, "controller")
    with pytest.raises(LapwingError, match="ValueError: no room on the disk"):
        wires.open(hearer)
    wires.close()
    assert len(hearer.told) == 1


def test_silence_is_told_with_what_to_look_at() -> None:
    """Nobody may publish, so that no mark comes."""
    rules: list[dict[str, object]] = [{"identity": "anonymous", "may": ["subscribe"], "topics": ["#"]}]
    with Broker(rules=rules) as broker:
        wires = MqttWires(broker.url, "controller")
        with pytest.raises(TimedOutError, match="permitted to publish"):
            wires.open(Hearer(), timeout_s=1.0)
        wires.close()


def test_the_name_at_the_broker_goes_with_the_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    name = controller_name(out)
    assert controller_name(out) == name
    assert controller_name(tmp_path / "other") != name
    out.rename(tmp_path / "moved")
    assert controller_name(tmp_path / "moved") == name
    (tmp_path / "file").touch()
    with pytest.raises(TableError, match="--out cannot be written"):
        controller_name(tmp_path / "file")
