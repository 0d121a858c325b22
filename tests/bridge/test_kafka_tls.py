"""TLS to a real Kafka: does it carry, and does what is wrong with it get a line that helps, and lose nothing?"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import RunningBroker
from confluent_kafka import Producer
from conftest import RunningBridge, StartBridge, metric, to_kafka, to_mqtt
from kafka_certificates import KEY_PASSWORD, KafkaCertificates
from kafka_keeper import PASSWORD
from kafka_server import TIMEOUT_S, headers_of, read_topic, write_topic
from shared_kafka import SharedKafka

from lapwing import Client, Publisher
from lapwing.bridge.kafka_client import made
from lapwing.bridge.kafka_settings import common_settings
from lapwing.config.bridge_sides import BridgeKafka
from lapwing.errors import ConfigError
from lapwing.lab.kafka import LocalKafka

USERS = {"bridge": PASSWORD}
SECRET = {"LAPWING_KAFKA_PASSWORD": PASSWORD}
EVERYBODY_MAY = {"allow.everyone.if.no.acl.found": "true"}


class Guarded(NamedTuple):
    """A Kafka that speaks TLS: with passwords on one port, with clients' certificates on another."""

    kafka: SharedKafka | LocalKafka
    files: KafkaCertificates

    def with_password(self, ca: Path | None = None) -> tuple[str, ...]:
        """Settings; SCRAM is the bridge's own choice."""
        authority = f"bridge.kafka.ca={ca or self.files.ca}"
        return ("bridge.kafka.security=sasl-tls", "bridge.kafka.username=bridge", authority)

    def with_certificate(self, password_file: Path) -> tuple[str, ...]:
        """Settings, but for the authority."""
        files = self.files
        own = (f"bridge.kafka.certificate={files.client}", f"bridge.kafka.key={files.client_key}")
        password_file.write_text(KEY_PASSWORD)
        return ("bridge.kafka.security=tls", *own, f"bridge.kafka.key_password_file={password_file}")


@pytest.fixture
def guarded(kafka: SharedKafka) -> Guarded:
    return Guarded(kafka, kafka.files)


def publish(url: str, *payloads: bytes) -> None:
    """At QoS 1; on return the broker has them."""
    with Publisher(url) as publisher:
        for payload in payloads:
            publisher.publish("spectrum/7/readings", payload)


def test_both_ways_with_a_password(broker: RunningBroker, guarded: Guarded, start_bridge: StartBridge) -> None:
    kafka = guarded.kafka
    secure, orders = kafka.new_topic("secure"), kafka.new_topic("orders")
    write_topic(kafka.bootstrap, orders, [{"key": "1", "value": b"go"}])
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        rules = (to_kafka(secure), to_mqtt(orders))
        bridge = start_bridge(broker.url, kafka.sasl_bootstrap, *guarded.with_password(), *rules, variables=SECRET)
        publish(broker.url, *(b"%d" % number for number in range(50)))
        records = read_topic(kafka.bootstrap, secure, 50)
        assert [int(record.value()) for record in records] == list(range(50))
        assert headers_of(records[0])["lapwing-topic"] == "spectrum/7/readings"
        message = phone.receive(timeout_s=30)
    assert message is not None
    assert (message.topic, message.payload) == ("commands/1", b"go")
    assert bridge.end(signal.SIGTERM) == 0
    # Of a Kafka that has just started it may say that nothing is confirmed yet, or that the group's offsets are not to
    # be had; what is wrong with a connection names the server.
    assert not [notice for notice in bridge.all_notices() if "waits" in notice and kafka.sasl_bootstrap in notice]


def test_with_a_certificate(broker: RunningBroker, guarded: Guarded, tmp_path: Path, start_bridge: StartBridge) -> None:
    """Its key is encrypted."""
    topic = guarded.kafka.new_topic("certified")
    settings = (*guarded.with_certificate(tmp_path / "password"), f"bridge.kafka.ca={guarded.files.ca}")
    bridge = start_bridge(broker.url, guarded.kafka.tls_bootstrap, *settings, to_kafka(topic))
    publish(broker.url, b"signed")
    assert [record.value() for record in read_topic(guarded.kafka.bootstrap, topic, 1)] == [b"signed"]
    assert bridge.end(signal.SIGTERM) == 0


class Wrong(NamedTuple):
    """A mistake, and what the operator is told of it."""

    bootstrap: str
    settings: tuple[str, ...]
    told: str


def mistakes(guarded: Guarded) -> dict[str, Wrong]:
    kafka, files = guarded
    port = kafka.sasl_bootstrap.rpartition(":")[2]
    ipv4 = 'bridge.kafka.options={"broker.address.family" = "v4"}'
    other = (*guarded.with_password(files.other_ca), to_mqtt(kafka.new_topic("orders")))
    with_tls = ("bridge.kafka.security=tls", f"bridge.kafka.ca={files.ca}")
    return {
        "authority": Wrong(kafka.sasl_bootstrap, other, "name the authority that signed it"),
        "name": Wrong(f"localhost:{port}", (*guarded.with_password(), ipv4), "'localhost'; give a name that is in it"),
        "plain-to-tls": Wrong(kafka.sasl_bootstrap, (), "speaks TLS; set bridge.kafka.security"),
        "tls-to-plain": Wrong(kafka.bootstrap, guarded.with_password(), "does not speak TLS"),
        "no-certificate": Wrong(kafka.tls_bootstrap, with_tls, "wants a certificate"),
    }


