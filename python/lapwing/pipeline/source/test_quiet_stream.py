"""Is a quiet stream asked about seldom, and is what comes seen at once? A played client and a played clock."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from lapwing.pipeline.errors import SealedError, StreamRecreatedError, unsealed
from lapwing.pipeline.source import datasource
from lapwing.pipeline.source.client import PartitionState, StreamState
from lapwing.pipeline.source.datasource import _StreamReader
from lapwing.pipeline.source.offsets import Positions
from lapwing.pipeline.source.options import SourceOptions

HOUR_S = 3600.0


class Scene:
    """A reader, Spark's side of it, and the broker; is both the clock and the client that the reader has."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.comes: list[tuple[float, int]] = []
        """When how many messages are there."""
        self.uuids = [(0.0, "first")]
        """Since when the stream has which."""
        self.asked_s: list[float] = []
        self.reader = _StreamReader(SourceOptions(url="http://played:1/v1/streams/readings"))
        self.reader._client = self  # type: ignore[assignment]
        self.at = Positions("readings", "first", {0: 0, 1: 0})

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now_s += seconds

    def state(self) -> StreamState:
        self.asked_s.append(self.now_s)
        end = max((count for at_s, count in self.comes if at_s <= self.now_s), default=0)
        uuid = [uuid for at_s, uuid in self.uuids if at_s <= self.now_s][-1]
        return StreamState("readings", uuid, {0: PartitionState(0, 0), 1: PartitionState(0, end)})

    def trigger(self, limit: Any = None) -> float:
        """Spark asks how far it may read, and takes that; gives how many seconds the answer took."""
        begun_s, self.asked_s = self.now_s, []
        self.at = Positions.from_json(self.reader.latestOffset(self.at.to_json(), limit or ReadAllAvailable()))
        return self.now_s - begun_s

    def quiet(self, seconds: float) -> None:
        """Spark learns that nothing is there, and has other things to do."""
        assert self.trigger() == 0.0
        self.now_s += seconds


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    played = Scene()
    monkeypatch.setattr(datasource, "time", played)
    return played


def test_what_is_there_is_told_at_once(scene: Scene) -> None:
    scene.comes = [(0.0, 7)]
    assert scene.trigger() == 0.0
    assert scene.at.next == {0: 0, 1: 7}
    assert len(scene.asked_s) == 1


@pytest.mark.parametrize(("quiet_s", "held_s"), [(0.0, 0.0), (1.0, 0.1), (10.0, 1.0), (29.0, 2.9)])
def test_an_answer_without_news_is_held_back_for_a_tenth_of_the_quiet(
    scene: Scene, quiet_s: float, held_s: float
) -> None:
    scene.quiet(quiet_s)
    assert scene.trigger() == pytest.approx(held_s)
    assert scene.at.next == {0: 0, 1: 0}


@pytest.mark.parametrize("quiet_s", [30.0, 31.0, HOUR_S, 1_000 * HOUR_S])
def test_it_is_held_back_for_three_seconds_at_most(scene: Scene, quiet_s: float) -> None:
    """Stopping a query waits for the call at hand."""
    scene.quiet(quiet_s)
    assert scene.trigger() == pytest.approx(3.0)


def test_meanwhile_the_broker_is_asked_twice_a_second(scene: Scene) -> None:
    scene.quiet(HOUR_S)
    begun_s = scene.now_s
    scene.trigger()
    assert [at_s - begun_s for at_s in scene.asked_s] == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])


@pytest.mark.parametrize(("comes_s", "told_s"), [(-0.1, 0.0), (0.0, 0.0), (0.1, 0.5), (1.2, 1.5), (2.9, 3.0)])
def test_what_comes_is_told_at_the_next_look(scene: Scene, comes_s: float, told_s: float) -> None:
    scene.quiet(HOUR_S)
    scene.comes = [(scene.now_s + comes_s, 7)]
    assert scene.trigger() == pytest.approx(told_s)
    assert scene.at.next == {0: 0, 1: 7}


def test_after_news_the_quiet_begins_anew(scene: Scene) -> None:
    scene.quiet(HOUR_S)
    scene.comes = [(scene.now_s, 7)]
    assert scene.trigger() == 0.0
    scene.quiet(5.0)
    assert scene.trigger() == pytest.approx(0.5)


def test_a_stream_that_is_never_quiet_is_never_held_back(scene: Scene) -> None:
    for second in range(60):
        scene.comes.append((scene.now_s, second + 1))
        assert scene.trigger(ReadMaxRows(100)) == 0.0
        scene.now_s += 1.0
    assert scene.at.next == {0: 0, 1: 60}


def test_a_backlog_is_never_held_back(scene: Scene) -> None:
    """Each batch takes its share of what has been there for long."""
    scene.quiet(HOUR_S)
    scene.comes = [(scene.now_s, 1_000)]
    for batch in range(1, 11):
        assert scene.trigger(ReadMaxRows(100)) == 0.0
        assert scene.at.next == {0: 0, 1: 100 * batch}
        scene.now_s += 30.0


def test_with_available_now_nothing_is_held_back(scene: Scene) -> None:
    scene.quiet(HOUR_S)
    scene.reader.prepareForTriggerAvailableNow()
    assert scene.trigger() == 0.0
    scene.comes = [(scene.now_s, 7)]
    assert scene.trigger() == 0.0
    assert scene.at.next == {0: 0, 1: 0}, "what came after the start is for the next run"


def test_a_stream_that_is_made_again_meanwhile_is_told_at_the_next_look(scene: Scene) -> None:
    scene.quiet(HOUR_S)
    begun_s = scene.now_s
    scene.uuids.append((begun_s + 1.2, "second"))
    with pytest.raises(SealedError) as caught:
        scene.trigger()
    assert isinstance(unsealed(caught.value, where=""), StreamRecreatedError)
    assert scene.now_s - begun_s == pytest.approx(1.5)
