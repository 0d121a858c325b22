"""Is what nobody sees in the log, once?"""

from __future__ import annotations

import pytest

from lapwing.pipeline.commands.watch import SECOND_US, Watch

SILENT = "nothing is decided, and no command that failed goes to another device: no reading has come for"
BEHIND = "nothing is decided: the newest reading with a place is"


class Scene:
    """A watch over a job that may be 60 s behind."""

    def __init__(self) -> None:
        self.now_us = 0
        self.troubles = {"malformed_answers": 0, "refused_commands": 0}
        self.watch = Watch(60, lambda: self.troubles, lambda: self.now_us)

    def look(self, seconds: int, devices: int = 1) -> None:
        """Once a second."""
        for _ in range(seconds):
            self.now_us += SECOND_US
            self.watch.look(devices)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_without_readings_it_says_that_nothing_is_decided(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.look(300, devices=0)  # nobody could be told anything
    scene.watch.came()
    scene.look(60)
    assert not caplog.messages
    scene.look(300)
    assert caplog.messages == [f"{SILENT} 61 s"]
    scene.watch.came()
    scene.look(61)
    assert len(caplog.messages) == 2


def test_a_job_that_is_behind_says_so_until_it_has_caught_up(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    assert [scene.watch.is_behind(late_s * SECOND_US) for late_s in (60, 61, 70, 5, 90)] == [0, 1, 1, 0, 1]
    assert caplog.messages == [f"{BEHIND} {late_s} s old, behind_s is 60" for late_s in (61, 90)]


def test_what_was_not_taken_is_said_once_a_minute(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.now_us = 10**15
    scene.look(10, devices=0)
    assert not caplog.messages
    for _ in range(90):
        scene.troubles["malformed_answers"] += 1
        scene.look(1, devices=0)
    scene.look(300, devices=0)
    assert caplog.messages == [f"not taken since the start: malformed_answers {count}" for count in (1, 61, 90)]
