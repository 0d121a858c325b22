"""Is what is waited for the same where somebody sets the clock, while the controller runs and while it does not?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lapwing.pipeline.commands.test_desk import POLICY, SECOND, Scene
from lapwing.pipeline.transforms.choose import SECOND_US


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.mark.parametrize("step_s", [-3600, 3600])
def test_a_clock_that_is_set_changes_nothing_for_what_is_under_way(
    scene: Scene, caplog: pytest.LogCaptureFixture, step_s: int
) -> None:
    """A command is repeated, begun, given up and decided anew by the time that has passed; the log says it once."""
    assert scene.decide() == 2
    scene.answer("a", "acknowledged")
    scene.set_clock(step_s)
    scene.later(0)
    assert scene.states() == {"a": "acknowledged", "c": "published"}
    assert len(scene.post.sent) == 2
    scene.later(16)
    assert [device for device, _ in scene.post.sent] == ["a", "c", "c"]
    scene.answer("a", "done")
    scene.later(POLICY.expire_s)
    assert scene.states() == {"a": "done", "c": "expired"}
    times = [scene.commands()[command.id] for _, command in scene.post.sent]
    assert all(row["decided_at"] <= row["committed_at"] <= row["published_at"] for row in times)
    assert scene.decide(replace(SECOND, at_us=scene.now_us)) == 2
    assert "d" in {device for device, _ in scene.post.sent[3:]}, "c rests"
    assert "set back by 3600 s" in caplog.text if step_s < 0 else "set forward by 3600 s" in caplog.text
    assert caplog.text.count("the clock was set") == 1


def test_a_clock_that_is_set_back_between_two_runs_leaves_no_command_open(scene: Scene) -> None:
    scene.decide()
    scene.now_us -= 3600 * SECOND_US
    scene.desk = scene.opened()
    scene.later(POLICY.expire_s + 1)
    assert set(scene.states().values()) == {"expired"}
