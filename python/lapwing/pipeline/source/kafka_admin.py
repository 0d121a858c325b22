"""What a Kafka cluster says of a topic, asked with the client that Spark's own source brings: one client, one set of
settings, whatever a cluster's security is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from lapwing.pipeline.source.client import PartitionState, StreamState
from lapwing.pipeline.source.kafka_failure import kafka_error
from lapwing.pipeline.source.kafka_news import KafkaNews
from lapwing.pipeline.source.spark_jars import KAFKA, require_jar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""What a cluster before Kafka 2.8 calls every topic."""


class KafkaAdmin:
    """Asks one cluster.

    Args:
        spark: Whose JVM has the client.
        settings: Of the client; may hold secrets.
        where: For errors.

    Raises:
        SparkUnusableError: The JVM has no Kafka source.
    """

    def __init__(self, spark: SparkSession, settings: Mapping[str, str], where: str) -> None:
        require_jar(spark, KAFKA, where)
        self._jvm: Any = spark.sparkContext._jvm
        self._settings = dict(settings)
        self._where = where

    def state(self, topic: str) -> StreamState:
        """The topic's id, and what its partitions hold.

        Raises:
            ConnectError: Nobody answers, or the cluster refuses this client.
            StreamUnknownError: There is no such topic.
        """
        try:
            admin = self._jvm.org.apache.kafka.clients.admin.AdminClient.create(self._java_map(self._settings))
            try:
                return self._asked(admin, topic)
            finally:
                admin.close()
        except Py4JError as error:
            raise kafka_error(str(error), self._where, topic) from None

    def news(self, topic: str, ends: Mapping[int, int], timeout_s: float) -> KafkaNews:
        """Waits behind ``ends`` with the same client.

        Raises:
            ConnectError: The client refuses its settings.
        """
        try:
            return KafkaNews(self._jvm, self._settings, topic, ends, timeout_s)
        except Py4JError as error:
            raise kafka_error(str(error), self._where, topic) from None

    def _asked(self, admin: Any, topic: str) -> StreamState:
        described = admin.describeTopics(self._java_list([topic])).allTopicNames().get().get(topic)
        numbers = sorted(int(each.partition()) for each in described.partitions())
        spec = self._jvm.org.apache.kafka.clients.admin.OffsetSpec
        first = self._offsets(admin, topic, numbers, spec.earliest())
        end = self._offsets(admin, topic, numbers, spec.latest())
        identity = str(described.topicId().toString())
        if identity == _NO_ID:
            identity = str(admin.describeCluster().clusterId().get())
        held = {number: PartitionState(first[number], end[number]) for number in numbers}
        return StreamState(topic, f"kafka:{topic}:{identity}", held)

    def _offsets(self, admin: Any, topic: str, numbers: list[int], spec: Any) -> dict[int, int]:
        partition = self._jvm.org.apache.kafka.common.TopicPartition
        asked = self._java_map({partition(topic, number): spec for number in numbers})
        # The same end as the readers': behind it lie transactions that are not over.
        level = self._settings.get("isolation.level", "read_uncommitted")
        isolation = self._jvm.org.apache.kafka.common.IsolationLevel.valueOf(level.upper())
        options = self._jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(isolation)
        answer = admin.listOffsets(asked, options).all().get()
        return {number: int(answer.get(partition(topic, number)).offset()) for number in numbers}

    def _java_map(self, pairs: Mapping[Any, Any]) -> Any:
        made = self._jvm.java.util.HashMap()
        for key, value in pairs.items():
            made.put(key, value)
        return made

    def _java_list(self, items: list[Any]) -> Any:
        made = self._jvm.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made
