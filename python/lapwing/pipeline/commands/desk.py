"""The desk: decides once per batch, stores, publishes, follows up; the one writer of ``outbox`` and ``commands``."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from lapwing.contracts.commands import Answer, Command, Measure, Rate, Report, decode, encode
from lapwing.pipeline.commands.book import CommandBook
from lapwing.pipeline.commands.clock import Clock
from lapwing.pipeline.commands.entry import FAILED, Entry
from lapwing.pipeline.commands.handover import Handover
from lapwing.pipeline.commands.post import Post
from lapwing.pipeline.commands.registry import Registry
from lapwing.pipeline.commands.watch import Watch
from lapwing.pipeline.transforms.choose import SECOND_US, Known, Order, Policy, choose
from lapwing.pipeline.transforms.groups import ints

LOG = logging.getLogger("lapwing.controller")

HISTORY_S = 3600
"""Commands of the last hour count when somebody is chosen."""
ENTRIES_MAX = 100_000
"""Commands held in memory, open ones and those of the last hour; at that many open ones nothing more is decided."""
_FLUSH_S = 1.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Hook = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Moment:
    """Which batch decides, when, and how far it goes."""

    batch: int
    at_us: int
    """The batch's time: the same when it is run again."""
    stream_uuid: str
    done: Mapping[int, int]
    """Per stream partition the offset up to which the batch goes."""


