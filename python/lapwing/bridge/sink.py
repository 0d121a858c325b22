"""Hands batches of records to Kafka, and comes back when Kafka has every one of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from confluent_kafka import KafkaError, KafkaException, Producer

from lapwing.bridge.counts import Counts
from lapwing.bridge.kafka_client import made
from lapwing.bridge.kafka_settings import common_settings, producer_settings
from lapwing.bridge.large_records import LargeRecords, size
from lapwing.bridge.letters import dead_letter, part_bytes_of
from lapwing.bridge.record import DeadLetter, Record
from lapwing.bridge.refusing_topics import RefusingTopics
from lapwing.bridge.stopping import Stopping, Waiting
from lapwing.bridge.troubles import Troubles
from lapwing.bridge.verdict import Verdict, is_no_topic, is_too_large, reason_of, verdict_of
from lapwing.config.bridge_sides import BridgeKafka

_TURN_S = 0.25
"""Longest wait inside librdkafka at a time: the end of the bridge is heard in between."""
_PATIENCE_S = 2.0
"""After so long the operator is told."""
_PURGE_S = 5.0
_UNCONFIRMED = "Kafka has not confirmed what it was sent"
"""Told while nothing more is known."""


class Sink(Protocol):
    """Where batches go."""

    def carry(self, items: Sequence[Record | DeadLetter], alive: Callable[[], None]) -> Collection[str]:
        """Returns when every item is safe; calls ``alive`` now and then while it waits.

        Returns: The topics that took nothing and were given up: what was for them is with the dead letters.

        Raises:
            Abandoned: there is no more time; some may be safe.
        """

    def close(self) -> None:
        """Lets go of what it has."""


class _Outgoing(NamedTuple):
    record: Record
    is_letter: bool = False
    alone: bool = False
    is_suspect: bool = False
    """A batch was refused that it was in, probably for another record."""


class _Failure(NamedTuple):
    place: int
    error: KafkaError
    alone: bool
    """The error is the record's own, not that of a batch it was in."""


