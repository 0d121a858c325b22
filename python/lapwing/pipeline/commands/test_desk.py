"""Is what was decided stored before it is said, said again after a kill, and never computed twice?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lapwing.contracts.command_tables import PLACES, WHEREABOUTS
from lapwing.contracts.commands import Answer, Command, Measure, Registration, State, decode, encode
from lapwing.errors import RejectedError, Rejection
from lapwing.pipeline.commands.clock import Clock
from lapwing.pipeline.commands.desk import CommandDesk, Moment
from lapwing.pipeline.commands.registry import Registry
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.transforms.choose import SECOND_US, Policy

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
AT_US = round(NOON.timestamp() * 1e6)
POLICY = Policy(fresh_s=60, expire_s=60, rest_s=30)
RUN = "0123456789ab"
FIRST = Moment(4, AT_US, "stream", {0: 10, 1: 20})
SECOND = Moment(5, AT_US + 70 * SECOND_US, "stream", {0: 11, 1: 20})


class KilledError(Exception):
    """Stands for the end of the process."""


class FakePost:
    """Remembers what it was given; `there` is whether the broker is."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Command]] = []
        self.there = True
        self.refuses: set[str] = set()
        self.out: dict[int, str] = {}
        self.flushed = 0

    def send(self, device: str, command_id: str, payload: bytes, expiry_s: int) -> int:
        command = decode(payload, Command)
        assert command
        assert command.id == command_id
        assert 1 <= expiry_s <= 130
        self.sent.append((device, command))
        self.out[len(self.sent)] = device
        return len(self.sent)

    def flush(self, timeout_s: float) -> bool:
        self.flushed += 1
        out, self.out = self.out, {}
        refused = [number for number, device in out.items() if device in self.refuses]
        if refused:
            rejections = [Rejection(number, out[number], 0x87, "Not authorized") for number in refused]
            raise RejectedError("refused", rejections=rejections)
        return self.there


