"""What the controller hears and sends: all that waited for it, last wills, commands, and what went wrong."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cut_line import Line

from lapwing import Broker
from lapwing.client import Client, Will
from lapwing.contracts.commands import (
    REGISTRATIONS,
    Answer,
    Registration,
    State,
    command_topic,
    encode,
    registration_topic,
)
from lapwing.controller import MqttWires
from lapwing.controller.run import controller_name
from lapwing.errors import LapwingError, RejectedError, TimedOutError
from lapwing.pipeline.commands.registry import Registry
from lapwing.pipeline.errors import TableError

DEVICES = 40
FLEET = 6_000
REGISTER_S = 0.1
TIMEOUT_S = 30.0


class Hearer:
    """Takes its time over a registration; `failure` is what it makes of answers."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure, self.heard = failure, 0
        self.told: list[LapwingError] = []

    def registered(self, device: str, payload: bytes, *, is_retained: bool) -> None:
        time.sleep(REGISTER_S)
        self.heard += 1

    def all_registered(self, devices: Set[str]) -> None:
        pass

    def answered(self, answers: Sequence[tuple[str, bytes]]) -> None:
        if self.failure:
            raise self.failure

    def tick(self) -> None:
        pass

    def broken(self, error: LapwingError) -> None:
        self.told.append(error)


class Listener(Hearer):
    """Puts what it hears into a registry, as the controller does."""

    def __init__(self) -> None:
        super().__init__()
        self.registry = Registry()

    def registered(self, device: str, payload: bytes, *, is_retained: bool) -> None:
        self.registry.heard(device, payload, is_retained=is_retained)

    def all_registered(self, devices: Set[str]) -> None:
        self.registry.keep_only(devices)

    @property
    def crew(self) -> list[str]:
        """Who can be told something."""
        return [member.device for member in self.registry.crew({}, {})]


def poll(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.01)


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


@pytest.mark.parametrize("shards", [1, 3])
def test_all_are_heard_before_anything_is_decided(shards: int) -> None:
    """Of a fleet whose registrations come by many pages, each while the one before is taken; and no mark stays."""
    with Broker(shards=shards) as broker, Client(broker.url, client_id="all") as client:
        for number in range(FLEET):
            device = f"{number % 7}d{number}"  # marks are in their midst, not behind them
            client.publish(registration_topic(device), encode(Registration(device, True)), qos=1, retain=True)
        client.flush()
        listener, wires = Listener(), MqttWires(broker.url, "controller")
        wires.open(listener)
        assert len(listener.registry) == FLEET
        wires.close()
        assert len(listener.crew) == FLEET
        client.subscribe(REGISTRATIONS, qos=1)
        retained = [client.receive(TIMEOUT_S) for _ in range(FLEET)]
        assert not [each.topic for each in retained if each and "mark" in each.topic]


def test_a_last_will_takes_a_device_out(broker: Broker) -> None:
    """Of a device that breaks off: for the controller that listens, and for the next one."""
    topic = registration_topic("a")
    will = Will(topic, encode(Registration("a", False)), qos=1, retain=True)
    listener, wires = Listener(), MqttWires(broker.url, "controller")
    with Client(broker.url, client_id="b") as other, Client(broker.url, client_id="a", will=will) as device:
        for name, client in (("a", device), ("b", other)):
            client.publish(registration_topic(name), encode(Registration(name, True)), qos=1, retain=True)
            client.flush()
        wires.open(listener)
        assert sorted(listener.crew) == ["a", "b"]
        device.abort()
        poll(lambda: listener.registry.is_gone("a"))
        assert listener.crew == ["b"]
        wires.close()
        following, again = Listener(), MqttWires(broker.url, "controller")
        again.open(following)
        assert (following.crew, following.registry.is_gone("a")) == (["b"], True)
        again.close()
        again.close()  # no harm


