"""Is every miss and every dead letter counted exactly once, whatever happens to the job?"""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from killed import Start, killed_after_each, until_killed
from late_messages import late_envelopes, letter, miss
from messages import START, envelopes
from pyspark.sql import SparkSession
from served_stream import ServedStream

from lapwing import Broker, Client
from lapwing.contracts.late_tables import LATE_TABLES
from lapwing.pipeline.jobs.deadlines import DeadlinesJob, run_deadlines
from lapwing.pipeline.jobs.late_progress import LateResult
from lapwing.pipeline.report.tables import read

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("spark")]
POINTS = ["misses", "dead_letters", "quarantine", "seen", "batch"]
DEADLINE_S = 60


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(out, table).to_pylist()
    return found


def run(stream: ServedStream, out: Path, **arguments: Any) -> LateResult:
    return run_deadlines(stream.url, out, draw=False, **arguments)


def send(stream: ServedStream, first: int, count: int) -> None:
    """On both partitions: a miss each, every second critical, every third without a member; a dead letter for every
    fifth; every seventh is neither."""
    for partition in range(2):
        sent: list[Any] = []
        for number in range(first, first + count):
            lane = "critical" if number % 2 == 0 else "bulk"
            sent.append(miss(None if number % 3 == 0 else f"m{partition}", lane))
            if number % 5 == 0:
                sent.append((letter(age_ms=str(number)), b"work"))
            if number % 7 == 0:
                sent.append(f"broken {partition} {number}".encode())
        stream.append(partition, late_envelopes(sent, ingress=START + timedelta(seconds=first)))


def check(out: Path, count: int) -> None:
    """The tables after `send` has sent 0..count."""
    for check_table in CHECKS.values():
        check_table(out, count)


def check_misses(out: Path, count: int) -> None:
    found = rows(out, "misses")
    assert sum(row["missed"] for row in found) == 2 * count
    by_lane: Counter[str] = Counter()
    by_member: Counter[str | None] = Counter()
    for row in found:
        by_lane[row["lane"]] += row["missed"]
        by_member[row["member"]] += row["missed"]
    assert by_lane == {"critical": 2 * len(range(0, count, 2)), "bulk": 2 * (count - len(range(0, count, 2)))}
    waited = len(range(0, count, 3))
    assert by_member == {None: 2 * waited, "m0": count - waited, "m1": count - waited}
    assert sum(row["late_ms_sum"] for row in found) == 2 * 50 * count
    assert {row["late_ms_max"] for row in found} == {50}


def check_dead_letters(out: Path, count: int) -> None:
    letters = rows(out, "dead_letters")
    fifths = range(0, count, 5)
    assert sum(row["count"] for row in letters) == 2 * len(fifths)
    assert sum(row["bytes"] for row in letters) == 2 * 4 * len(fifths)
    assert sum(row["age_ms_sum"] for row in letters) == 2 * sum(fifths)


def check_quarantine(out: Path, count: int) -> None:
    broken = sorted(row["payload"].decode() for row in rows(out, "quarantine"))
    assert broken == sorted(f"broken {partition} {n}" for partition in range(2) for n in range(0, count, 7))


CHECKS = {"misses": check_misses, "dead_letters": check_dead_letters, "quarantine": check_quarantine}
"""By table."""


def run_until_killed(stream: ServedStream, out: Path, point: str, **conf: str) -> None:
    until_killed(starting(stream, out, **conf), point)


def starting(stream: ServedStream, out: Path, **conf: str) -> Start:
    """Starts a job over what is there."""
    return lambda committed: DeadlinesJob(
        stream.url, out, trigger="available-now", conf=conf, committed=committed
    ).start()


def test_everything_is_in_its_table(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 20)
    told: list[Any] = []
    result = run_deadlines(stream.url, tmp_path, progress=told.append)
    check(tmp_path, 20)
    assert (result.rows, result.misses, result.dead_letters, result.quarantined) == (54, 40, 8, 6)
    assert (result.rows_in_tables["quarantine"], result.trimmed) == (6, 0)
    assert [each.rows for each in told] == [54]
    assert told[0].told() == "40 misses, 8 dead letters, 6 quarantined"
    assert [path.name for path in result.pictures] == ["deadlines.png"]
    assert result.pictures[0].read_bytes().startswith(b"\x89PNG")
    for name, record in LATE_TABLES.items():
        fields = DeltaTable(tmp_path / "tables" / name).schema().fields
        assert [(field.name, field.nullable) for field in fields] == [(f.name, f.nullable) for f in record]


def test_rows_are_by_minute_group_lane_member_and_reason(stream: ServedStream, tmp_path: Path) -> None:
    late = timedelta(seconds=59)
    stream.append(0, late_envelopes([miss(), miss(took_ms=1250.0), miss("m2"), miss(group="g", filter="g")]))
    stream.append(0, late_envelopes([miss(lane="critical"), miss()], ingress=START + late + timedelta(seconds=1)))
    letters = [(letter(), b"12345"), (letter("message_expired", age_ms="7"), b""), (letter(group="g"), b"1")]
    stream.append(1, late_envelopes(letters, ingress=START + late))
    run(stream, tmp_path)
    found = {
        (row["minute"], row["group"], row["filter"], row["lane"], row["member"]): (
            row["missed"], row["late_ms_sum"], row["late_ms_max"],
        )
        for row in rows(tmp_path, "misses")
    }  # fmt: skip
    after = START + timedelta(minutes=1)
    assert found == {
        (START, "alarms", "alarms/#", "bulk", "m1"): (2, 1050, 1000),
        (START, "alarms", "alarms/#", "bulk", "m2"): (1, 50, 50),
        (START, "g", "g", "bulk", "m1"): (1, 50, 50),
        (after, "alarms", "alarms/#", "bulk", "m1"): (1, 50, 50),
        (after, "alarms", "alarms/#", "critical", "m1"): (1, 50, 50),
    }
    counted = {
        (row["minute"], row["group"], row["reason"]): (row["count"], row["bytes"], row["age_ms_max"])
        for row in rows(tmp_path, "dead_letters")
    }
    assert counted == {
        (START, "alarms", "deadline_passed"): (1, 5, 1000),
        (START, "alarms", "message_expired"): (1, 0, 7),
        (START, "g", "deadline_passed"): (1, 1, 1000),
    }