def test_what_is_wrong_is_told_and_nothing_is_lost(guarded: Guarded, tmp_path: Path) -> None:
    """Each mistake in a group of its own, all at once: told once, calmly waited for; corrected, it is carried."""
    wrong = mistakes(guarded)
    after = {name: guarded.kafka.new_topic(f"after-{name}") for name in wrong}
    groups = "".join(f'{name} = {{filters = ["spectrum/+/readings"]}}, ' for name in wrong)
    with RunningBroker(tmp_path / "data", "--set", f"groups={{{groups.rstrip(', ')}}}") as broker, ExitStack() as stack:
        url = broker.wait_until_ready().url

        def started(name: str, bootstrap: str, *settings: str) -> RunningBridge:
            own = (f"bridge.mqtt.group={name}", "bridge.drain=200ms", to_kafka(after[name]))
            return stack.enter_context(RunningBridge(url, bootstrap, *settings, *own, variables=SECRET))

        bridges = {name: started(name, case.bootstrap, *case.settings) for name, case in wrong.items()}
        for bridge in bridges.values():
            bridge.wait_until_ready()
        publish(url, b"kept")
        for name, bridge in bridges.items():
            assert wrong[name].bootstrap in hear(bridge, "readings", wrong[name].told), name
        assert "waits: Kafka at" in hear(bridges["authority"], "commands", wrong["authority"].told)
        calm(bridges)
        for name, bridge in bridges.items():
            assert bridge.end(signal.SIGTERM) == 0, name
            told = Counter(notice for notice in bridge.all_notices() if " waits: " in notice)
            rules = 2 if name == "authority" else 1
            assert sum(wrong[name].told in notice for notice in filter(is_exact, told)) == rules, told
            # Each text once, and few before that one: that nothing is confirmed, or is connected, or was answered.
            assert set(told.values()) == {1}, told
            assert len(told) <= 4 * rules, told
            assert PASSWORD not in "".join((*bridge.notices, *bridge.errors))
        for name in wrong:
            started(name, guarded.kafka.sasl_bootstrap, *guarded.with_password())
        for name in wrong:
            records = read_topic(guarded.kafka.bootstrap, after[name], 1)
            assert [record.value() for record in records] == [b"kept"], name


def is_exact(notice: str) -> bool:
    """Not what may be told before: that nothing is confirmed yet, or what a server that was asked has not answered."""
    return not any(mark in notice for mark in ("has not confirmed", "no connection to Kafka at", "is not accepted; "))


def hear(bridge: RunningBridge, rule: str, what: str) -> str:
    """The notice that a rule waits for this."""
    while True:
        for notice in filter(is_exact, bridge.notices):
            if notice.startswith(f"rule {rule} waits: ") and what in notice:
                return notice
        bridge.event("notice")


def calm(bridges: dict[str, RunningBridge]) -> None:
    """They wait for two seconds more, and hardly compute, however long that takes on a busy machine."""
    began = time.monotonic()
    before = {name: cpu_s(bridge.process.pid) for name, bridge in bridges.items()}
    since = {name: metric(bridge, "waiting_seconds", "readings", "to_kafka") for name, bridge in bridges.items()}
    deadline = time.monotonic() + TIMEOUT_S
    for name, bridge in bridges.items():
        while metric(bridge, "waiting_seconds", "readings", "to_kafka") < since[name] + 2:
            assert time.monotonic() < deadline
            time.sleep(0.2)  # the question itself computes
        spent_s = cpu_s(bridge.process.pid) - before[name]
        assert spent_s < 0.5 * (time.monotonic() - began), name


def cpu_s(pid: int) -> float:
    """Processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_files_that_cannot_be_used_stop_the_start(guarded: Guarded, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("not-this-one")
    files = guarded.files
    own = {"certificate": files.client, "key": files.client_key}
    for settings, named in (
        ({"ca": tmp_path / "none.pem"}, "bridge.kafka.ca"),
        ({**own, "certificate": tmp_path / "none.pem"}, "bridge.kafka.certificate"),
        ({**own, "key_password_file": tmp_path / "password"}, "bridge.kafka.key"),
    ):
        kafka = BridgeKafka.model_validate({"security": "tls", **{key: str(file) for key, file in settings.items()}})
        with pytest.raises(ConfigError, match=named) as caught:
            made(Producer, common_settings(kafka, {}))
        assert "not-this-one" not in str(caught.value)


@pytest.mark.nightly
def test_a_server_that_is_corrected_is_gone_on_with(
    broker: RunningBroker, tmp_path: Path, start_bridge: StartBridge
) -> None:
    """Its certificate is another authority's at first: does the same process carry on when that is mended?"""
    (tmp_path / "other").mkdir()
    files, other = KafkaCertificates.make(tmp_path), KafkaCertificates.make(tmp_path / "other")
    keystore = tmp_path / "now.pem"
    shutil.copy(other.keystore, keystore)
    with LocalKafka(tmp_path / "kafka", users=USERS, keystore=keystore, settings=EVERYBODY_MAY) as kafka:
        kafka.create_topic("renewed")
        settings = Guarded(kafka, files).with_password()
        bridge = start_bridge(broker.url, kafka.sasl_bootstrap, *settings, to_kafka("renewed"), variables=SECRET)
        publish(broker.url, b"kept")
        assert "waits" in bridge.wait_for_notice("certificate is not accepted")
        kafka.stop()
        shutil.copy(files.keystore, keystore)
        kafka.start()
        bridge.wait_for_notice("goes on")
        assert [record.value() for record in read_topic(kafka.bootstrap, "renewed", 1)] == [b"kept"]
        assert bridge.end(signal.SIGTERM) == 0
