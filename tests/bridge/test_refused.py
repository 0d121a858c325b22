"""Does the bridge publish nothing twice because the broker refuses something else of the same batch?"""

from __future__ import annotations

import signal
from pathlib import Path

from conftest import StartBridge, to_mqtt
from kafka_server import headers_of, read_topic, write_topic
from shared_kafka import SharedKafka

from lapwing import Broker, Client
from lapwing._core import hash_password
from lapwing.auth import User, update_users

PASSWORD = "correct horse"
RULES: list[dict[str, object]] = [
    {"identity": "bridge", "may": ["publish"], "topics": ["commands/forbidden"], "effect": "deny"},
    {"identity": "bridge", "may": ["publish"], "topics": ["commands/+"]},
    {"identity": "anonymous", "may": ["subscribe"], "topics": ["commands/+"]},
]


def test_one_refused_of_a_hundred(kafka: SharedKafka, start_bridge: StartBridge, tmp_path: Path) -> None:
    topic, letters = kafka.new_topic("guarded"), kafka.new_topic("letters")
    # They are there before the bridge is: it takes them in one batch.
    keys = ["forbidden" if number == 50 else str(number) for number in range(100)]
    write_topic(kafka.bootstrap, topic, [{"key": key, "value": b"go"} for key in keys])
    with update_users(tmp_path / "users.toml") as known:
        known["bridge"] = User("bridge", hash_password(PASSWORD.encode()))
    settings = (to_mqtt(topic), "bridge.mqtt.username=bridge", f"bridge.kafka.dead_letters={letters}")
    with Broker(users=tmp_path / "users.toml", rules=RULES) as broker, Client(broker.url) as phone:
        phone.subscribe("commands/+", qos=1)
        bridge = start_bridge(broker.url, kafka.bootstrap, *settings, variables={"LAPWING_PASSWORD": PASSWORD})
        (letter,) = read_topic(kafka.bootstrap, letters, 1)
        write_topic(kafka.bootstrap, topic, [{"key": "end", "value": b"go"}])
        topics = []
        for message in phone.messages(timeout_s=30):
            topics.append(message.topic)
            if message.topic == "commands/end":
                break
        assert topics == [f"commands/{key}" for key in [*keys, "end"] if key != "forbidden"]
        headers = headers_of(letter)
        assert (letter.key(), letter.value(), headers["lapwing-reason"]) == (b"forbidden", b"go", "refused")
        assert headers["lapwing-error"] == "publish to 'commands/forbidden' was refused: Not authorized (0x87)"
        assert bridge.end(signal.SIGTERM) == 0