class CommandDesk:
    """Used from the batch's thread and from the one that takes answers.

    Args:
        folder: Holds the tables ``outbox`` and ``commands``.
        post: Carries commands.
        registry: Who can be commanded.
        policy: See `Policy`.
        run: Begins the ids of its commands: twelve hexadecimal digits; None: random ones. Numbers of batches come
            again where a checkpoint is older than the tables (it was brought back, or the power failed), and devices
            drop an id that they know.
        repeat_s: A command that is not answered is published again after so long.
        committed: Called with a step's name right after it; tests kill the job there.
        clock: See `Clock`.
    """

    def __init__(
        self,
        folder: Path,
        post: Post,
        registry: Registry,
        policy: Policy,
        *,
        run: str | None = None,
        repeat_s: float = 15.0,
        committed: Hook = lambda _: None,
        clock: Clock | None = None,
    ) -> None:
        self._book = CommandBook(folder)
        self._registry, self._policy = registry, policy
        self._run = secrets.token_hex(6) if run is None else run
        self._repeat_us = round(repeat_s * SECOND_US)
        self._committed, self._clock = committed, clock or Clock()
        self._handover = Handover(post, self._repeat_us, self._clock.steady_us)
        self._lock = threading.RLock()
        self.unknown_answers = 0
        """Answers about a command that is none of this desk's, or of another device."""
        self.malformed_answers = 0
        self._watch = Watch(policy.behind_s, self.troubles, self._clock.steady_us)
        began_us = self._clock.steady_us()
        restored, self._changed = self._book.restored(began_us - HISTORY_S * SECOND_US)
        # The clock may have been set back since: what has happened is not still to come.
        self._entries = {name: each.at(max(began_us, each.newest_at), began_us) for name, each in restored.items()}
        self._forget(began_us)

    def decide(self, moment: Moment, places: Callable[[], pa.Table], whereabouts: Callable[[], pa.Table]) -> int:
        """Decides for a batch, unless that has been done; gives how many commands are new.

        Their rows are committed when this returns, and have been handed to the post if the broker is there.

        Args:
            moment: The batch.
            places: Gives rows of ``PLACES``; asked if there is somebody who could be told.
            whereabouts: Gives rows of ``WHEREABOUTS``.
        """
        with self._lock:
            self._watch.came()
            if not len(self._registry) or self._book.has_decided(moment.stream_uuid, moment.done):
                return 0
            entries = self._chosen(moment, places(), whereabouts())
            if entries:
                self._store(moment, entries)
                self._committed("outbox")
                self.publish()
            return len(entries)

    def answered(self, answers: Iterable[tuple[str, bytes]]) -> None:
        """Takes answers, each with the device of its topic; they are in ``commands`` when this returns."""
        with self._lock:
            for device, payload in answers:
                self._take(device, decode(payload, Answer))
            self._save()

    def follow_up(self) -> None:
        """Gives up what is over, publishes what nobody has answered once more, and saves what has changed."""
        with self._lock:
            steady_us = self._clock.steady_us()
            for entry in [each for each in self._entries.values() if each.is_open]:
                is_gone = self._registry.is_gone(entry.device)
                self._put(entry.with_time(entry.now_us(steady_us), is_gone=is_gone))
            self._forget(steady_us)
            self.publish()
            self._save()
            self._watch.look(len(self._registry))

    def publish(self, timeout_s: float = _FLUSH_S) -> None:
        """Hands over what the broker does not have, and marks what it has taken."""
        with self._lock:
            steady_us = self._clock.steady_us()
            due = [each for each in self._entries.values() if self._is_due(each, steady_us)]
            taken = self._handover.give(due, timeout_s)
            if taken:
                self._committed("published")
                steady_us = self._clock.steady_us()
                for each in taken & self._entries.keys():
                    entry = self._entries[each]
                    self._put(entry.with_publication(entry.now_us(steady_us)))
                self._save()

    def states(self) -> dict[str, int]:
        """How many of the commands in memory are in which state."""
        with self._lock:
            return dict(Counter(each.state for each in self._entries.values()))

    def devices(self) -> int:
        """How many are registered."""
        return len(self._registry)

    def troubles(self) -> dict[str, int]:
        """What was not taken since the start, by name."""
        return {
            "malformed_registrations": self._registry.malformed,
            "surplus_registrations": self._registry.refused,
            "malformed_answers": self.malformed_answers,
            "unknown_answers": self.unknown_answers,
            "refused_commands": self._handover.refused,
        }

    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        with self._lock:
            return self._book.rows()

    def tidy(self) -> None:
        """Makes few files of many."""
        with self._lock:
            self._book.tidy()

    def _chosen(self, moment: Moment, places: pa.Table, whereabouts: pa.Table) -> list[Entry]:
        newest_us = int(ints(whereabouts["seen_at"]).max()) if whereabouts.num_rows else 0
        opened = [each for each in self._entries.values() if each.is_open]
        # By the clock, too: a batch that was cut before the job was down for hours has the time of then.
        late_us = max(moment.at_us, self._clock.wall_us()) - newest_us
        if self._watch.is_behind(late_us) or len(opened) >= ENTRIES_MAX:
            return []
        rest_us = round(self._policy.rest_s * SECOND_US)
        resting = (each for each in self._entries.values() if each.state in (*FAILED, "reassigned"))
        known = Known(
            places=places,
            whereabouts=whereabouts,
            crew=self._registry.crew(
                Counter(each.device for each in opened), Counter(each.device for each in self._entries.values())
            ),
            attended=frozenset(each.tile for each in opened if each.tile is not None),
            failed=frozenset(
                (each.device, each.tile or "") for each in resting if self._age_us(each, moment) <= rest_us
            ),
            measured=self._measured(moment),
            obeyed=self._obeyed(moment),
        )
        orders = choose(known, moment.at_us, self._policy)[: ENTRIES_MAX - len(opened)]
        return [self._entry(moment, number, order) for number, order in enumerate(orders)]

    def _measured(self, moment: Moment) -> frozenset[tuple[str, str]]:
        """See `Known`."""
        most_us = round(self._policy.measured_s * SECOND_US)
        done = (each for each in self._entries.values() if each.state == "done" and each.tile is not None)
        return frozenset((each.device, each.tile or "") for each in done if self._age_us(each, moment) <= most_us)

    def _obeyed(self, moment: Moment) -> frozenset[tuple[str, str]]:
        """See `Known`."""
        most_us = {name: round(s * SECOND_US) for name, s in self._policy.again_s.items()}
        done = (each for each in self._entries.values() if each.state == "done" and each.do in most_us)
        return frozenset((each.device, each.do) for each in done if self._age_us(each, moment) <= most_us[each.do])

    def _age_us(self, entry: Entry, moment: Moment) -> int:
        """How long ago a command ended, at the batch's time."""
        return moment.at_us + self._clock.set_back_us() - ((entry.ended_at or 0) + entry.lag_us)

    def _entry(self, moment: Moment, sequence: int, order: Order) -> Entry:
        name = f"{self._run}-{moment.batch}-{sequence}"
        # From now on, not from the batch's time: a slow batch would decide commands that nobody can begin any more.
        steady_us = self._clock.steady_us()
        now_us = max(moment.at_us, steady_us - self._clock.set_back_us())
        expires_us = now_us + round(self._policy.expire_s * SECOND_US)
        command = Command(name, order.device, _time(moment.at_us), _time(expires_us), _order(order))
        payload = encode(command)
        entry = Entry(name, order.device, order.do, order.tile, payload, moment.at_us, expires_us, 0)
        return entry.at(now_us, steady_us)

    def _store(self, moment: Moment, entries: Sequence[Entry]) -> None:
        replaced = [self._replaced_by(entry) for entry in entries]
        rows = [
            {
                **{name: getattr(entry, name) for name in ("id", "device", "do", "tile", "payload")},
                "decided_at": entry.decided_at,
                "expires_at": entry.expires_at,
                "batch": moment.batch,
                "sequence": number,
                "replaces": old.id if old else None,
            }
            for number, (entry, old) in enumerate(zip(entries, replaced, strict=True))
        ]
        self._book.store(rows, moment.stream_uuid, moment.done)
        steady_us = self._clock.steady_us()
        for entry, old in zip(entries, replaced, strict=True):
            self._put(replace(entry, committed_at=entry.now_us(steady_us)))
            if old:
                self._put(old.with_replacement(entry.id))

    def _replaced_by(self, entry: Entry) -> Entry | None:
        """The command that came to nothing and is about the same: of a place, or else of the same device."""
        failed = (each for each in self._entries.values() if each.state in FAILED and each.do == entry.do)
        about = [each for each in failed if each.tile == entry.tile and (each.tile or each.device == entry.device)]
        return max(about, key=lambda each: (each.ended_at or 0, each.id), default=None)

    def _is_due(self, entry: Entry, steady_us: int) -> bool:
        if not self._handover.is_free(entry.id, steady_us):
            return False
        now_us = entry.now_us(steady_us)
        first = entry.state == "outbox" and now_us < entry.expires_at
        return first or entry.wants_repeat(now_us, self._repeat_us)

    def _take(self, device: str, answer: Answer | None) -> None:
        if answer is None:
            self.malformed_answers += 1
            return
        entry = self._entries.get(answer.id)
        if entry is None or entry.device != device or answer.device != device:
            self.unknown_answers += 1
            return
        self._registry.answered(answer)
        self._put(entry.with_answer(answer, entry.now_us(self._clock.steady_us())))

    def _put(self, entry: Entry) -> None:
        if self._entries.get(entry.id) != entry:
            self._entries[entry.id] = entry
            self._changed.add(entry.id)

    def _save(self) -> None:
        if not self._changed:
            return
        self._book.save(self._entries[each] for each in sorted(self._changed))
        self._changed.clear()
        self._committed("commands")

    def _forget(self, steady_us: int) -> None:
        """Lets go of what has ended, is saved, and counts no more."""
        ended = [each for each in self._entries.values() if not each.is_open and each.id not in self._changed]
        ended.sort(key=lambda each: each.ended_at or 0)
        surplus = len(self._entries) - ENTRIES_MAX
        for number, entry in enumerate(ended):
            if number < surplus or (entry.ended_at or 0) < entry.now_us(steady_us) - HISTORY_S * SECOND_US:
                del self._entries[entry.id]


def _order(order: Order) -> Measure | Rate | Report:
    if order.do == "measure":
        assert order.tile is not None  # a choice to measure names its place
        return Measure(order.tile, order.seconds, order.rate_hz, order.network, order.channel)
    return Rate(order.rate_hz) if order.do == "rate" else Report()


def _time(at_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at_us)