def test_what_changes_while_the_connection_is_broken_is_heard(broker: Broker) -> None:
    """At QoS 0, for which no session waits: a last will, one taken away, one that is new; an answer counts on."""
    topics = {name: registration_topic(name) for name in "abcd"}
    will = Will(topics["a"], encode(Registration("a", False)), retain=True)
    listener = Listener()
    with (
        Line(int(broker.url.rpartition(":")[2])) as line,
        Client(broker.url, client_id="a", will=will) as device,
        Client(broker.url, client_id="others") as others,
    ):
        for name in "abc":
            registration = Registration(name, True, state=State(battery=0.9, budget=50))
            others.publish(topics[name], encode(registration), retain=True)
        others.flush()
        wires = MqttWires(f"tcp://127.0.0.1:{line.port}", "controller", back_off_s=(0.05, 0.2))
        wires.open(listener)
        assert sorted(listener.crew) == ["a", "b", "c"]
        now = datetime.now(UTC)
        listener.registry.answered(Answer("1", "c", now, "done", state=State(battery=0.4, tile="16/1/2")))
        line.cut()
        others.subscribe(topics["a"], retain_handling=2)
        device.abort()
        assert others.receive(TIMEOUT_S) is not None  # its will is out
        others.publish(topics["b"], b"", retain=True)
        others.publish(topics["d"], encode(Registration("d", True)), retain=True)
        others.flush()
        line.mend()
        poll(lambda: sorted(listener.crew) == ["c", "d"])
        wires.close()
    assert (listener.registry.is_gone("a"), len(listener.registry), listener.told) == (True, 3, [])
    (known,) = (each for each in listener.registry.crew({}, {}) if each.device == "c")
    assert (known.battery, known.tile, known.budget, known.at_us > 0) == (0.4, "16/1/2", 50, True)


def test_a_command_on_the_wire(broker: Broker) -> None:
    """Sent with QoS 1, under its id, and given to nobody when its time is over."""
    wires = MqttWires(broker.url, "controller")
    with Client(broker.url, client_id="a") as device:
        device.subscribe(command_topic("a"), qos=2)
        wires.open(Hearer())
        wires.send("a", "00000000002a-1-7", b"{}", 3600)
        assert wires.flush(TIMEOUT_S)
        command = device.receive(timeout_s=TIMEOUT_S)
    wires.close()
    assert command is not None
    assert (command.topic, command.payload, command.qos, command.retain) == ("commands/a", b"{}", 1, False)
    assert command.message_expiry_s is not None
    assert 3600 - 2 * TIMEOUT_S <= command.message_expiry_s <= 3600
    assert (command.content_type, command.correlation_data) == ("application/json", b"00000000002a-1-7")
    assert command.user_properties == [("lapwing-command-id", "00000000002a-1-7")]


def test_a_command_that_the_broker_refuses_is_named() -> None:
    rules = [
        {"identity": "anonymous", "may": ["publish"], "topics": ["commands/b"], "effect": "deny"},
        {"identity": "anonymous", "may": ["publish", "subscribe"], "topics": ["#"]},
    ]
    with Broker(rules=rules) as broker:
        wires = MqttWires(broker.url, "controller")
        wires.open(Hearer())
        numbers = [wires.send(device, f"00000000002a-1-{device}", b"{}", 3600) for device in "abc"]
        with pytest.raises(RejectedError, match='publish to "commands/b" was refused') as told:
            wires.flush(TIMEOUT_S)
        wires.close()
    assert [rejection.number for rejection in told.value.rejections] == [numbers[1]]


def test_what_breaks_a_listener_is_told_by_name(broker: Broker) -> None:
    hearer, wires = Hearer(ValueError("no room on the disk")), MqttWires(broker.url, "controller")
    with pytest.raises(LapwingError, match="ValueError: no room on the disk"):
        wires.open(hearer)
    wires.close()
    assert len(hearer.told) == 1


def test_silence_is_told_with_what_to_look_at() -> None:
    """Nobody may publish answers, so that no mark comes there; nor registrations, which is known at once."""
    subscribe = {"identity": "anonymous", "may": ["subscribe"], "topics": ["#"]}
    publish = {"identity": "anonymous", "may": ["publish"], "topics": [REGISTRATIONS]}
    for rules, kind in (([subscribe, publish], TimedOutError), ([subscribe], LapwingError)):
        with Broker(rules=rules) as broker:
            wires = MqttWires(broker.url, "controller")
            with pytest.raises(kind, match="permitted to publish"):
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
    (tmp_path / "moved" / ".lapwing-controller").unlink()
    os.mkfifo(tmp_path / "moved" / ".lapwing-controller")
    with pytest.raises(TableError, match="it is a pipe, and no file"):
        controller_name(tmp_path / "moved")
