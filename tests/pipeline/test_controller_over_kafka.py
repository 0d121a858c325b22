"""From a phone over broker, bridge, Kafka and Spark back to the phone: does a command come about, each as who he is?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from pathlib import Path

import pytest
from commands import Running
from kafka_server import read_topic
from test_controller_killed import DEVICES, Phones, rows

from lapwing import Broker
from lapwing._core import hash_password
from lapwing.auth import User, update_users
from lapwing.lab.kafka import LocalKafka

PASSWORD = "correct horse"
RULES: list[dict[str, object]] = [
    {"identity": "phone", "may": ["publish"], "topics": ["devices/%c/registration", "answers/%c"]},
    {"identity": "phone", "may": ["publish"], "topics": ["spectrum/%c/readings"]},
    {"identity": "phone", "may": ["subscribe"], "topics": ["commands/%c"]},
    {"identity": "bridge", "may": ["subscribe"], "topics": ["spectrum/+/readings"]},
    {"identity": "bridge", "may": ["envelope"]},
    {"identity": "controller", "may": ["publish"], "topics": ["commands/+"]},
    {"identity": "controller", "may": ["publish", "subscribe"], "topics": ["devices/+/registration", "answers/+"]},
]
GROUPS = {"bridge": {"filters": ["spectrum/+/readings"], "strategy": "key-ordered"}}


def controller(broker: Broker, source: str, out: Path, secret: Path) -> None:
    where = ["--source", source, "--broker", broker.url, "--out", str(out), "--trigger", "available-now"]
    who = ["--user", "controller", "--password-file", str(secret)]
    wanted = {"fresh_s": 1, "position_s": 600, "behind_s": 600, "expire_s": 900}
    conf = ["spark.driver.memory=1g", *(f"lapwing.{name}={value}" for name, value in wanted.items())]
    flags = [word for each in conf for word in ("--conf", each)]
    command = [sys.executable, "-m", "lapwing", "pipeline", "run", "controller", *where, *who, *flags]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=400, env=os.environ, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_command_comes_about_through_kafka(kafka: LocalKafka, tmp_path: Path) -> None:
    topic, secret, users = f"t-{uuid.uuid4()}", tmp_path / "secret", tmp_path / "users.toml"
    secret.write_text(f"{PASSWORD}\n")
    with update_users(users) as known:
        for name in ("phone", "bridge", "controller"):
            known[name] = User(name, hash_password(PASSWORD.encode()))
    kafka.create_topic(topic, 2, {"retention.ms": "-1"})
    out = tmp_path / "out"
    with Broker(users=users, rules=RULES, groups=GROUPS) as broker:
        settings = {
            "bridge.mqtt.url": broker.url,
            "bridge.mqtt.username": "bridge",
            "bridge.mqtt.password_file": str(secret),
            "bridge.kafka.bootstrap": kafka.bootstrap,
            "bridge.to_kafka": f'[{{name = "readings", filter = "spectrum/+/readings", topic = {json.dumps(topic)}}}]',
        }
        flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        phones = Phones(broker, username="phone", password=PASSWORD)
        with Running("bridge", "run", "--json", *flags):
            phones.sense()
            assert len(read_topic(kafka.bootstrap, topic, DEVICES)) == DEVICES
        controller(broker, f"kafka://{kafka.bootstrap}/{topic}", out, secret)
        assert {row["state"] for row in rows(out, "commands")} == {"published"}
        phones.obey()
        controller(broker, f"kafka://{kafka.bootstrap}/{topic}", out, secret)
    commands = rows(out, "commands")
    assert len(commands) == DEVICES
    assert {row["state"] for row in commands} == {"done"}
    assert phones.executed == Counter({row["id"]: 1 for row in commands})
    assert {row["device"] for row in rows(out, "readings")} == set(phones.memories)
