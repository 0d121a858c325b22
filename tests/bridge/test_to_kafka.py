"""Does what devices publish arrive in Kafka, whole, under the right key, and acknowledged only then?"""

from __future__ import annotations

import signal
import time

from commands import RunningBroker
from conftest import StartBridge, metric, to_kafka
from kafka_server import TIMEOUT_S, count_records, headers_of, open_topic, read_topic
from shared_kafka import SharedKafka

from lapwing import Publisher


def test_every_message_arrives_with_what_is_known_of_it(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    topic = kafka.new_topic("whole", partitions=2)
    bridge = start_bridge(broker.url, kafka.bootstrap, to_kafka(topic))
    with Publisher(broker.url, client_id="phone-7") as publisher:
        for number in range(1000):
            publisher.publish(
                "spectrum/7/readings", str(number), user_properties=[("unit", "dBm"), ("lapwing-topic", "forged")]
            )
    records = read_topic(kafka.bootstrap, topic, 1000)
    assert [int(record.value()) for record in records] == list(range(1000)), "one device, one partition, in order"
    assert len({record.partition() for record in records}) == 1
    assert records[0].key() == b"phone-7"
    headers = headers_of(records[0])
    assert headers["lapwing-topic"] == "spectrum/7/readings"
    assert headers["lapwing-client"] == "phone-7"
    assert headers["lapwing-qos"] == "1"
    assert headers["unit"] == "dBm"
    assert int(headers["lapwing-ingress-us"]) <= int(headers["lapwing-forwarded-us"])
    assert len({headers_of(record)["lapwing-message-id"] for record in records}) == 1000
    # A batch counts once Kafka has confirmed it all, and again where it was carried twice.
    deadline = time.monotonic() + TIMEOUT_S
    while metric(bridge, "messages_total", "readings", "to_kafka") != count_records(kafka.bootstrap, topic):
        assert time.monotonic() < deadline, "the figure is not that of the records"
        time.sleep(0.1)
    assert bridge.end(signal.SIGTERM) == 0


JAVA_MURMUR2 = {"21": -973932308, "foobar": -790332482, "abc": 479470107}
"""What Kafka's own tests expect of the hash that Java clients choose a partition by."""


def test_keys_lie_where_java_clients_put_them(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    topic = kafka.new_topic("java", partitions=7)
    start_bridge(broker.url, kafka.bootstrap, to_kafka(topic, key="{1}"))
    with Publisher(broker.url) as publisher:
        for key in JAVA_MURMUR2:
            publisher.publish(f"spectrum/{key}/readings", key)
    records = read_topic(kafka.bootstrap, topic, len(JAVA_MURMUR2))
    found = {record.key().decode(): record.partition() for record in records}
    assert found == {key: (number & 0x7FFFFFFF) % 7 for key, number in JAVA_MURMUR2.items()}


def test_members_come_and_are_killed(broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge) -> None:
    """One member, then three, then two of them killed: is everything there, and are repeats known by their ids?"""
    topic = kafka.new_topic("members", partitions=3)
    rule = to_kafka(topic)
    first = start_bridge(broker.url, kafka.bootstrap, rule)
    with Publisher(broker.url) as publisher:
        for number in range(6000):
            publisher.publish(f"spectrum/{number % 50}/readings", str(number))
            if number == 2000:
                second = start_bridge(broker.url, kafka.bootstrap, rule, "bridge.members=2")
            if number == 4000:
                first.end(signal.SIGKILL)
        publisher.flush(30)
    second.end(signal.SIGKILL)
    start_bridge(broker.url, kafka.bootstrap, rule)
    seen: dict[str, bytes] = {}
    deadline = time.monotonic() + TIMEOUT_S
    reader = open_topic(kafka.bootstrap, topic)
    while len(set(seen.values())) < 6000 and time.monotonic() < deadline:
        for record in reader.consume(1000, 0.2):
            if record.error() is None:
                seen[headers_of(record)["lapwing-message-id"]] = record.value()
    reader.close()
    assert set(seen.values()) == {b"%d" % number for number in range(6000)}
    assert len(seen) == 6000, "a repeat has the id of the first"
