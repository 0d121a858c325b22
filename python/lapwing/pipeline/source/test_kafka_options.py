"""Does a wrong address or option of a Kafka source get a line that names it, and no secret?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lapwing.errors import ConfigError
from lapwing.pipeline.source.kafka_address import KafkaAddress
from lapwing.pipeline.source.kafka_options import KafkaOptions, starting_offsets

HERE = KafkaAddress.parse("kafka://127.0.0.1:9092/readings")


@pytest.mark.parametrize(
    ("url", "servers", "topic"),
    [
        ("kafka://127.0.0.1:9092/readings", ("127.0.0.1:9092",), "readings"),
        ("kafka://a:1,b.example:2/x.y-Z_0", ("a:1", "b.example:2"), "x.y-Z_0"),
        ("kafka://[::1]:9092/t", ("[::1]:9092",), "t"),
    ],
)
def test_an_address_is_read(url: str, servers: tuple[str, ...], topic: str) -> None:
    address = KafkaAddress.parse(url)
    assert (address.servers, address.topic, str(address)) == (servers, topic, url)


@pytest.mark.parametrize(
    "url",
    [
        "", "kafka://", "kafka://h:1", "kafka://h:1/", "kafka://h/t", "kafka://h:x/t", "kafka://h:99999/t", "http://h:1/t",
        "kafka://h:1/a/b", "kafka://h:1/a?b", "kafka://h:1/..", "kafka://h:1,/t", "kafka://h:1/" + "t" * 250,
    ],
)  # fmt: skip
def test_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="kafka://HOST:PORT"):
        KafkaAddress.parse(url)


def test_a_user_in_the_address_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        KafkaAddress.parse("kafka://u:s3cret@h:1/t")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("start", "middle"), ("on_trimmed", "ignore"), ("tasks", "-1"), ("colour", "s3cret"), ("token_file", "s3cret"),
     ("kafka.group.id", "s3cret"), ("kafka.bootstrap.servers", "s3cret"), ("client_config", "/no/such/file")],
)  # fmt: skip
def test_a_wrong_option_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name.removeprefix("kafka.").replace("/", ".")) as caught:
        KafkaOptions.parse({name: value})
    assert "s3cret" not in str(caught.value)


def test_what_spark_is_told() -> None:
    options = KafkaOptions.parse({"tasks": "3", "max_rows_per_batch": "7", "timeout_s": "2", "on_trimmed": "skip"})
    told = options.spark_options(HERE, "coverage", partitions=2)
    assert told == {
        "subscribe": "readings",
        "includeHeaders": "true",
        "failOnDataLoss": "false",
        "groupIdPrefix": "lapwing-coverage",
        "kafkaConsumer.pollTimeoutMs": "2000",
        "maxOffsetsPerTrigger": "7",
        "minPartitions": "3",
        "kafka.bootstrap.servers": "127.0.0.1:9092",
        "kafka.request.timeout.ms": "2000",
        "kafka.default.api.timeout.ms": "2000",
        "kafka.allow.auto.create.topics": "false",
        "kafka.isolation.level": "read_committed",
    }
    assert "minPartitions" not in options.spark_options(HERE, "coverage", partitions=3)
    assert "maxOffsetsPerTrigger" not in KafkaOptions.parse({"max_rows_per_batch": "0"}).spark_options(HERE, "r", 1)


def test_settings_of_the_client_come_from_a_file_and_from_options(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        '# ours\n\nsecurity.protocol = SASL_SSL\nsasl.jaas.config=X required password="a=s3cret";\nretries=1\n'
    )
    options = KafkaOptions.parse({"client_config": str(file), "kafka.retries": "2"})
    settings = options.client_settings(HERE)
    assert settings["security.protocol"] == "SASL_SSL"
    assert settings["sasl.jaas.config"] == 'X required password="a=s3cret";'
    assert settings["retries"] == "2"
    assert "s3cret" not in repr(options)
    file.write_bytes(
        b'\xef\xbb\xbfsecurity.protocol: SASL_SSL\r\nsasl.jaas.config=X required \\\r\n  password\\="a";\r\n'
    )
    settings = KafkaOptions.parse({"client_config": str(file)}).client_settings(HERE)
    assert (settings["security.protocol"], settings["sasl.jaas.config"]) == ("SASL_SSL", 'X required password="a";')
    for wrong in ("a=\\us3cret", '{"a": "s3cret"}', "=s3cret", "[s3cret]", "a b=s3cret"):
        file.write_text(wrong)
        with pytest.raises(ConfigError, match=r"client\.properties") as caught:
            KafkaOptions.parse({"client_config": str(file)})
        assert "s3cret" not in str(caught.value)
    file.write_text("a=1\npassword s3cret\n")
    with pytest.raises(ConfigError, match=r"client\.properties:2") as caught:
        KafkaOptions.parse({"client_config": str(file)})
    assert "s3cret" not in str(caught.value)


def test_every_partition_gets_a_start() -> None:
    assert json.loads(starting_offsets("t", {1: 5, 0: None})) == {"t": {"0": -2, "1": 5}}


def test_what_transactions_take_back_is_read_only_where_it_is_asked_for() -> None:
    given = KafkaOptions.parse({"kafka.isolation.level": "read_uncommitted"})
    assert given.client_settings(HERE)["isolation.level"] == "read_uncommitted"
    with pytest.raises(ConfigError, match=r"kafka.isolation.level = 'all' cannot be.*read_committed or"):
        KafkaOptions.parse({"kafka.isolation.level": "all"})