class Scene:
    """Two stale tiles with two devices each."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.post, self.now_us = folder, FakePost(), AT_US
        self.point = ""
        self.set_back_us = 0
        self.registry = Registry(now_us=lambda: self.now_us)
        for device in "abcd":
            self.registry.heard(device, encode(Registration(device, True, ("5G",))))
        self.desk = self.opened(RUN)

    def opened(self, run: str | None = None) -> CommandDesk:
        return CommandDesk(
            self.folder / "tables", self.post, self.registry, POLICY,
            run=run, repeat_s=15, committed=self.committed,
            clock=Clock(lambda: self.now_us, lambda: self.now_us + self.set_back_us),
        )  # fmt: skip

    def committed(self, step: str) -> None:
        if step == self.point:
            self.point = ""
            raise KilledError

    def decide(self, moment: Moment = FIRST, age_s: int = 70) -> int:
        at = datetime.fromtimestamp(moment.at_us / 1e6, UTC)
        old = at - timedelta(seconds=age_s)
        places = [
            {"tile": f"17/1/{n}", "network": "5G", "channel": 1, "last_seen": old, "recent": [{"at": old}]}
            for n in (1, 2)
        ]
        here = [{"device": d, "tile": f"17/1/{1 + n // 2}", "seen_at": at} for n, d in enumerate("abcd")]
        return self.desk.decide(moment, table(PLACES, places), table(WHEREABOUTS, here))

    def answer(self, device: str, outcome: Any, number: int = -1, **more: Any) -> None:
        command = [command for who, command in self.post.sent if who == device][number]
        at = datetime.fromtimestamp(self.now_us / 1e6, UTC)
        self.desk.answered([(device, encode(Answer(command.id, device, at, outcome, **more)))])

    def set_clock(self, seconds: float) -> None:
        self.now_us += round(seconds * SECOND_US)
        self.set_back_us -= round(seconds * SECOND_US)

    def later(self, seconds: float) -> None:
        self.now_us += round(seconds * SECOND_US)
        self.desk.follow_up()

    def commands(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in read(self.folder, "commands").to_pylist()}

    def states(self) -> dict[str, str]:
        return {row["device"]: row["state"] for row in self.commands().values()}


def table(record: Any, rows: list[dict[str, Any]]) -> Callable[[], pa.Table]:
    return lambda: pa.Table.from_pylist(rows, schema=pa.schema(list(record.arrow_schema())))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_command_goes_from_the_outbox_to_its_end(scene: Scene) -> None:
    assert scene.decide() == 2
    assert [(device, command.id) for device, command in scene.post.sent] == [
        ("a", "0123456789ab-4-0"),
        ("c", "0123456789ab-4-1"),
    ]
    command = scene.post.sent[0][1]
    assert command.order == Measure("17/1/1", 3.0, 1.0, "5G", 1)
    assert (command.issued_at, command.expires_at) == (NOON, NOON + timedelta(seconds=60))
    assert scene.states() == {"a": "published", "c": "published"}
    scene.answer("a", "acknowledged")
    scene.answer("a", "done", readings=3)
    scene.answer("c", "refused", reason="low_battery", state=State(battery=0.1))
    assert scene.states() == {"a": "done", "c": "refused"}
    assert scene.desk.rows() == {"outbox": 2, "commands": 2}


def test_a_batch_is_decided_once(scene: Scene) -> None:
    assert scene.decide() == 2
    assert scene.decide() == 0
    scene.desk = scene.opened()
    assert scene.decide() == 0
    assert len(scene.post.sent) == 2


def test_no_id_comes_twice_where_numbers_of_batches_do(scene: Scene) -> None:
    """An older checkpoint was brought back: Spark counts from there, over messages that are new."""
    scene.decide()
    scene.answer("a", "done")
    scene.answer("c", "done")
    scene.desk = scene.opened()
    assert scene.decide(replace(FIRST, done={0: 30, 1: 40})) == 2
    assert len({command.id for _, command in scene.post.sent}) == 4


@pytest.mark.parametrize("point", ["outbox", "published", "commands"])
def test_killed_after_each_step_nothing_is_computed_again_and_nothing_is_lost(scene: Scene, point: str) -> None:
    scene.point = point
    with pytest.raises(KilledError):
        scene.decide()
    scene.desk = scene.opened()
    assert scene.decide() == 0  # the batch comes again
    scene.desk.follow_up()
    said = [(device, command) for device, command in scene.post.sent]
    assert {device for device, _ in said} == {"a", "c"}
    assert len({command.id for _, command in said}) == 2
    assert len(said) == (4 if point == "published" else 2)
    assert scene.states() == {"a": "published", "c": "published"}
    scene.answer("a", "done")
    scene.answer("c", "done")
    assert scene.states() == {"a": "done", "c": "done"}
    assert scene.desk.rows() == {"outbox": 2, "commands": 2}


def test_killed_before_the_outbox_the_batch_is_decided_anew(scene: Scene) -> None:
    with patch.object(scene.desk._book._outbox, "append", side_effect=KilledError), pytest.raises(KilledError):
        scene.decide()
    scene.desk = scene.opened()
    assert not scene.post.sent
    assert scene.decide() == 2


def test_an_answer_that_is_lost_with_the_process_comes_again(scene: Scene) -> None:
    scene.decide()
    scene.point = "commands"
    with pytest.raises(KilledError):
        scene.answer("a", "done")
    scene.desk = scene.opened()
    scene.answer("a", "done")
    assert scene.states() == {"a": "done", "c": "published"}


def test_without_an_answer_it_is_repeated_then_given_up_and_another_device_is_asked(scene: Scene) -> None:
    scene.decide()
    scene.answer("c", "acknowledged")
    scene.later(16)
    scene.later(16)
    scene.later(16)
    assert [device for device, _ in scene.post.sent if device == "a"] == ["a"] * 3
    assert len({command.id for device, command in scene.post.sent if device == "a"}) == 1
    scene.later(16)
    assert scene.states() == {"a": "expired", "c": "acknowledged"}
    assert scene.decide(SECOND) == 1
    assert scene.post.sent[-1][0] == "b"
    assert scene.states() == {"a": "reassigned", "b": "published", "c": "acknowledged"}
    old, new = scene.commands()["0123456789ab-4-0"], scene.commands()["0123456789ab-5-0"]
    assert old["replaced_by"] == new["id"]
    assert old["reason"] == "no_answer"


def test_killed_as_it_reassigns_the_old_command_is_reassigned_by_the_next_run(scene: Scene) -> None:
    scene.decide()
    scene.answer("a", "refused", reason="not_there")
    scene.point = "outbox"
    with pytest.raises(KilledError):
        scene.decide(replace(SECOND, at_us=AT_US + SECOND_US))
    scene.desk = scene.opened()
    scene.desk.follow_up()
    assert scene.states() == {"a": "reassigned", "b": "published", "c": "published"}


def test_a_broker_that_is_away_gets_it_when_it_is_back(scene: Scene) -> None:
    scene.post.there = False
    assert scene.decide() == 2
    assert scene.desk.states() == {"outbox": 2}
    scene.later(5)
    assert len(scene.post.sent) == 2  # the post has them already
    assert scene.states() == {"a": "outbox", "c": "outbox"}
    scene.post.there = True
    scene.later(5)
    assert scene.states() == {"a": "published", "c": "published"}


def test_a_broker_that_refuses_is_asked_again_until_the_time_is_over(scene: Scene) -> None:
    scene.post.refuses = set("abcd")
    scene.decide()
    assert scene.desk.troubles()["refused_commands"] == 2
    scene.later(5)
    assert scene.desk.troubles()["refused_commands"] == 2
    scene.later(15)
    assert scene.desk.troubles()["refused_commands"] == 4
    scene.later(60)
    assert scene.states() == {"a": "expired", "c": "expired"}
    assert {row["reason"] for row in scene.commands().values()} == {"never_published"}


def test_one_that_is_refused_does_not_stop_the_others(scene: Scene) -> None:
    scene.post.refuses = {"a"}
    scene.decide()
    assert scene.states() == {"a": "outbox", "c": "published"}
    assert scene.desk.troubles()["refused_commands"] == 1
    scene.later(5)
    assert [device for device, _ in scene.post.sent] == ["a", "c"]
    scene.later(56)
    assert scene.states() == {"a": "expired", "c": "expired"}
    assert {row["device"]: row["reason"] for row in scene.commands().values()} == {
        "a": "never_published",
        "c": "no_answer",
    }


def test_who_began_and_is_gone_blocks_nobody(scene: Scene) -> None:
    scene.decide()
    scene.answer("a", "acknowledged")
    scene.registry.heard("a", encode(Registration("a", False)))
    scene.registry.heard("c", encode(Registration("c", False)))
    scene.later(1)
    assert scene.states() == {"a": "expired", "c": "published"}  # c may come back in time and begin
    assert scene.commands()["0123456789ab-4-0"]["reason"] == "gone"
    assert scene.decide(replace(SECOND, at_us=scene.now_us)) == 1
    assert scene.post.sent[-1][0] == "b"


def test_who_began_and_says_no_more_is_asked_again_then_given_up(scene: Scene) -> None:
    scene.decide()
    scene.answer("a", "acknowledged")
    scene.answer("c", "done")
    for _ in range(12):
        scene.later(10)
    assert [device for device, _ in scene.post.sent] == ["a", "c", "a", "a"]
    assert scene.states()["a"] == "acknowledged"  # 60 s to begin, 3 s to measure, a minute of patience
    scene.later(4)
    assert scene.commands()["0123456789ab-4-0"]["reason"] == "no_end"
    scene.answer("a", "done")
    assert scene.states()["a"] == "done"


def test_a_clock_at_the_end_of_time_does_no_harm(scene: Scene) -> None:
    scene.decide()
    command = scene.post.sent[0][1]
    last = encode(Answer(command.id, "a", datetime.max.replace(tzinfo=UTC), "acknowledged"))
    scene.desk.answered([("a", last)])
    assert scene.commands()[command.id]["acknowledged_at"] == datetime.max.replace(tzinfo=UTC)


def test_answers_of_others_change_nothing(scene: Scene) -> None:
    scene.decide()
    command = scene.post.sent[0][1]
    forged = encode(Answer(command.id, "a", NOON, "done"))
    scene.desk.answered(
        [("b", forged), ("a", b"nonsense"), ("a", encode(Answer("0123456789ab-9-9", "a", NOON, "done")))]
    )
    scene.desk.answered([("b", encode(Answer(command.id, "b", NOON, "done")))])
    assert scene.states() == {"a": "published", "c": "published"}
    troubles = scene.desk.troubles()
    assert (troubles["unknown_answers"], troubles["malformed_answers"]) == (3, 1)


def test_a_job_that_is_behind_decides_nothing(scene: Scene) -> None:
    late = table(WHEREABOUTS, [{"device": "a", "tile": "17/1/1", "seen_at": NOON - timedelta(seconds=61)}])
    old = NOON - timedelta(seconds=70)
    places = [{"tile": "17/1/1", "network": "5G", "channel": 1, "last_seen": old, "recent": [{"at": old}]}]
    assert scene.desk.decide(FIRST, table(PLACES, places), late) == 0
    assert scene.desk.decide(FIRST, table(PLACES, []), table(WHEREABOUTS, [])) == 0


def test_a_batch_that_was_cut_hours_ago_decides_nothing(scene: Scene) -> None:
    """Its readings were new then; by now nobody knows who is where."""
    scene.now_us += 3 * 3600 * SECOND_US
    assert scene.decide() == 0


def test_what_is_long_over_is_let_go_and_stays_in_the_table(scene: Scene) -> None:
    scene.decide()
    scene.answer("a", "done")
    scene.answer("c", "done")
    scene.later(3601)
    assert scene.desk.states() == {}
    assert scene.desk.rows()["commands"] == 2
    assert DeltaTable(scene.folder / "tables" / "outbox").count() == 2
