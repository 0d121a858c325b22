"""Replay: everything comes, in order, when it is due."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lapwing.lab.cork_traces import CREDIT
from lapwing.lab.malformed_rows import KEPT_MAX
from lapwing.lab.replay import Replay
from lapwing.lab.source import Batch
from lapwing.lab.test_traces import HEAD, SOUND
from lapwing.lab.traces import TraceError

START_US = 1_700_000_000_000_000


def at(second: int, rsrp: int = -90) -> str:
    return SOUND.replace("12.00.00", f"12.00.{second:02d}").replace("-200", str(rsrp))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("\n".join((HEAD, at(10), at(10), "broken", at(14), at(12))) + "\n")
    (tmp_path / "b.csv").write_text("\n".join((HEAD, at(40), at(41))) + "\n")
    return tmp_path


def readings(batches: list[Batch]) -> list[dict[str, object]]:
    return [json.loads(payload) for batch in batches for payload in batch.payload]


def test_each_file_in_its_order_with_serials_from_0(folder: Path) -> None:
    replay = Replay(folder, speed=2.0)
    sent = readings(list(replay.batches(START_US)))
    assert replay.devices == ["a", "b"]
    assert [r["serial"] for r in sent if r["device"] == "a"] == [0, 1, 2, 3]
    assert [r["measured_at"] for r in sent if r["device"] == "a"][2:] == [
        "2019-07-01T11:00:14.000000Z",
        "2019-07-01T11:00:12.000000Z",
    ]


def test_due_times_follow_the_trace_and_never_fall(folder: Path) -> None:
    replay = Replay(folder, speed=2.0)
    (batch,) = replay.batches(START_US)
    assert np.all(np.diff(batch.due_us) >= 0)
    assert batch.due_us[batch.device == 0].tolist() == [0, 0, 2_000_000, 2_000_000]
    assert batch.due_us[batch.device == 1].tolist() == [250_000, 750_000]
    assert replay.seconds == 2.0
    assert readings([batch])[-1]["sent_at"] == "2023-11-14T22:13:22.000000Z"


def test_malformed_rows_are_known_before_anything_is_sent(folder: Path) -> None:
    replay = Replay(folder)
    assert [str(row).split(": ")[0] for row in replay.malformed.first] == ["a.csv:4"]
    assert replay.malformed.by_file == {"a.csv": 1}
    assert replay.readings_expected == len(readings(list(replay.batches(START_US)))) == 6


def test_of_a_file_that_has_nothing_else_few_rows_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n".join((HEAD, SOUND, *["broken"] * (2 * KEPT_MAX))) + "\n")
    replay = Replay(tmp_path)
    assert (len(replay.malformed), len(replay.malformed.first)) == (2 * KEPT_MAX, KEPT_MAX)
    assert (replay.readings_expected, str(replay.malformed.first[0]).startswith("a.csv:3: ")) == (1, True)


def test_a_jump_of_the_clock_is_said_and_nobody_waits_for_it(tmp_path: Path) -> None:
    """Years forward and back, and a second drive in the same file; a minute's gap is the trace's own."""
    times = ("2019.07.01_12.00.00", "2022.07.01_12.00.02", "2019.07.01_12.00.03", "2019.07.01_12.01.03")
    rows = [SOUND.replace("2019.07.01_12.00.00", at) for at in times]
    (tmp_path / "a.csv").write_text("\n".join((HEAD, *rows)) + "\n")
    replay = Replay(tmp_path)
    (batch,) = replay.batches(START_US)
    assert (batch.due_us / 1e6).tolist() == [0, 1, 2, 62]
    assert readings([batch])[1]["measured_at"] == "2022-07-01T11:00:02.000000Z"
    (told,) = replay.repairs.as_json().values()
    assert (told["count"], told["first"]) == (2, "a.csv:3: the clock jumps by +1,096.0 days")


def test_nobody_is_credited_with_files_that_are_not_theirs(folder: Path) -> None:
    assert Replay(folder).credit == ""


def test_an_odd_speed_and_an_unknown_zone_are_refused(folder: Path) -> None:
    for speed in (0, -1, 1e-300, 1e-12, 1e300, float("inf"), float("nan")):
        with pytest.raises(TraceError, match="--speed"):
            Replay(folder, speed=speed)
    with pytest.raises(TraceError, match="time zone"):
        Replay(folder, zone="Europe/Atlantis")
    for odd in ("", "..", "/etc/passwd", "Europe", "\0"):
        with pytest.raises(TraceError, match="--zone"):
            Replay(folder, zone=odd)


@pytest.mark.nightly
def test_all_readings_of_the_cork_traces_come() -> None:
    traces = Path(__file__).parents[4] / "shared" / "data" / "cork-5g-traces.zip"
    if not traces.exists():
        pytest.skip(f"{traces.name} is not in ../shared/data")
    replay = Replay(traces, speed=200)
    assert (len(replay.devices), replay.readings_expected, len(replay.malformed)) == (60, 135_089, 0)
    assert replay.repairs.as_json() == {}
    assert replay.credit == CREDIT
    assert sum(map(len, replay.batches(START_US))) == 135_089