class KafkaSink:
    """A producer, and what is done with the records that Kafka does not take. For one thread.

    Args:
        kafka: The configuration.
        stopping: Ends its waits.
        waiting: Told when it waits for Kafka.
        counts: Retries, restarts and dead letters are counted there.
        topic_wait_s: How long a topic that is missing is waited for, in seconds; None: for ever.
        is_strange: Whether a topic has never taken a record, as far as is known: few of these are waited for at all.

    Raises:
        ConfigError: the settings cannot be: a file is missing, say.
    """

    def __init__(
        self,
        kafka: BridgeKafka,
        stopping: Stopping,
        waiting: Waiting,
        counts: Counts,
        *,
        topic_wait_s: float | None = None,
        is_strange: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._kafka = kafka
        self._refusing = RefusingTopics(
            topic_wait_s, kafka.strange_topics_max, lambda topic: topic != kafka.dead_letters and is_strange(topic)
        )
        self._given_up: set[str] = set()
        self._large = LargeRecords()
        self._stopping = stopping
        self._waiting = waiting
        self._counts = counts
        self._common = common_settings(kafka)
        self._troubles = Troubles(self._common)
        self._is_at_its_end = False
        self._producers: dict[bool, Producer] = {}
        self._producer(alone=False)

    def carry(self, items: Sequence[Record | DeadLetter], alive: Callable[[], None]) -> Collection[str]:
        """See `Sink`."""
        self._given_up = set()
        outgoing: list[_Outgoing] = []
        for item in items:
            if type(item) is DeadLetter:
                outgoing += self._letters(item)
            else:
                outgoing.append(_Outgoing(item))  # type: ignore[arg-type]
        if self._large:
            outgoing = [sent._replace(alone=self._large.is_large(sent.record)) for sent in outgoing]
        while failures := self._send(outgoing, alive):
            outgoing = self._next_round(outgoing, failures, alive)
        self._troubles.forget()
        self._waiting.ends()
        return self._given_up

    def close(self) -> None:
        """Gives up what Kafka has not confirmed."""
        for producer in self._producers.values():
            producer.purge()
            self._flush(producer)
        self._producers.clear()

    def _send(self, outgoing: Sequence[_Outgoing], alive: Callable[[], None]) -> list[_Failure]:
        """Sends everything, waits until Kafka has answered for it, and gives what it did not take, in order.

        Of what is for a topic that refused the last time, only the first goes out until it is taken: the topic may
        be made at any moment, and what is behind must not be there before.
        """
        failures: list[_Failure] = []
        refused: dict[str, KafkaError] = {}
        rest: Sequence[int] = range(len(outgoing))
        if self._refusing:
            firsts = self._firsts_of_refusing(outgoing)
            self._hand_over(outgoing, firsts, refused, failures, alive)
            refused = self._refused(outgoing, failures)
            rest = sorted(set(rest).difference(firsts))
        self._hand_over(outgoing, rest, refused, failures, alive)
        if failures or self._refusing:
            failed = {outgoing[failure.place].record.topic for failure in failures}
            self._refusing.take({sent.record.topic for sent in outgoing} - failed)
            self._refusing.refuse(self._refused(outgoing, failures))
        if self._large:
            places = {failure.place for failure in failures}
            self._large.take(sent.record for place, sent in enumerate(outgoing) if place not in places)
        return sorted(failures, key=_place_of)

    def _firsts_of_refusing(self, outgoing: Sequence[_Outgoing]) -> list[int]:
        firsts: dict[str, int] = {}
        for place, sent in enumerate(outgoing):
            if sent.record.topic in self._refusing:
                firsts.setdefault(sent.record.topic, place)
        return list(firsts.values())

    @staticmethod
    def _refused(outgoing: Sequence[_Outgoing], failures: Sequence[_Failure]) -> dict[str, KafkaError]:
        """By topic the errors that would meet what is behind, too."""
        return {
            outgoing[place].record.topic: error
            for place, error, is_alone in failures
            if verdict_of(error.code(), alone=is_alone) in (Verdict.AGAIN, Verdict.RESTART)
        }

    def _hand_over(
        self,
        outgoing: Sequence[_Outgoing],
        places: Sequence[int],
        refused: dict[str, KafkaError],
        failures: list[_Failure],
        alive: Callable[[], None],
    ) -> None:
        """Sends what is at these places and not for a topic that refused; comes back when Kafka has answered for it."""
        used = together = self._producer(alone=False)
        for place in places:
            record, is_alone = outgoing[place].record, outgoing[place].alone
            if record.topic in refused:
                failures.append(_Failure(place, refused[record.topic], alone=True))
                continue
            if is_alone:
                used = self._producer(alone=True)
            report = partial(_note, failures, place, is_alone)
            error = self._produce(used if is_alone else together, record, report, alive)
            if error is not None:
                # Refused before it was in any batch: the error is its own.
                failures.append(_Failure(place, error, alone=True))
                refused |= self._refused(outgoing, failures[-1:])
        self._wait_for(together, alive)
        if used is not together:
            self._wait_for(used, alive)

    def _produce(
        self, producer: Producer, record: Record, report: Callable[..., None], alive: Callable[[], None]
    ) -> KafkaError | None:
        """Puts the record where librdkafka sends from; gives the error if it refuses even that."""
        topic, key, value, headers = record
        while True:
            try:
                producer.produce(topic, value, key, headers=headers, on_delivery=report)
            except BufferError:
                self._wait_for(producer, alive)
                continue
            except KafkaException as failure:
                error: KafkaError = failure.args[0]
                return error
            return None

    def _wait_for(self, producer: Producer, alive: Callable[[], None]) -> None:
        """Until Kafka has answered for everything that this producer has."""
        began = time.monotonic()
        while self._flush(producer):
            self._stopping.check()
            alive()
            if self._is_at_its_end:
                # What is left comes back as purged, and goes out again with the next producer.
                producer.purge()
            if time.monotonic() - began >= _PATIENCE_S and self._may_tell_more():
                self._waiting.begins(self._troubles.words or _UNCONFIRMED)

    def _may_tell_more(self) -> bool:
        """Whether what is known of the connection is worth telling after what has been told."""
        return self._troubles.is_refusal or self._waiting.why in ("", _UNCONFIRMED, self._troubles.guess)

    def _flush(self, producer: Producer) -> int:
        """Waits for a turn, and gives how much is left."""
        try:
            return producer.flush(_TURN_S)
        except (KafkaException, SystemError) as failure:
            # So confluent-kafka tells a fatal error: raised out of whatever serves callbacks, and not told to error_cb.
            cause = failure if isinstance(failure, KafkaException) else failure.__cause__
            if not isinstance(cause, KafkaException):
                raise
            self._on_error(cause.args[0])
            self._is_at_its_end = True
            return len(producer)

    def _next_round(
        self, outgoing: Sequence[_Outgoing], failures: Sequence[_Failure], alive: Callable[[], None]
    ) -> list[_Outgoing]:
        """What to send now; when it has waited, if it must."""
        following: list[_Outgoing] = []
        why = ""
        culprits = _culprits(outgoing, failures)
        for place, error, is_alone in failures:
            sent = outgoing[place]
            verdict = self._verdict(sent, error.code(), alone=is_alone, is_culprit=place in culprits)
            if verdict is Verdict.DEAD:
                following += self._letters(DeadLetter(sent.record, reason_of(error.code()), error.str()))
                continue
            if verdict is Verdict.ANEW:
                following.append(sent._replace(is_suspect=True))
                continue
            self._counts.retries += 1
            following.append(sent._replace(alone=sent.alone or verdict is Verdict.ALONE))
            self._is_at_its_end |= verdict is Verdict.RESTART
            if verdict is not Verdict.ALONE:
                why = why or f"topic {sent.record.topic!r}: {error.str()}"
        if why:
            self._waiting.begins((self._is_at_its_end and self._troubles.words) or why)
            self._stopping.pause(self._kafka.retry / 1000, alive)
        if self._is_at_its_end:
            self._restart()
        return following

    def _verdict(self, sent: _Outgoing, code: int, *, alone: bool, is_culprit: bool) -> Verdict:
        """What to do with a record that came back; remembers how large is too large."""
        if is_no_topic(code) and not sent.is_letter and self._refusing.is_enough(sent.record.topic):
            self._given_up.add(sent.record.topic)
            return Verdict.DEAD
        verdict = verdict_of(code, alone=alone)
        if verdict is Verdict.DEAD:
            if is_too_large(code):
                self._large.refuse(sent.record)
            # There is nowhere else for a letter to go.
            return Verdict.AGAIN if sent.is_letter else verdict
        if verdict is Verdict.ALONE and not (is_culprit or sent.is_suspect or sent.is_letter):
            # Mostly it was for the culprit. If the next batch is refused, too, it goes one by one, as parts of letters
            # do at once: they stay in order.
            return Verdict.ANEW
        return verdict

    def _letters(self, letter: DeadLetter) -> list[_Outgoing]:
        self._counts.dead_letters[letter.reason.value] += 1
        kafka = self._kafka
        part_bytes = part_bytes_of(kafka.dead_letter_part_bytes, kafka.record_bytes_max)
        records = dead_letter(letter, kafka.dead_letters, part_bytes)
        return [_Outgoing(record, is_letter=True) for record in records]

    def _producer(self, *, alone: bool) -> Producer:
        """The producer of batches, or the one that sends each record by itself; made when it is needed."""
        producer = self._producers.get(alone)
        if producer is None:
            settings = producer_settings(self._kafka, self._common, alone=alone)
            producer = self._producers[alone] = made(Producer, settings, error_cb=self._on_error)
        return producer

    def _restart(self) -> None:
        self._counts.restarts += 1
        self.close()
        self._is_at_its_end = False
        self._troubles.forget()

    def _on_error(self, error: KafkaError) -> None:
        """Called inside ``flush``: what librdkafka has to say about its connections, or that it cannot go on."""
        self._troubles.note(error)
        self._is_at_its_end |= error.fatal()


def _note(
    failures: list[_Failure],
    place: int,
    alone: bool,
    error: KafkaError | None,
    _message: object,
) -> None:
    if error is not None:
        failures.append(_Failure(place, error, alone))


def _culprits(outgoing: Sequence[_Outgoing], failures: Sequence[_Failure]) -> set[int]:
    """For which records a batch was refused: likely the largest, or those without a key; else it may be any."""
    refused: dict[tuple[str, int], list[int]] = {}
    for place, error, is_alone in failures:
        if not is_alone:
            refused.setdefault((outgoing[place].record.topic, error.code()), []).append(place)
    found: set[int] = set()
    for (_, code), places in refused.items():
        if is_too_large(code):
            found.add(max(places, key=lambda place: size(outgoing[place].record)))
        else:
            found.update([place for place in places if outgoing[place].record.key is None] or places)
    return found


def _place_of(failure: _Failure) -> int:
    return failure.place


class NullSink:
    """Takes everything and keeps nothing: for measuring what is before it."""

    def carry(self, _items: Sequence[Record | DeadLetter], _alive: Callable[[], None]) -> Collection[str]:
        """See `Sink`."""
        return ()

    def close(self) -> None:
        """See `Sink`."""
