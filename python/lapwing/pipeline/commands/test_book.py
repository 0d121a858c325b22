"""Does a start read what a run can still use and nothing else, and lose nothing whatever was killed?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lapwing.contracts.command_tables import COMMAND_KEYS, COMMANDS
from lapwing.pipeline.commands.book import _CONFLICTS_MAX
from lapwing.pipeline.commands.test_desk import AT_US, FIRST, SECOND, KilledError, Scene
from lapwing.pipeline.errors import ConflictError
from lapwing.pipeline.maintain import maintain
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.files import write_file
from lapwing.pipeline.sinks.test_others import go_on_for_hours
from lapwing.pipeline.transforms.choose import SECOND_US

DAY_S = 86_400


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@contextmanager
def reads() -> Iterator[list[tuple[str, Sequence[str] | None, int]]]:
    """What is read meanwhile: table, columns, rows."""
    found = []
    original = DeltaSink.read

    def read(self: DeltaSink, *arguments: Any, **named: Any) -> pa.Table:
        rows = original(self, *arguments, **named)
        found.append((self.record.name, named.get("columns"), rows.num_rows))
        return rows

    with patch.object(DeltaSink, "read", read):
        yield found


def two_that_ended_a_day_ago(scene: Scene) -> None:
    scene.decide()
    scene.answer("a", "done")
    scene.answer("c", "done")
    scene.now_us += DAY_S * SECOND_US


def stored_and_killed(scene: Scene) -> None:
    """Two more commands are in the outbox, and have no state."""
    scene.point = "outbox"
    with pytest.raises(KilledError):
        scene.decide(replace(SECOND, at_us=scene.now_us))


def found_and_published(scene: Scene) -> None:
    """The next run finds both, behind the two that have ended."""
    scene.desk = scene.opened()
    assert scene.desk.states() == {"outbox": 2}
    scene.desk.follow_up()
    assert len(scene.post.sent) == 4


def test_what_ended_long_ago_is_not_read(scene: Scene) -> None:
    two_that_ended_a_day_ago(scene)
    with reads() as found:
        desk = scene.opened()
    assert found == [("commands", None, 0)]
    assert desk.states() == {}
    assert desk.rows() == {"outbox": 2, "commands": 2}


def test_what_is_open_or_ended_lately_is(scene: Scene) -> None:
    two_that_ended_a_day_ago(scene)
    scene.desk = scene.opened()
    scene.decide(replace(SECOND, at_us=scene.now_us))
    scene.answer("a", "done")
    with reads() as found:
        desk = scene.opened()
    assert desk.states() == {"done": 1, "published": 1}
    assert found == [("commands", None, 2), ("outbox", None, 2)]


def test_one_that_is_open_for_days_is_given_up_and_not_forgotten(scene: Scene) -> None:
    scene.decide()
    scene.now_us += DAY_S * SECOND_US
    scene.desk = scene.opened()
    assert scene.desk.states() == {"published": 2}
    scene.later(1)
    assert scene.states() == {"a": "expired", "c": "expired"}


def test_stored_and_killed_days_ago_it_is_found_behind_all_that_ended(scene: Scene) -> None:
    """Its row has no state anywhere: it is neither lost nor decided anew."""
    two_that_ended_a_day_ago(scene)
    scene.desk = scene.opened()
    again = replace(SECOND, at_us=scene.now_us)
    stored_and_killed(scene)
    scene.now_us += DAY_S * SECOND_US
    with reads() as found:
        scene.desk = scene.opened()
    assert ("outbox", ["id"], 4) in found
    assert scene.desk.states() == {"outbox": 2}
    assert scene.decide(again) == 0
    scene.later(1)
    assert sorted(row["reason"] or "" for row in scene.commands().values()) == ["", "", *["never_published"] * 2]
    with reads() as found:
        scene.opened()
    assert ("outbox", ["id"], 4) not in found  # it has a state by now


def test_a_commit_of_which_nobody_heard_the_end_is_found_by_the_next_run(scene: Scene) -> None:
    """The job goes on for a moment, and saves states of others."""
    scene.decide()
    scene.answer("a", "refused", reason="not_there")
    original = DeltaSink.append

    def broken(self: DeltaSink, *arguments: Any, **named: Any) -> int:
        original(self, *arguments, **named)
        raise OSError("the disk went away")

    with patch.object(DeltaSink, "append", broken), pytest.raises(OSError, match="went away"):
        scene.decide(replace(SECOND, at_us=AT_US + SECOND_US))
    scene.answer("c", "done")
    scene.desk = scene.opened()
    assert scene.desk.states() == {"reassigned": 1, "outbox": 1, "done": 1}
    scene.desk.follow_up()
    assert [device for device, _ in scene.post.sent] == ["a", "c", "b"]


def test_tables_of_a_release_that_did_not_count(scene: Scene) -> None:
    original = DeltaSink.merge

    def merge(self: DeltaSink, rows: pa.Table, stream_uuid: str, done: Mapping[int, int]) -> int:
        return original(self, rows, "", {})

    with patch.object(DeltaSink, "merge", merge):
        two_that_ended_a_day_ago(scene)
        scene.desk = scene.opened()
        stored_and_killed(scene)
    found_and_published(scene)


def test_a_batch_is_decided_once_however_long_ago(scene: Scene) -> None:
    two_that_ended_a_day_ago(scene)
    scene.desk = scene.opened()
    assert scene.decide(FIRST) == 0


def vacuum(folder: Path) -> None:
    DeltaTable(folder).vacuum(0, dry_run=False, enforce_retention_duration=False)


def compact_and_vacuum(folder: Path) -> None:
    """As if an hour lay between: the files that the desk knows of are gone."""
    sink = DeltaSink(folder, COMMANDS, COMMAND_KEYS[COMMANDS.name])
    sink.append([write_file(sink.read().slice(0, 0), folder)], "", {})
    DeltaTable(folder).optimize.compact()
    vacuum(folder)


@pytest.mark.parametrize("change", [vacuum, compact_and_vacuum])
def test_maintenance_of_others_does_not_end_it(scene: Scene, change: Callable[[Path], None]) -> None:
    scene.decide()
    scene.answer("a", "acknowledged")
    folder = scene.folder / "tables" / "commands"
    before = DeltaTable(folder)
    change(folder)
    assert DeltaTable(folder).version() > before.version()
    assert change is vacuum or not any(Path(file).exists() for file in before.file_uris())
    scene.answer("a", "done")
    scene.answer("c", "refused", reason="not_there")
    assert scene.states() == {"a": "done", "c": "refused"}
    assert scene.opened().states() == {"done": 1, "refused": 1}


def test_nor_does_maintenance_while_nothing_is_decided_for_hours(scene: Scene) -> None:
    """The commits that the desk knows of are gone from both logs."""
    scene.decide()
    for name in ("outbox", "commands"):
        go_on_for_hours(scene.folder / "tables" / name)
    scene.answer("a", "done")
    scene.answer("c", "refused", reason="not_there")
    assert scene.decide(SECOND) == 2
    assert sorted(row["state"] for row in scene.commands().values()) == ["done", "published", "published", "reassigned"]


def test_others_who_never_stop_are_told_of(scene: Scene) -> None:
    scene.decide()
    never = patch.object(DeltaSink, "merge", side_effect=ConflictError("somebody else has changed it"))
    with never as merge, pytest.raises(ConflictError):
        scene.answer("a", "done")
    assert merge.call_count == _CONFLICTS_MAX + 1
    scene.answer("c", "done")
    assert scene.states() == {"a": "done", "c": "done"}


def test_who_is_forgotten_leaves_what_was_stored_and_never_said_to_be_found(scene: Scene) -> None:
    """As many rows are there again as have a state, and they are others."""
    two_that_ended_a_day_ago(scene)
    maintain(scene.folder, forget=["a", "c"])
    scene.desk = scene.opened()
    assert (scene.desk.rows(), scene.desk.states()) == ({"outbox": 0, "commands": 0}, {})
    stored_and_killed(scene)
    found_and_published(scene)
    with reads() as found:
        scene.opened()
    assert ("outbox", ["id"], 2) not in found


def test_who_is_forgotten_is_not_told_again(scene: Scene) -> None:
    """What it was told and has not answered; the other one is told until it answers."""
    assert scene.decide() == 2
    maintain(scene.folder, forget=["a"])
    scene.desk = scene.opened()
    assert scene.decide(FIRST) == 0
    for _ in range(3):
        scene.later(20)
    assert [device for device, _ in scene.post.sent] == ["a", "c", "c", "c"]
    assert set(scene.states()) == {"c"}


def test_of_what_was_never_said_who_is_forgotten_leaves_nothing(scene: Scene) -> None:
    """Killed behind the outbox, there is no state yet: a table whose row is gone first cannot bring it back."""
    scene.point = "outbox"
    with pytest.raises(KilledError):
        scene.decide()
    maintain(scene.folder, forget=["a"])
    scene.desk = scene.opened()
    scene.desk.follow_up()
    assert [device for device, _ in scene.post.sent] == ["c"]
    assert set(scene.states()) == {"c"}
