"""Which messages does the broker not take? Its client is played here; tests/bridge has a real one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lapwing.bridge import mqtt_outlet as room
from lapwing.bridge.back_mapping import Publication
from lapwing.bridge.mqtt_outlet import MqttOutlet
from lapwing.bridge.stopping import Stopping, Waiting
from lapwing.config.bridge import ToMqtt
from lapwing.config.bridge_sides import BridgeMqtt
from lapwing.errors import ConfigError, RejectedError, Rejection, TimedOutError

Answers = dict[str, list[str]]
"""By topic: what becomes of it, one time after the other; then it is taken."""
_REASONS = {"Not authorized": 0x87, "Quota exceeded": 0x97}


class PlayedPublisher:
    """What all publishers of a test have in common is the answers."""

    def __init__(self, answers: Answers, taken: list[str]) -> None:
        self._answers = answers
        self._taken = taken
        self._handed: dict[int, str] = {}
        self._number = 0
        self.counters = SimpleNamespace(phase="up", connections=1)

    def connect(self) -> None: ...

    def abort(self) -> None: ...

    def publish(self, topic: str, _payload: bytes, **_: object) -> int:
        if self._answers.get(topic) == ["invalid"]:
            raise ConfigError("no message can be so")
        self._number += 1
        self._handed[self._number] = topic
        return self._number

    def flush(self, _timeout_s: float) -> None:
        if ["break"] in map(self._answers.get, self._handed.values()):
            # As long as it is there the connection ends over it.
            self.counters.connections += 1
            raise TimedOutError("no answer")
        rejections = []
        for number, topic in self._handed.items():
            if answers := self._answers.get(topic):
                words = answers.pop(0)
                rejections.append(Rejection(number, topic, _REASONS[words], words))
            else:
                self._taken.append(topic)
        self._handed.clear()
        if rejections:
            raise RejectedError("refused", rejections=rejections)


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
    [(["Not authorized"], "publish to 'b' was refused: Not authorized"), (["invalid"], "no message can be so")],
)
def test_only_the_one_that_is_refused_concerns_us(
    monkeypatch: pytest.MonkeyPatch, answers: list[str], words: str
) -> None:
    """Is one that is refused for good not tried again, and are the others sent once?"""
    bench = Bench(monkeypatch, {"b": answers})
    assert bench.send("a", "b", "c") == [(1, words)]
    assert (bench.taken, bench.said) == (["a", "c"], [])


def test_one_that_ends_the_connection_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, {"b": ["break"]})
    ((place, why),) = bench.send("a", "b", "c")
    assert place == 1
    assert "40 times" in why
    assert set(bench.taken) == {"a", "c"}


def test_room_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is a refusal that passes waited out, while what was taken is not sent again?"""
    bench = Bench(monkeypatch, {"b": ["Quota exceeded"] * 4, "d": ["Not authorized"]})
    assert [place for place, _ in bench.send("a", "b", "c", "d")] == [3]
    assert bench.taken == ["a", "c", "b"]
    assert "Quota exceeded" in bench.said[0]


def test_room_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with the others and ten times by itself; then it is the message."""
    answers = ["Quota exceeded"] * 100
    ((place, why),) = Bench(monkeypatch, {"a": answers}).send("a", "b")
    assert place == 0
    assert "Quota exceeded" in why
    assert len(answers) == 89
