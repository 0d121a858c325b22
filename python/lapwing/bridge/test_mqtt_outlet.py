"""Which messages does the broker not take? Its client is played here; tests/bridge has a real one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lapwing.bridge import mqtt_outlet as room
from lapwing.bridge.back_mapping import Publication
from lapwing.bridge.mqtt_outlet import MqttOutlet
from lapwing.bridge.stopping import Stopping, Waiting
from lapwing.config.bridge import BridgeMqtt, ToMqtt
from lapwing.errors import ConfigError, LapwingError, TimedOutError

Answers = dict[str, list[str]]
"""By topic: what becomes of it, one time after the other; then it is taken."""


class PlayedPublisher:
    """What all publishers of a test have in common is the answers."""

    def __init__(self, answers: Answers, taken: list[str]) -> None:
        self._answers = answers
        self._taken = taken
        self._handed: list[str] = []
        self.counters = SimpleNamespace(phase="up", connections=1)

    def connect(self) -> None: ...

    def abort(self) -> None: ...

    def publish(self, topic: str, _payload: bytes, **_: object) -> None:
        if self._answers.get(topic) == ["invalid"]:
            raise ConfigError("no message can be so")
        self._handed.append(topic)

    def flush(self, _timeout_s: float) -> None:
        handed, self._handed = self._handed, []
        for topic in handed:
            answers = self._answers.get(topic)
            if not answers:
                self._taken.append(topic)
            elif answers[0] == "break":
                # As long as it is there the connection ends over it.
                self._handed = handed
                self.counters.connections += 1
                raise TimedOutError("no answer")
            else:
                raise LapwingError(f"{topic} was refused: {answers.pop(0)}")


class Bench:
    """An outlet to a broker that is played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Answers) -> None:
        self.taken: list[str] = []
        self.said: list[str] = []
        monkeypatch.setattr(room, "_PAUSE_S", 0.001)
        monkeypatch.setattr(room, "Publisher", lambda *_, **__: PlayedPublisher(answers, self.taken))
        rule = ToMqtt.model_validate({"name": "r", "topic": "t", "to": "t"})
        self.outlet = MqttOutlet(
            BridgeMqtt(),
            rule,
            "r-0",
            buffer_messages=10,
            stopping=Stopping(),
            waiting=Waiting("rule r", self.said.append),
            alive=lambda: None,
        )

    def send(self, *topics: str) -> list[tuple[int, str]]:
        return self.outlet.send([Publication(topic, b"", [], None, None, None) for topic in topics])


def test_what_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, {})
    assert bench.send("a", "b") == []
    assert (bench.taken, bench.said) == (["a", "b"], [])


@pytest.mark.parametrize(
    ("answers", "words"),
    [(["Not authorized"] * 2, "Not authorized"), (["break"], "40 times"), (["invalid"], "no message can be so")],
)
def test_one_that_is_not_is_found(monkeypatch: pytest.MonkeyPatch, answers: list[str], words: str) -> None:
    bench = Bench(monkeypatch, {"b": answers})
    ((place, why),) = bench.send("a", "b", "c")
    assert place == 1
    assert words in why
    assert set(bench.taken) == {"a", "c"}


def test_room_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is a refusal that passes waited out?"""
    bench = Bench(monkeypatch, {"a": ["Quota exceeded"] * 4})
    assert bench.send("a") == []
    assert bench.taken == ["a"]
    assert "Quota exceeded" in bench.said[0]


def test_room_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: Any = ["Quota exceeded"] * 100
    ((place, why),) = Bench(monkeypatch, {"a": answers}).send("a")
    assert place == 0
    assert "Quota exceeded" in why
