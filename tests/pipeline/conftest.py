"""One Spark session and one Kafka per test run, one stream, one topic and one fresh folder per test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Spark's workers find the package the way this process does.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))

from kafka_server import kafka  # noqa: E402
from kafka_stream import KafkaStream  # noqa: E402
from pyspark import SparkContext  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from served_stream import ServedStream  # noqa: E402
from shared_kafka import SharedKafka  # noqa: E402

from lapwing.pipeline.session import session  # noqa: E402
from lapwing.pipeline.sinks.delta_spark import DELTA_SETTINGS  # noqa: E402
from lapwing.pipeline.source.spark_jars import DELTA, KAFKA, find_jars, jar_settings  # noqa: E402

__all__ = ["kafka"]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    # A job that ran in this process before would have started Spark as it needs it, and this would be that Spark.
    assert SparkContext._active_spark_context is None, "a test elsewhere runs a job in its own process: use a command"
    # What cannot be added later; without jars only tests of Kafka and of Delta's jar fail, and say how to get them.
    wanted = (KAFKA, DELTA)
    extras = {**DELTA_SETTINGS, **jar_settings({}, wanted)} if find_jars(wanted) else {}
    started = session(conf={"spark.driver.memory": "1g", **extras})
    yield started
    started.stop()


@pytest.fixture(scope="module", autouse=True)
def files_of_ended_queries_are_closed() -> Iterator[None]:
    """Spark's ended queries keep sockets and selectors open until the JVM collects them, which this one, idle, does
    not: after all files of this folder they were over a thousand, where many systems allow 1,024."""
    yield
    running = SparkSession.getActiveSession()
    if running:
        running.sparkContext._jvm.java.lang.System.gc()


@pytest.fixture
def stream() -> Iterator[ServedStream]:
    served = ServedStream(partitions=2)
    yield served
    served.close()


@pytest.fixture
def topic(kafka: SharedKafka) -> KafkaStream:
    return KafkaStream(kafka, f"t-{uuid.uuid4()}")
