"""Does the bridge skip nothing when Kafka cannot continue where the group was?"""

from __future__ import annotations

import signal
import time
from pathlib import Path

from commands import RunningBroker
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from conftest import StartBridge, metric, to_mqtt
from kafka_server import TIMEOUT_S, add_partitions, write_topic
from restarting import RestartingBroker
from shared_kafka import SharedKafka

from lapwing import Client
from lapwing.errors import BrokerError

SOON = 'bridge.kafka.options={"topic.metadata.refresh.interval.ms" = 500}'


def take(phone: Client, count: int) -> list[bytes]:
    """The payloads of the next messages."""
    taken = []
    for _ in range(count):
        message = phone.receive(timeout_s=30)
        assert message is not None
        taken.append(message.payload)
    return taken


def numbered(count: int, word: str) -> list[dict[str, object]]:
    """So many records of partition 0."""
    return [{"key": "1", "value": f"{word} {number}".encode(), "partition": 0} for number in range(count)]


def create_again(kafka: SharedKafka, topic: str) -> None:
    """Until Kafka has deleted the old one, the name is taken."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            kafka.create_topic(topic)
        except BrokerError:
            assert time.monotonic() < deadline
        else:
            return


def remove(bootstrap: str, topic: str, before: int) -> None:
    """As retention would: the records before an offset."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for future in admin.delete_records([TopicPartition(topic, 0, before)]).values():
        future.result()


def test_what_retention_removed_is_said_and_the_rest_is_carried(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """A rule that starts at the latest would have skipped everything up to now."""
    topic = kafka.new_topic("overtaken")
    rule = to_mqtt(topic, start="latest")
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        first = start_bridge(broker.url, kafka.bootstrap, rule)
        # The group begins at the latest, which is the first only once it has begun.
        until_begun(kafka.bootstrap, topic)
        write_topic(kafka.bootstrap, topic, [{"key": "1", "value": b"0"}])
        assert take(phone, 1) == [b"0"]
        assert first.end(signal.SIGTERM) == 0
        write_topic(kafka.bootstrap, topic, [{"key": "1", "value": b"%d" % number} for number in range(1, 10)])
        remove(kafka.bootstrap, topic, 4)
        second = start_bridge(broker.url, kafka.bootstrap, rule)
        assert "offsets 1 to 3 were removed" in second.wait_for_notice("were removed")
        assert take(phone, 6) == [b"%d" % number for number in range(4, 10)]
        assert metric(second, "removed_total") == 3
        assert second.end(signal.SIGTERM) == 0


def test_a_new_partition_is_carried_from_its_beginning(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    topic = kafka.new_topic("grown")
    write_topic(kafka.bootstrap, topic, [{"key": "1", "value": b"before the group"}])
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        bridge = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic, start="latest"), SOON)
        until_begun(kafka.bootstrap, topic)
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
        add_partitions(admin, topic, 2)
        write_topic(kafka.bootstrap, topic, [{"key": "1", "value": b"in the new one", "partition": 1}])
        assert take(phone, 1) == [b"in the new one"]
        assert bridge.end(signal.SIGTERM) == 0


def test_a_topic_that_is_made_again_is_carried_from_its_beginning(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """Under its name, with more records than the group had carried of the old one: Kafka's client goes on there."""
    topic = kafka.new_topic("remade")
    write_topic(kafka.bootstrap, topic, numbered(5, "old"))
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        bridge = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic), SOON)
        assert take(phone, 5) == [record["value"] for record in numbered(5, "old")]
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
        admin.delete_topics([topic])[topic].result()
        create_again(kafka, topic)
        write_topic(kafka.bootstrap, topic, numbered(8, "new"))
        missing = {record["value"] for record in numbered(8, "new")}
        while missing:
            # Those behind the old position come first, and once more.
            missing -= set(take(phone, 1))
        assert "partition 0" in bridge.wait_for_notice("made again")
        assert metric(bridge, "begun_anew_total") == 1
        assert bridge.end(signal.SIGTERM) == 0


def test_an_offset_of_a_topic_that_is_no_more_is_known_at_a_start(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """A bridge that ended before it saw that the topic is another one has committed in it."""
    topic = kafka.new_topic("remade-before")
    write_topic(kafka.bootstrap, topic, numbered(8, "new"))
    former = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": f"group-{topic}", "log_level": 0})
    of_another = "topic-id=AAAAAAAAAAAAAAAAAAAAAQ"
    former.commit(offsets=[TopicPartition(topic, 0, 6, of_another)], asynchronous=False)
    former.close()
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        for carried in (8, 0):
            bridge = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic))
            missing = {record["value"] for record in numbered(carried, "new")}
            while missing:
                missing -= set(take(phone, 1))
            write_topic(kafka.bootstrap, topic, [{"key": "1", "value": b"last %d" % carried}])
            while take(phone, 1) != [b"last %d" % carried]:
                # The second bridge finds offsets of this topic, and goes on.
                assert carried
            assert metric(bridge, "begun_anew_total") == (1 if carried else 0)
            assert bridge.end(signal.SIGTERM) == 0


def test_a_partition_that_went_and_came_back_while_the_broker_was_away(
    kafka: SharedKafka, tmp_path: Path, start_bridge: StartBridge
) -> None:
    """Kafka's client keeps a partition paused that another member had meanwhile: is it read again?"""
    topic = kafka.new_topic("lent", partitions=2)
    broker = RestartingBroker(tmp_path)
    broker.start()
    try:
        bridge = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic))
        until_begun(kafka.bootstrap, topic)
        broker.kill()
        write_topic(kafka.bootstrap, topic, [{"key": str(number), "partition": number} for number in range(2)])
        bridge.wait_for_notice("waits")
        other = join(kafka.bootstrap, topic)
        taken = until_assigned(other)
        broker.start()
        bridge.wait_for_notice("goes on")
        other.close()
        with Client(broker.url) as phone:
            phone.subscribe("commands/#", qos=1)
            write_topic(kafka.bootstrap, topic, [{"key": "back", "value": b"back", "partition": taken}])
            while take(phone, 1) != [b"back"]:
                pass
        assert bridge.end(signal.SIGTERM) == 0
    finally:
        broker.kill()


def join(bootstrap: str, topic: str) -> Consumer:
    """Another member of the rule's group, which reads and commits nothing."""
    settings = {"group.id": f"group-{topic}", "partition.assignment.strategy": "cooperative-sticky", "log_level": 0}
    consumer = Consumer({"bootstrap.servers": bootstrap, "enable.auto.commit": False, **settings})
    consumer.subscribe([topic])
    return consumer


def until_assigned(consumer: Consumer) -> int:
    """The partition that it has been given."""
    deadline = time.monotonic() + TIMEOUT_S
    while not consumer.assignment():
        consumer.poll(0.1)
        assert time.monotonic() < deadline
    return consumer.assignment()[0].partition


def until_begun(bootstrap: str, topic: str) -> None:
    """Until the group of the rule has an offset; a Kafka that has just started may not answer for groups at once."""
    looker = Consumer({"bootstrap.servers": bootstrap, "group.id": f"group-{topic}", "log_level": 0})
    deadline = time.monotonic() + TIMEOUT_S
    try:
        while _committed(looker, topic) < 0:
            assert time.monotonic() < deadline
    finally:
        looker.close()


def _committed(looker: Consumer, topic: str) -> int:
    try:
        return int(looker.committed([TopicPartition(topic, 0)], timeout=5)[0].offset)
    except KafkaException:
        return -1
