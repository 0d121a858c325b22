"""A job over TLS to a real Kafka: are the tables those of a plain one, and does what is wrong get a line that helps?"""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from kafka_certificates import KafkaCertificates
from kafka_keeper import PASSWORD
from kafka_stream import KafkaStream
from shared_kafka import SharedKafka
from test_coverage_job import check, send

from lapwing.errors import ConfigError, ConnectError
from lapwing.pipeline.jobs.coverage import run_coverage

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.usefixtures("spark")]
USER = (
    "sasl.mechanism=SCRAM-SHA-512",
    "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
    f' username="pipeline" password="{PASSWORD}";',
)


@pytest.fixture
def guarded(kafka: SharedKafka) -> SharedKafka:
    """It speaks TLS: with passwords on one port, with clients' certificates on another."""
    return kafka


@pytest.fixture
def files(kafka: SharedKafka) -> KafkaCertificates:
    return kafka.files


@pytest.fixture
def topic(guarded: SharedKafka) -> KafkaStream:
    return KafkaStream(guarded, f"t-{uuid.uuid4()}")


def client_config(folder: Path, *settings: str) -> dict[str, str]:
    """The file that docs/kafka.md shows, as an option of a job."""
    file = folder / "client.properties"
    file.write_text("\n".join(settings))
    return {"lapwing.client_config": str(file)}


def trusting(ca: Path) -> tuple[str, str]:
    return "ssl.truststore.type=PEM", f"ssl.truststore.location={ca}"


@pytest.mark.nightly
def test_with_a_password(topic: KafkaStream, guarded: SharedKafka, files: KafkaCertificates, tmp_path: Path) -> None:
    """And the password is in nothing that the job writes."""
    send(topic, 0, 10)  # type: ignore[arg-type]
    conf = client_config(tmp_path, "security.protocol=SASL_SSL", *USER, *trusting(files.ca))
    out = tmp_path / "out"
    run_coverage(f"kafka://{guarded.sasl_bootstrap}/{topic.name}", out, draw=False, conf=conf)
    check(out, 10)
    written = [file for file in out.rglob("*") if file.is_file()]
    assert written
    assert not [file for file in written if PASSWORD.encode() in file.read_bytes()]


def test_with_a_certificate(topic: KafkaStream, guarded: SharedKafka, files: KafkaCertificates, tmp_path: Path) -> None:
    send(topic, 0, 10)  # type: ignore[arg-type]
    own = ("ssl.keystore.type=PEM", f"ssl.keystore.location={files.client_keystore}")
    conf = client_config(tmp_path, "security.protocol=SSL", *own, *trusting(files.ca))
    run_coverage(f"kafka://{guarded.tls_bootstrap}/{topic.name}", tmp_path / "out", draw=False, conf=conf)
    check(tmp_path / "out", 10)


def test_what_is_wrong_is_told(
    topic: KafkaStream, guarded: SharedKafka, files: KafkaCertificates, tmp_path: Path
) -> None:
    secure, certified = guarded.sasl_bootstrap, guarded.tls_bootstrap
    by_name = secure.replace("127.0.0.1", "localhost")
    with_password = ("security.protocol=SASL_SSL", *USER)
    wrong_password = tuple(line.replace(PASSWORD, "wrong-one") for line in with_password)
    cases = {
        "authority": (secure, (*with_password, *trusting(files.other_ca)), "ssl.truststore.location"),
        "name": (by_name, (*with_password, *trusting(files.ca)), "give a name that is in Kafka's certificate"),
        "password": (secure, (*wrong_password, *trusting(files.ca)), "uthentication failed"),
        "plain-to-tls": (secure, (), "security.protocol"),
        "tls-to-plain": (guarded.bootstrap, (*with_password, *trusting(files.ca)), "security.protocol"),
        "no-certificate": (certified, ("security.protocol=SSL", *trusting(files.ca)), "ssl.keystore.location"),
    }
    for name, (servers, settings, told) in cases.items():
        # Where one side speaks TLS and the other does not, nobody says a word: that takes the whole time.
        timeout_s = "3" if name in ("plain-to-tls", "tls-to-plain") else "30"
        conf = {**client_config(tmp_path, *settings), "lapwing.timeout_s": timeout_s}
        with pytest.raises(ConnectError) as caught:
            run_coverage(f"kafka://{servers}/{topic.name}", tmp_path / name, draw=False, conf=conf)
        said = str(caught.value)
        assert told in said, name
        assert PASSWORD not in said
        assert "wrong-one" not in said


def test_a_file_that_is_not_there_is_told(topic: KafkaStream, guarded: SharedKafka, tmp_path: Path) -> None:
    conf = client_config(tmp_path, "security.protocol=SASL_SSL", *USER, *trusting(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match=r"none\.pem") as caught:
        run_coverage(f"kafka://{guarded.sasl_bootstrap}/{topic.name}", tmp_path / "out", draw=False, conf=conf)
    assert PASSWORD not in str(caught.value)
