"""Do the jars come from where the user says, and is it told where they are missing?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.errors import ConfigError
from lapwing.pipeline.source.spark_jars import (
    DELTA,
    EARLIER_REMEDY,
    JARS_REMEDY,
    JARS_VARIABLE,
    KAFKA,
    jar_remedy,
    jar_settings,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(JARS_VARIABLE, str(tmp_path))
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    return tmp_path


def test_a_named_folder_counts(folder: Path) -> None:
    for name in ("spark-sql-kafka-0-10_2.13-4.2.0.jar", "kafka-clients-3.9.1.jar"):
        (folder / name).touch()
    jars = [f"{folder}/kafka-clients-3.9.1.jar", f"{folder}/spark-sql-kafka-0-10_2.13-4.2.0.jar"]
    assert jar_settings({}, (KAFKA,)) == {"spark.jars": ",".join(jars)}


def test_a_folder_with_any_name_counts(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comma would end the jar, and ``#`` its URI; and what is given is found again."""
    odd = tmp_path / "my jars, ü#100%"
    odd.mkdir()
    jar = odd / "spark-sql-kafka-0-10_2.13-4.2.0.jar"
    jar.touch()
    monkeypatch.setenv(JARS_VARIABLE, str(odd))
    given = jar_settings({}, (KAFKA,))["spark.jars"]
    assert given == f"{tmp_path.as_uri()}/my%20jars%2C%20%C3%BC%23100%25/{jar.name}"
    assert f"Spark was given {jar}: " in jar_remedy(KAFKA, {"spark.jars": given})


def test_a_named_folder_without_them_is_told(folder: Path) -> None:
    with pytest.raises(ConfigError, match="no jar of Spark's Kafka source") as caught:
        jar_settings({}, (KAFKA,))
    assert f"{JARS_VARIABLE}={folder}" in str(caught.value)
    assert "make spark-jars" in str(caught.value)


@pytest.mark.parametrize("setting", ["spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"])
def test_the_user_s_own_setting_counts_first(folder: Path, setting: str) -> None:
    assert jar_settings({setting: "mine"}, (KAFKA,)) == {}


def test_spark_submit_has_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert jar_settings({}, (KAFKA, DELTA)) == {}


def test_else_spark_fetches_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(JARS_VARIABLE)
    monkeypatch.setattr("lapwing.pipeline.source.spark_jars._folders", lambda _: iter(()))
    packages = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0,io.delta:delta-spark_4.2_2.13:4.4.0"
    assert jar_settings({}, (KAFKA, DELTA)) == {"spark.jars.packages": packages}


@pytest.mark.parametrize(
    ("running", "told"),
    [
        ({}, EARLIER_REMEDY),
        ({"spark.jars": "/jars/other.jar"}, JARS_REMEDY),
        ({"spark.jars.packages": "a:b:1"}, JARS_REMEDY),
        ({"spark.jars": "/jars/a.jar,/jars/spark-sql-kafka-0-10_2.13-4.2.0.jar"}, "ulimit -n"),
    ],
)
def test_what_spark_cannot_load_has_a_remedy_that_fits(
    running: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert told in jar_remedy(KAFKA, running)
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert "ulimit -n" in told or "--packages org.apache.spark:" in jar_remedy(KAFKA, running)
