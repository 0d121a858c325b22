"""A query over Kafka rests when nothing comes: is what comes then read, once, and what is wrong told?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka_stream import KafkaStream
from messages import envelopes, reading
from test_coverage_job import check, rows, send

from lapwing.errors import LapwingError, StreamUnknownError
from lapwing.pipeline.errors import StreamRecreatedError
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.sinks.test_others import go_on_for_hours

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("spark")]
DEADLINE_S = 120.0


class Waited:
    """Waits for a job, as the command does, in a thread."""

    def __init__(self, job: CoverageJob) -> None:
        self.error: LapwingError | None = None
        self._job = job
        self.thread = threading.Thread(target=self._wait)
        self.thread.start()

    def _wait(self) -> None:
        try:
            self._job.wait()
        except LapwingError as error:
            self.error = error


@contextmanager
def resting_job(topic: KafkaStream, out: Path, **conf: str) -> Iterator[tuple[CoverageJob, Waited]]:
    conf = {"lapwing.rest_after_s": "1", **{f"lapwing.kafka.{name}": value for name, value in conf.items()}}
    job = CoverageJob(topic.url, out, trigger=0.2, conf=conf).start()
    waited = Waited(job)
    try:
        yield job, waited
    finally:
        job.stop()
        waited.thread.join(DEADLINE_S)
        assert not waited.thread.is_alive()


def until(what: Callable[[], bool], said: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not what():
        assert time.monotonic() < deadline, said
        time.sleep(0.05)


@pytest.mark.slow
def test_what_comes_to_one_that_rests_is_read_once(topic: KafkaStream, tmp_path: Path) -> None:
    """The first rest is before anything has come: there is no batch, and no commit of the checkpoint.

    Each query has a thread of this process to hand its batches to: is there none that only ended ones had?
    """
    with resting_job(topic, tmp_path) as (job, _):
        until(lambda: job._rest.is_on and job._running().is_over, "it never rested")
        threads = threading.active_count()
        for turn in range(3):
            until(lambda: job._rest.is_on and job._running().is_over, "it never rested")
            until(lambda: threading.active_count() <= threads + 1, f"{threading.enumerate()}")
            send(topic, 10 * turn, 10)  # type: ignore[arg-type]
            job.wait_caught_up(DEADLINE_S)
            check(tmp_path, 10 * (turn + 1))
        until(lambda: job._rest.is_on, "it never rested")
    check(tmp_path, 30)


@pytest.mark.slow
def test_others_who_go_on_for_hours_while_it_rests_do_not_end_it(topic: KafkaStream, tmp_path: Path) -> None:
    send(topic, 0, 10)  # type: ignore[arg-type]
    with resting_job(topic, tmp_path) as (job, waited):
        until(lambda: job._rest.is_on and job._running().is_over, "it never rested")
        for log in (tmp_path / "tables").glob("*/_delta_log"):
            go_on_for_hours(log.parent)
        send(topic, 10, 10)  # type: ignore[arg-type]
        job.wait_caught_up(DEADLINE_S)
        assert waited.error is None
    check(tmp_path, 20)


@pytest.mark.nightly
def test_a_new_job_goes_on_behind_one_that_was_stopped_in_its_rest(topic: KafkaStream, tmp_path: Path) -> None:
    send(topic, 0, 10)  # type: ignore[arg-type]
    with resting_job(topic, tmp_path) as (job, _):
        until(lambda: job._rest.is_on, "it never rested")
    send(topic, 10, 10)  # type: ignore[arg-type]
    with resting_job(topic, tmp_path) as (job, waited):
        job.wait_caught_up(DEADLINE_S)
        until(lambda: job._rest.is_on, "it never rested")
        assert waited.error is None
    check(tmp_path, 20)


@pytest.mark.parametrize("messages", [5, 15])
def test_a_topic_made_again_under_one_that_rests_stops_it(topic: KafkaStream, tmp_path: Path, messages: int) -> None:
    """With fewer messages than it had, and with more."""
    send(topic, 0, 10)  # type: ignore[arg-type]
    with resting_job(topic, tmp_path) as (job, waited):
        until(lambda: job._rest.is_on, "it never rested")
        topic.recreate()
        send(topic, 10, messages)  # type: ignore[arg-type]
        until(lambda: waited.error is not None, "it went on")
    # It may look between the two: then there is no topic.
    assert isinstance(waited.error, StreamRecreatedError | StreamUnknownError)
    check(tmp_path, 10)


def test_a_topic_that_is_deleted_under_one_that_rests_stays_deleted(topic: KafkaStream, tmp_path: Path) -> None:
    """Kafka makes a topic that a consumer asks for, unless the consumer says no: the default on both sides."""
    send(topic, 0, 10)  # type: ignore[arg-type]
    with resting_job(topic, tmp_path) as (job, waited):
        until(lambda: job._rest.is_on, "it never rested")
        topic.delete()
        until(lambda: waited.error is not None, "it went on without its topic")
    assert topic.name not in topic.admin.list_topics(timeout=DEADLINE_S).topics
    assert topic.name in str(waited.error)


@pytest.mark.nightly
def test_partitions_that_are_added_under_one_that_rests_are_read(topic: KafkaStream, tmp_path: Path) -> None:
    """What comes to them alone wakes nobody: Kafka's client has to look, which it does every five minutes."""
    send(topic, 0, 10)  # type: ignore[arg-type]
    with resting_job(topic, tmp_path, **{"metadata.max.age.ms": "1000"}) as (job, waited):
        until(lambda: job._rest.is_on, "it never rested")
        topic.add_partitions(4)
        topic.append(3, envelopes([reading("c", 0)]))
        job.wait_caught_up(DEADLINE_S)
        assert waited.error is None
    assert [row["serial"] for row in rows(tmp_path, "readings") if row["device"] == "c"] == [0]


class FailedQuery:
    """One that failed as it was stopped for the rest: a batch had just begun."""

    is_over = True

    def wait(self, timeout_s: float) -> bool:
        return True

    def failure(self) -> RuntimeError:
        return RuntimeError("the query is being stopped")

    def stop(self) -> None: ...


@pytest.mark.nightly
def test_a_batch_that_the_rest_refused_is_no_failure_of_a_job_that_is_stopped_then(
    topic: KafkaStream, tmp_path: Path
) -> None:
    job = CoverageJob(topic.url, tmp_path, trigger=0.2, conf={"lapwing.rest_after_s": "1"}).start()
    stopped = threading.Event()
    errors: list[Exception] = []

    def wait() -> None:
        try:
            job.wait(stopped)
        except LapwingError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: job._rest.is_on and job._running().is_over, "it never rested")
    job._query = FailedQuery()  # type: ignore[assignment]
    stopped.set()
    thread.join(DEADLINE_S)
    job.stop()
    assert not errors
