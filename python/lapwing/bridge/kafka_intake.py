"""What comes from Kafka: one member of a consumer group, its partitions and their offsets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from lapwing.bridge.back_mapping import Source
from lapwing.bridge.behind import Behind
from lapwing.bridge.commits import Commits
from lapwing.bridge.counts import Counts
from lapwing.bridge.kafka_client import made
from lapwing.bridge.kafka_settings import common_settings, consumer_settings, in_our_words
from lapwing.bridge.measuring import Measuring
from lapwing.bridge.starts import Start, start_of
from lapwing.bridge.stopping import Say, Stopping, Waiting
from lapwing.bridge.topic_ids import TopicIdQuestion, TopicIds, topic_id_in
from lapwing.bridge.troubles import Troubles
from lapwing.config.bridge import ToMqtt
from lapwing.config.bridge_sides import BridgeKafka

_TURN_S = 0.25
_GATHER_S = 0.002
"""A command must not wait for others: librdkafka has what came with it by then."""
_SOON_S = 0.01
_ASIDE_MAX = 500
"""Then nothing more is taken in before its turn."""
_ANSWER_S = 5.0
"""For what is asked of Kafka seldom, and again when it does not answer."""


class KafkaIntake:
    """Gives records, and commits offsets. For one thread.

    Args:
        kafka: The configuration.
        rule: The rule whose topic it reads.
        stopping: Ends its waits.
        waiting: Told when it waits for Kafka.
        counts: Behind, removed and retried records are counted there.
        say: Takes lines for the operator.

    Raises:
        ConfigError: a setting cannot be.
    """

    def __init__(
        self, kafka: BridgeKafka, rule: ToMqtt, stopping: Stopping, waiting: Waiting, counts: Counts, say: Say
    ) -> None:
        self._rule = rule
        self._retry_s = kafka.retry / 1000
        self._stopping = stopping
        self._waiting = waiting
        self._counts = counts
        self._say = say
        common = common_settings(kafka)
        self._settings = consumer_settings(common, rule.group)
        self._commits = Commits(self._serve)
        self._consumer = made(KafkaConsumer, self._settings, error_cb=self._on_error, on_commit=self._commits.answered)
        self._aside: list[Message] = []
        self._paused: dict[int, TopicPartition] = {}
        self._unplaced: set[int] = set()
        self._troubles = Troubles(self._settings)
        self._awaits_assignment = False
        self._behind = Behind()
        self._measuring = Measuring(self._behind, self._marks, self._committed)
        self._topic_ids = TopicIds(TopicIdQuestion(common, rule.topic).ask, self._committed_ids)

    def open(self) -> None:
        """Joins the group."""
        self._consumer.subscribe([self._rule.topic], on_assign=self._on_assign)

    def take(self, most: int) -> list[Source]:
        """What has come, at most so much; nothing after a while."""
        messages, self._aside = self._aside, []
        if not messages and (first := self._consumer.poll(_TURN_S)) is not None:
            messages = [first, *self._consumer.consume(most - 1, _GATHER_S)]
        sources = self._of_this_topic([message for message in messages if not self._is_error(message)])
        if self._unplaced:
            self._place_all()
        self._measure()
        if sources:
            self._troubles.forget()
            self._awaits_assignment = False
            self._waiting.ends()
        else:
            self._look()
        return sources

    def hold(self) -> None:
        """Kafka hears that we are here, and sends nothing more."""
        self._pause()
        self._set_aside(0)
        self._measure()

    def go_on(self) -> None:
        """What was waited for is there.

        A partition that went to another member meanwhile is still paused here, should it come back.
        """
        self._waiting.ends()
        self._resume()

    def commit(self, sources: Sequence[Source]) -> None:
        """Offsets of what is done; when partitions have gone to others meanwhile, those repeat it."""
        ends = _ends(sources)
        while (error := self._commit(ends)) is not None:
            if error.code() in _LOST:
                self._counts.retries += len(sources)
                return
            self._waiting.begins(f"offsets of group {self._rule.group!r}: {self._shown(error)}")
            self._stopping.pause(self._retry_s, self.hold)
        self._behind.done(ends)
        for partition in ends:
            marks = self._consumer.get_watermark_offsets(TopicPartition(self._rule.topic, partition), cached=True)
            if marks is not None and marks[1] >= 0:
                self._behind.ends({partition: marks[1]})
        self._counts.behind = self._behind.records

    def close(self) -> None:
        """Leaves the group."""
        self._consumer.close()

    def _is_error(self, message: Message) -> bool:
        error = message.error()
        if error is None:
            return False
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            self._unplaced.add(message.partition() or 0)
            return True
        # Told once: that nothing more is heard of it does not mean that it is over.
        self._awaits_assignment = True
        self._waiting.begins(f"topic {self._rule.topic!r}: {self._shown(error)}")
        return True

    def _look(self) -> None:
        """Nothing has come: because there is nothing, or because Kafka is away?"""
        if self._troubles.words:
            self._waiting.begins(self._troubles.words)
        if not self._waiting.why or self._awaits_assignment or self._unplaced:
            return
        try:
            known = self._consumer.list_topics(self._rule.topic, timeout=_TURN_S).topics.get(self._rule.topic)
        except KafkaException:
            return
        if known is not None and known.error is None:
            self._troubles.forget()
            self._waiting.ends()

    def _of_this_topic(self, messages: list[Message]) -> list[Source]:
        """What was read where it is known what the offsets mean; the rest waits, or is read again from the first on."""
        try:
            remade = self._topic_ids.remade({each.partition for each in self._consumer.assignment()})
            if remade:
                self._begin_anew(remade)
        except KafkaException as failure:
            self._aside = [*messages, *self._aside]
            self._waiting.begins(f"offsets of group {self._rule.group!r}: {self._shown(failure.args[0])}")
            self._stopping.pause(self._retry_s, self.hold)
            return []
        self._resume()
        return [source_of(message) for message in messages if message.partition() not in remade]

    def _begin_anew(self, partitions: set[int]) -> None:
        """The topic was made again: its partitions begin with their first record, as added ones do."""
        rule = self._rule
        starts = dict.fromkeys(sorted(partitions), 0)
        self._topic_ids.begun(starts, lambda: self._must_commit(starts))
        for partition, offset in starts.items():
            # If that has been removed already, Kafka says so, and it is told as any removal.
            self._begin(partition, Start(offset))
        self._aside = [message for message in self._aside if message.partition() not in partitions]
        self._behind.done(starts)
        self._counts.begun_anew += len(starts)
        which = ", ".join(map(str, starts))
        self._say(
            f"rule {rule.name}: topic {rule.topic!r} was deleted and made again: it begins anew in partition {which}"
        )

    def _place_all(self) -> None:
        """Begins where it must in the partitions that Kafka cannot continue, or tries again at the next turn."""
        self._unplaced &= {each.partition for each in self._consumer.assignment()}
        try:
            committed = self._committed(self._partitions())
            for partition in sorted(self._unplaced):
                start = start_of(partition, committed, self._marks(partition), self._rule.start)
                if start.is_first:
                    # So that its other partitions, which may stay empty for long, are not taken for new ones.
                    committed = self._begin_all()
                    # Where it was asked for again, more may have come: what is committed and what is read must agree.
                    start = Start(committed.get(partition, start.offset))
                elif start.is_beyond:
                    # Or the next to look might find that the partition has grown past it, and skip what came.
                    self._must_commit({partition: start.offset})
                self._begin(partition, start)
        except KafkaException as failure:
            self._waiting.begins(f"offsets of group {self._rule.group!r}: {self._shown(failure.args[0])}")

    def _measure(self) -> None:
        """Asks Kafka now and then how far behind it is: what it holds, and waits for, grows unseen."""
        if self._measuring.is_due:
            self._measuring.measure({each.partition for each in self._consumer.assignment()})
            self._counts.behind = self._behind.records

    def _begin(self, partition: int, start: Start) -> None:
        rule = self._rule
        # Not by `seek`: the partition is not being read.
        self._consumer.incremental_unassign([TopicPartition(rule.topic, partition)])
        self._consumer.incremental_assign([TopicPartition(rule.topic, partition, start.offset)])
        self._unplaced.discard(partition)
        self._counts.removed += start.removed
        if start.words:
            self._say(f"rule {rule.name}: topic {rule.topic!r}, partition {partition}: {start.words}")

    def _begin_all(self) -> dict[int, int]:
        """Commits where a group without offsets begins, in every partition of the topic; gives where that is.

        Another member may do the same, and have carried since: where there is an offset by now, it stays.
        """
        place = 0 if self._rule.start == "earliest" else 1
        starts = {partition: self._marks(partition)[place] for partition in self._partitions()}
        begun = self._committed(starts)
        if left := {partition: offset for partition, offset in starts.items() if partition not in begun}:
            self._must_commit(left)
        return starts | begun

    def _must_commit(self, offsets: Mapping[int, int]) -> None:
        if (error := self._commit(offsets)) is not None:
            raise KafkaException(error)

    def _partitions(self) -> list[int]:
        topic = self._consumer.list_topics(self._rule.topic, timeout=_ANSWER_S).topics[self._rule.topic]
        return sorted(topic.partitions)

    def _marks(self, partition: int, timeout_s: float = _ANSWER_S) -> tuple[int, int]:
        marks = self._consumer.get_watermark_offsets(TopicPartition(self._rule.topic, partition), timeout=timeout_s)
        if marks is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return marks

    def _committed(self, partitions: Collection[int], timeout_s: float = _ANSWER_S) -> dict[int, int]:
        """By partition the offset that the group has; the others are left out."""
        return {each.partition: each.offset for each in self._commits_of(partitions, timeout_s)}

    def _committed_ids(self, partitions: Collection[int]) -> dict[int, str]:
        """By partition the id of the topic that the group's offset is of; where that says nothing it is left out."""
        found = {each.partition: topic_id_in(each.metadata) for each in self._commits_of(partitions, _ANSWER_S)}
        return {partition: topic_id for partition, topic_id in found.items() if topic_id}

    def _commits_of(self, partitions: Collection[int], timeout_s: float) -> list[TopicPartition]:
        asked = [TopicPartition(self._rule.topic, partition) for partition in partitions]
        answers = self._consumer.committed(asked, timeout=timeout_s)
        for answer in answers:
            if answer.error is not None:
                raise KafkaException(answer.error)
        return [answer for answer in answers if answer.offset >= 0]

    def _commit(self, offsets: Mapping[int, int]) -> KafkaError | None:
        """Commits; gives what was wrong with all, or with one."""
        topic, metadata = self._rule.topic, self._topic_ids.metadata
        made_of = [TopicPartition(topic, each, offset, metadata(each)) for each, offset in offsets.items()]
        return self._commits.make(self._consumer, made_of)

    def _serve(self) -> None:
        """While Kafka is asked to commit: what comes in these milliseconds is for the next turn, as far as one goes."""
        self._stopping.check()
        if len(self._aside) >= _ASIDE_MAX:
            self._pause()
        self._set_aside(_SOON_S)

    def _resume(self) -> None:
        if self._paused:
            self._consumer.resume(list(self._paused.values()))
            self._paused.clear()

    def _pause(self) -> None:
        assignment = self._consumer.assignment()
        if assignment:
            self._consumer.pause(assignment)
            self._paused |= {each.partition: each for each in assignment}

    def _set_aside(self, timeout_s: float) -> None:
        """Lets the consumer hear; a message counts as read then, so it must not be forgotten."""
        message = self._consumer.poll(timeout_s)
        if message is not None:
            self._aside.append(message)

    def _on_assign(self, _consumer: KafkaConsumer, partitions: list[TopicPartition]) -> None:
        """The group has us: what it refused before it grants now."""
        self._topic_ids.forget(each.partition for each in partitions)
        if self._awaits_assignment:
            self._awaits_assignment = False
            self._troubles.forget()
            self._waiting.ends()

    def _on_error(self, error: KafkaError) -> None:
        """What librdkafka has to say about its connections; of what a server refuses it says so once."""
        self._troubles.note(error)
        self._awaits_assignment |= error.code() > 0

    def _shown(self, error: KafkaError) -> str:
        return in_our_words(error.str(), self._settings)


_LOST = frozenset(
    (
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError._ASSIGNMENT_LOST,
    )
)
"""The partitions are somebody else's by now."""


def source_of(message: Message) -> Source:
    """The record as the mapping wants it."""
    headers, problem = [], ""
    try:
        headers = list(message.headers() or [])
    except (SystemError, UnicodeDecodeError):
        # So confluent-kafka tells of a name that is not UTF-8; the other headers cannot be had either.
        problem = "the name of a header is not UTF-8; its headers are left out"
    kind, at_ms = message.timestamp()
    return Source(
        message.topic() or "",
        message.partition() or 0,
        message.offset() or 0,
        message.key(),
        message.value(),
        headers,  # type: ignore[arg-type]
        at_ms * 1000 if kind else 0,
        problem,
    )


def _ends(sources: Sequence[Source]) -> dict[int, int]:
    """By partition the offset behind the last record."""
    return {source.partition: source.offset + 1 for source in sources}
