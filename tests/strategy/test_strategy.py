"""A strategy in Python on the real thread and lanes: what it decides, and what happens when it does not."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

import pytest

import lapwing
from lapwing.errors import ConfigError
from lapwing.strategy import Ask, Member, Strategy, TrialMember, TrialResult, try_out
from lapwing.strategy.loading import load_strategy

LONG_MS = 20_000.0
"""A timeout that no test meets."""


def crew(*client_ids: str) -> list[TrialMember]:
    """Members that are never full: who is would lose its turn."""
    return [TrialMember(client_id, rtt_ms=1.0, service_ms=0.1, receive_max=500) for client_id in client_ids]


class InTurn(Strategy):
    """By client id, one after the other; notes what it is shown."""

    def __init__(self, *client_ids: str) -> None:
        self.client_ids = client_ids
        self.batches: list[int] = []
        self.asks: list[Ask] = []
        self.threads: set[int] = set()

    def choose(self, asks: Sequence[Ask]) -> list[str]:
        self.batches.append(len(asks))
        self.asks += asks
        self.threads.add(threading.get_ident())
        return [self.client_ids[ask.number % len(self.client_ids)] for ask in asks]


class Raises(Strategy):
    def choose(self, asks: Sequence[Ask]) -> list[None]:
        raise RuntimeError("no idea")


class Thinks(Strategy):
    """Has no answer until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def choose(self, asks: Sequence[Ask]) -> list[Member | None]:
        self.let_go.wait()
        return [ask.members[0] for ask in asks]


class Answers(Strategy):
    """Always the same."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def choose(self, asks: Sequence[Ask]) -> list:  # type: ignore[type-arg]
        return [self.answer] * len(asks)


def done(result: TrialResult) -> int:
    return sum(one is not None for one in result.finished)


def test_messages_go_where_it_says_in_batches_on_a_thread_of_its_own() -> None:
    strategy = InTurn("a", "c")
    result = try_out(strategy, crew("a", "b", "c"), messages=300, timeout_ms=LONG_MS)
    assert result.shares == {"a": 150, "c": 150}
    assert result.counters["answered"] == 300
    assert max(strategy.batches) > 1
    assert strategy.threads != {threading.get_ident()}
    assert len(strategy.threads) == 1
    assert result.failures == []
    assert 0 < result.mean_ms < 1000 * 30


def test_it_sees_the_members_as_they_are() -> None:
    members = [TrialMember("near", rtt_ms=2, service_ms=4), TrialMember("far", rtt_ms=30, receive_max=7)]
    for _ in range(20):
        strategy = InTurn("near")
        result = try_out(strategy, members, messages=40, interval_ms=6, timeout_ms=LONG_MS)
        assert done(result) == 40
        # Where its thread came late, it was asked for the last ones before enough was measured: then once more.
        if strategy.asks[-1].members[0].rtt_ms == pytest.approx(2, abs=0.01):
            break
    near, far = strategy.asks[-1].members
    assert (near.client_id, near.limit, far.client_id, far.limit) == ("near", 20, "far", 7)
    assert near.rtt_ms == pytest.approx(2, abs=0.01)
    assert near.service_ms == pytest.approx(4, rel=0.25)
    assert (far.inflight, far.can_take, far.workers, far.is_blind) == (0, True, 1, False)
    assert near.identity != far.identity
    first = strategy.asks[0]
    assert (first.number, first.group, first.is_critical, first.key) == (0, "trial", False, None)


def test_a_strategy_that_raises_is_replaced_and_logged_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "lapwing.strategy"):
        result = try_out(Raises(), crew("a", "b"), messages=100, fallback="round-robin", timeout_ms=LONG_MS)
    assert result.shares == {"a": 50, "b": 50}
    assert result.counters["failed"] == result.counters["asked"] > 0
    assert 1 <= len(caplog.records) <= 3
    assert "Raises failed" in caplog.text
    assert "no idea" in caplog.text


def test_a_strategy_that_is_slow_is_replaced() -> None:
    strategy = Thinks()
    try:
        result = try_out(strategy, crew("a", "b"), messages=100, fallback="round-robin", timeout_ms=2)
    finally:
        strategy.let_go.set()
    assert done(result) == 100
    assert result.shares["b"] >= 40
    assert result.counters["timed_out"] > 0
    assert result.counters["answered"] == 0


@pytest.mark.parametrize("answer", ["nobody", "", 7, object()])
def test_an_answer_that_names_nobody_is_none(answer: object, caplog: pytest.LogCaptureFixture) -> None:
    result = try_out(Answers(answer), crew("a", "b"), messages=20, fallback="round-robin", timeout_ms=LONG_MS)
    assert result.shares == {"a": 10, "b": 10}
    assert result.counters["failed"] == result.counters["asked"]
    assert "is no member of trial" in caplog.text


def test_none_lets_a_message_wait_and_it_is_asked_about_again() -> None:
    class Later(InTurn):
        def choose(self, asks: Sequence[Ask]) -> list:  # type: ignore[type-arg]
            super().choose(asks)
            return ["b" if len(self.batches) > 3 else None] * len(asks)

    result = try_out(Later("b"), crew("a", "b"), messages=1, timeout_ms=500)
    assert result.shares == {"b": 1}
    assert (result.counters["asked"], result.counters["held"], result.counters["answered"]) == (4, 3, 1)
    assert try_out(Answers(None), crew("a"), messages=1, within_s=0.1, timeout_ms=LONG_MS).finished == [None]


def test_who_is_full_is_not_sent_to() -> None:
    members = [TrialMember("small", receive_max=1, service_ms=5), TrialMember("large", receive_max=500, service_ms=0.1)]
    result = try_out(InTurn("small"), members, messages=50, timeout_ms=LONG_MS)
    assert done(result) == 50
    assert result.shares["large"] > 25
    assert result.counters["unable"] > 0


def test_a_batch_without_as_many_answers_is_none() -> None:
    class Short(InTurn):
        def choose(self, asks: Sequence[Ask]) -> list[str]:
            return super().choose(asks)[1:]

    result = try_out(Short("a"), crew("a", "b"), messages=20, fallback="round-robin", timeout_ms=LONG_MS)
    assert result.counters["failed"] == result.counters["asked"]


def test_what_is_no_strategy_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no lapwing\.Strategy"):
        try_out(object(), crew("a"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"fastest.*there are auto, lef"):
        try_out(InTurn("a"), crew("a"), fallback="fastest")
    with pytest.raises(TypeError, match="abstract"):
        lapwing.Strategy()  # type: ignore[abstract]


def test_use_names_a_class(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    source = "import lapwing\nclass Mine(lapwing.Strategy):\n    def choose(self, asks): return []\nclass Other: pass\n"
    (tmp_path / "strategy_in_a_file.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    assert isinstance(load_strategy("strategy_in_a_file:Mine", "alarms"), lapwing.Strategy)
    for use, said in [
        ("strategy_in_a_file:Other", r"Other is no lapwing\.Strategy"),
        ("strategy_in_a_file:Nobody", "has no class Nobody"),
        ("no_such_module_at_all:Mine", "there is no module"),
    ]:
        with pytest.raises(ConfigError, match=said) as caught:
            load_strategy(use, "alarms")
        assert 'groups."alarms".use' in str(caught.value)