def test_what_is_neither_keeps_its_bytes_and_says_why(stream: ServedStream, tmp_path: Path) -> None:
    half = letter()
    del half["lapwing-group"]
    stream.append(0, late_envelopes([b"\xff", miss(lane="high"), (half, b"kept")]))
    run(stream, tmp_path)
    found = sorted((row["reason"], row["payload"][:4]) for row in rows(tmp_path, "quarantine"))
    assert found == [("not_a_dead_letter", b"kept"), ("not_a_miss", b'{"gr'), ("not_a_miss", b"\xff")]


def test_batches_add_up(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 10)
    first = run(stream, tmp_path, conf={"lapwing.max_rows_per_batch": "14"})
    send(stream, 10, 15)
    second = run(stream, tmp_path, conf={"lapwing.max_rows_per_batch": "20"})
    assert (first.batches, second.batches) == (2, 2)
    assert run(stream, tmp_path).rows == 0
    check(tmp_path, 25)


@pytest.mark.nightly
@pytest.mark.parametrize("keep_checkpoint", [True, False])
def test_a_job_that_ends_after_a_commit_repeats_nothing(
    stream: ServedStream, tmp_path: Path, keep_checkpoint: bool
) -> None:
    """After each of them in turn; also where the checkpoint is deleted."""
    sent = killed_after_each(
        POINTS,
        starting(stream, tmp_path),
        partial(send, stream),
        tmp_path,
        CHECKS,
        keep_checkpoint=keep_checkpoint,
        is_cut_alike=keep_checkpoint,
    )
    send(stream, sent, 10)
    run(stream, tmp_path)
    check(tmp_path, sent + 10)


def test_two_streams_are_added_up_in_one_place(stream: ServedStream, tmp_path: Path) -> None:
    """Has each stream its own checkpoint and its own positions, and are rows of one key joined?"""
    other = ServedStream(partitions=2, name="more")
    try:
        send(stream, 0, 10)
        run(stream, tmp_path)
        other.append(0, late_envelopes([miss("m0"), miss("m0", "critical")]))
        run(other, tmp_path)
        send(stream, 10, 5)
        run(stream, tmp_path)
        assert run(other, tmp_path).rows == 0
    finally:
        other.close()
    assert sum(row["missed"] for row in rows(tmp_path, "misses")) == 32
    assert len({tuple(row[key] for key in ("minute", "lane", "member")) for row in rows(tmp_path, "misses")}) == len(
        rows(tmp_path, "misses")
    )


def test_readings_are_neither(stream: ServedStream, tmp_path: Path) -> None:
    """Is a wrong stream told by its quarantine, and its picture drawn all the same?"""
    stream.append(0, envelopes([{"device": "d"}]))
    result = run_deadlines(stream.url, tmp_path)
    assert (result.quarantined, result.misses) == (1, 0)
    assert result.pictures[0].exists()


def test_from_a_broker_s_group_to_the_tables(tmp_path: Path, spark: SparkSession) -> None:
    """Does what a real group publishes reach the tables: late work of a member, and dead letters of none?"""
    del spark
    groups = {
        "slow": {
            "filters": ["slow/#"],
            "missed_topic": "late/missed/slow",
            "acknowledges": "processed",
            "rules": [{"topics": ["slow/#"], "priority": "critical", "deadline": "20ms"}],
        },
        "gone": {
            "filters": ["gone/#"],
            "expired": "dead-letter",
            "dead_letter_topic": "late/dead/gone",
            "rules": [{"topics": ["gone/#"], "deadline": "1ms"}],
        },
    }
    with Broker(groups=groups, streams={"late": "late/#"}, http="127.0.0.1:0", shards=2) as broker:
        with Client(broker.url, client_id="worker") as worker, Client(broker.url) as device:
            worker.subscribe("$share/slow/slow/#", qos=1)
            for number in range(3):
                device.publish(f"gone/{number}", b"1234", qos=1)
            device.publish("slow/1", b"", qos=1)
            device.flush()
            time.sleep(0.1)  # the work itself: it takes longer than its deadline
            assert worker.receive(timeout_s=DEADLINE_S)
            wait_for(broker, 4)
        result = run_deadlines(f"{broker.http_url}/v1/streams/late", tmp_path, draw=False)
    assert (result.misses, result.dead_letters, result.quarantined) == (1, 3, 0)
    (missed,) = rows(tmp_path, "misses")
    assert (missed["group"], missed["filter"], missed["lane"]) == ("slow", "slow/#", "critical")
    assert (missed["member"], missed["missed"]) == ("worker", 1)
    assert missed["late_ms_max"] >= 50
    dead = rows(tmp_path, "dead_letters")
    assert {(row["group"], row["reason"]) for row in dead} == {("gone", "deadline_passed")}
    assert (sum(row["count"] for row in dead), sum(row["bytes"] for row in dead)) == (3, 12)


def wait_for(broker: Broker, messages: int) -> None:
    """Until the stream has so many."""
    until = time.monotonic() + DEADLINE_S
    while sum(part["next_offset"] for part in broker.streams()[0]["partitions"]) < messages:
        assert time.monotonic() < until, broker.streams()
        time.sleep(0.02)
