"""Is who did what it was told left in peace, also where its answer does not say what came of it?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lapwing.contracts.command_tables import PLACES, WHEREABOUTS
from lapwing.contracts.commands import Registration, State, encode
from lapwing.pipeline.commands.desk import Moment
from lapwing.pipeline.commands.test_desk import RUN, Scene, table


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.mark.parametrize(
    ("do", "battery", "again_s"), [("report", None, 600), ("rate", 0.1, 30)], ids=["report", "rate"]
)
def test_who_did_it_and_does_not_say_what_came_of_it_is_not_told_at_once_again(
    scene: Scene, do: str, battery: float | None, again_s: int
) -> None:
    """An answer need not say where its device is, nor its rate; a batch comes each second."""
    for device in "abcd":
        scene.registry.heard(device, b"")
    state = State(battery=battery, rate_hz=1.0)
    scene.registry.heard("indoors", encode(Registration("indoors", True, rate_hz=1.0, state=state)))

    def told(batch: int) -> int:
        at = datetime.fromtimestamp(scene.now_us / 1e6, UTC)
        device = "other" if do == "report" else "indoors"
        here = table(WHEREABOUTS, [{"device": device, "tile": "17/1/1", "seen_at": at}])
        moment = Moment(batch, scene.now_us, "stream", {0: batch})
        new = scene.desk.decide(moment, table(PLACES, []), here)
        if new:
            scene.answer("indoors", "done", state=State(battery=battery))
        return new

    assert told(1) == 1
    assert scene.commands()["0123456789ab-1-0"]["do"] == do
    for batch, seconds in ((2, 1), (3, again_s - 1)):
        scene.later(seconds)
        assert told(batch) == 0
        scene.desk = scene.opened(RUN)
    scene.later(1)
    assert told(4) == 1


def test_who_has_measured_and_brings_nothing_is_not_told_at_once_again(scene: Scene) -> None:
    """The last ones that were there were told with each batch, in every second."""

    def told(batch: int) -> list[str]:
        new = scene.decide(Moment(batch, scene.now_us, "stream", {0: batch, 1: 0}))
        devices = [device for device, _ in scene.post.sent[-new:]] if new else []
        for device in devices:
            scene.answer(device, "done")
        return devices

    assert told(1) == ["a", "c"]
    scene.later(1)
    assert told(2) == ["b", "d"]
    for batch, seconds in ((3, 1), (4, 27)):
        scene.later(seconds)
        assert told(batch) == []
        scene.desk = scene.opened(RUN)
    scene.later(2)
    assert told(5) == ["a", "c"]
