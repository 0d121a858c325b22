"""A Kafka of three nodes, each a process of its own that can be killed and started again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, PartitionMetadata

from lapwing.lab.kafka import LocalKafka, Seat, new_cluster
from lapwing.lab.ports import free_port

NODES = (1, 2, 3)
TIMEOUT_S = 120.0
SETTINGS = {"broker.session.timeout.ms": "6000", "broker.heartbeat.interval.ms": "500"}
"""Three JVMs share the machine: one that is only slow must not count as gone."""


class KafkaCluster:
    """Three nodes, each with a copy of everything; two of them are enough to go on.

    Args:
        folder: Each node has a folder in it.
    """

    def __init__(self, folder: Path) -> None:
        controllers = {node: free_port() for node in NODES}
        cluster = new_cluster()
        self.nodes = {
            node: LocalKafka(folder / str(node), seat=Seat(node, controllers, cluster), heap="256m", settings=SETTINGS)
            for node in NODES
        }
        self.bootstrap = ",".join(node.bootstrap for node in self.nodes.values())

    def __enter__(self) -> Self:
        try:
            for node in self.nodes.values():
                node.begin()
            for node in self.nodes.values():
                node.wait_until_ready(TIMEOUT_S)
            self._until(lambda: len(self._admin().list_topics(timeout=5).brokers) == len(NODES))
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Not in order: a node that leaves hands its partitions over, and the last one has nobody.
        self._kill()

    def create_topic(self, name: str, partitions: int) -> None:
        """A topic that takes a record when two nodes have it."""
        self.nodes[NODES[0]].create_topic(name, partitions, {"min.insync.replicas": "2"}, copies=len(NODES))
        self.until_in_sync(name)

    def leader_of(self, topic: str, partition: int) -> int:
        """The node that takes the partition's records now; -1: nobody."""
        return self._partitions(topic)[partition].leader

    def until_another_leads(self, topic: str, partition: int, before: int) -> None:
        """Until somebody leads the partition who did not before."""
        self._until(lambda: self.leader_of(topic, partition) not in (-1, before))

    def until_in_sync(self, topic: str) -> None:
        """Until every node has everything of the topic: whoever leads may be killed."""
        self._until(lambda: all(len(each.isrs) == len(NODES) for each in self._partitions(topic).values()))

    def _partitions(self, topic: str) -> dict[int, PartitionMetadata]:
        partitions: dict[int, PartitionMetadata] = self._admin().list_topics(topic, timeout=5).topics[topic].partitions
        return partitions

    def _admin(self) -> AdminClient:
        """One that has not cached anything."""
        return AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})

    def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not _is_so(holds):
            assert time.monotonic() < deadline, "the nodes do not find together: see their logs"
            time.sleep(0.2)

    def _kill(self) -> None:
        for node in self.nodes.values():
            node.kill()


def _is_so(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except KafkaException:
        # Nobody answers yet.
        return False
