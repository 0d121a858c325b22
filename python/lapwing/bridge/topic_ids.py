"""Whether a topic was deleted and made again: its name is the same, and an offset of the old one says nothing.

Kafka's client goes on in the new topic where it was in the old one, without a word, as soon as there is such an offset.
Only the topic's id differs. So every commit says in its metadata which topic its offset is of: also a member that has
just come, or a bridge that was started again, knows what an offset means.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from lapwing.bridge.kafka_client import made
from lapwing.bridge.kafka_settings import Settings

_EVERY_S = 5.0
_ANSWER_S = 1.0
_REST = 10.0
"""It rests for so many times what it took: the lane does nothing else meanwhile."""
_MARK = "topic-id="
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""What a cluster before Kafka 2.8 calls every topic."""

Ids = Mapping[int, str]
"""By partition the id of the topic that its offset is of."""


class TopicIds:
    """Of one topic, by partition. For one thread.

    Args:
        ask: Gives the topic's id; empty: there is no answer, or Kafka has no ids.
        committed: The ids that the group's commits name, where they do; raises ``KafkaException`` without an answer.
        now: The clock, in seconds.
    """

    def __init__(
        self,
        ask: Callable[[], str],
        committed: Callable[[Collection[int]], Ids],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._committed = committed
        self._now = now
        self._due_at = 0.0
        self._current = ""
        self._last = ""
        self._by_partition: dict[int, str] = {}

    def metadata(self, partition: int) -> str:
        """What a commit of this partition says."""
        return metadata_of(self._by_partition.get(partition, ""))

    def forget(self, partitions: Iterable[int]) -> None:
        """They have come to this member: their offsets are what others have committed meanwhile."""
        for partition in partitions:
            self._by_partition.pop(partition, None)

    def remade(self, assigned: Collection[int]) -> set[int]:
        """The partitions whose offsets are of a topic that is no more; Kafka is asked now and then.

        Args:
            assigned: The partitions that the lane has.

        Raises:
            KafkaException: It cannot be known what the offsets of partitions are of that have come; ask again.
        """
        self.forget(self._by_partition.keys() - set(assigned))
        if others := set(assigned) - self._by_partition.keys():
            # Kafka deletes a group's offsets with their topic: where there are none, the last topic's were meant.
            found = self._committed(others)
            self._by_partition |= {each: found.get(each, self._last) for each in others}
            self._due_at = 0.0
        if assigned and self._now() >= self._due_at:
            self._look()
        if not self._current:
            return set()
        return {partition for partition, known in self._by_partition.items() if known != self._current}

    def begun(self, partitions: Iterable[int], commit: Callable[[], None]) -> None:
        """Calls ``commit``, whose metadata name the topic that there is; if it raises, nothing has changed."""
        before = dict(self._by_partition)
        self._by_partition |= dict.fromkeys(partitions, self._current)
        try:
            commit()
        except BaseException:
            self._by_partition = before
            raise

    def _look(self) -> None:
        began = self._now()
        self._current = self._ask()
        self._last = self._current or self._last
        ended = self._now()
        self._due_at = ended + max(_EVERY_S, _REST * (ended - began))
        # A commit without an id is of an older bridge, or of another program: taken for one of the topic that there is.
        self._by_partition = {each: known or self._current for each, known in self._by_partition.items()}


class TopicIdQuestion:
    """Asks Kafka for a topic's id, with a client of its own: a consumer does not tell.

    Args:
        settings: Of a client.
        topic: Its name.
    """

    def __init__(self, settings: Settings, topic: str) -> None:
        self._settings = settings
        self._topic = topic
        self._admin: AdminClient | None = None

    def ask(self) -> str:
        """The id; empty: no answer within a second, no such topic, or a Kafka without ids."""
        if self._admin is None:
            self._admin = made(AdminClient, self._settings)
        asked = TopicCollection([self._topic])
        try:
            answer = self._admin.describe_topics(asked, request_timeout=_ANSWER_S)[self._topic].result()
        except KafkaException:
            return ""
        found = str(answer.topic_id)
        return "" if found == _NO_ID else found


def metadata_of(topic_id: str) -> str:
    """What a commit says of the topic that it is of."""
    return f"{_MARK}{topic_id}" if topic_id else ""


def topic_id_in(metadata: str | None) -> str:
    """The topic that a commit names; empty: none."""
    return metadata.removeprefix(_MARK) if metadata and metadata.startswith(_MARK) else ""
