"""On a Spark cluster of two workers: are the tables those of one machine, and does nothing go through the driver?"""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from kafka_stream import KafkaStream
from messages import fleet
from spark_cluster import SparkCluster
from test_coverage_job import rows, send
from test_kafka_source import without

from lapwing.lab.kafka import LocalKafka

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]
SCRIPT = Path(__file__).with_name("cluster_job.py")
LOCAL = "local[2]"


def job(master: str, topic: KafkaStream, out: Path) -> dict[str, Any]:
    """What the run did."""
    command = [sys.executable, str(SCRIPT), master, topic.url, str(out)]
    ended = subprocess.run(command, timeout=400, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    result: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return result


def test_a_cluster_makes_the_tables_of_one_machine(kafka: LocalKafka, tmp_path: Path) -> None:
    """8 MB of readings with repeats; the driver takes 1 MB of results. Then one machine goes on with the tables."""
    topic = KafkaStream(kafka, f"t-{uuid.uuid4()}")
    for partition in range(2):
        for batch in fleet(12_000, devices=40, seed=partition, repeats=0.05, name=f"dev-{partition}"):
            topic.append(partition, batch)
    with SparkCluster(tmp_path) as cluster:
        there = job(cluster.url, topic, tmp_path / "cluster")
        assert cluster.executors() == 2
    here = job(LOCAL, topic, tmp_path / "one")
    for name in ("rows", "readings", "repeated", "quarantined", "lost", "trimmed"):
        assert there[name] == here[name], name
    assert there["repeated"] > 500
    for table in ("readings", "quality", "coverage", "quarantine"):
        both = [without(rows(tmp_path / out, table), "observed_at") for out in ("cluster", "one")]
        assert both[0] == both[1], table
    send(topic, 0, 10)  # type: ignore[arg-type]
    after = job(LOCAL, topic, tmp_path / "cluster")
    assert (after["rows"], after["readings"]) == (26, 18)
