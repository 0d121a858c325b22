"""What lanes have counted, and how it reads as Prometheus text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Of one lane: written by its thread, read by others.

    Attributes:
        rule: The rule's name.
        direction: ``to_kafka`` or ``to_mqtt``.
        messages: Carried: confirmed by the other side.
        message_bytes: Bytes of their payloads.
        batches: Batches of them.
        retries: Records that were sent again after a pause, or alone.
        restarts: Producers that came to their end.
        dead_letters: By reason.
        strange_topics: Topics that devices named, that never took a record and were given up; each once a batch.
        in_flight: Taken and not confirmed.
        oldest_us: When the oldest in flight was taken in by the broker, in microseconds since the epoch; 0: unknown.
        lag_s: How old the oldest message of the last batch was when it was confirmed, in seconds; -1: unknown.
        behind: Records of Kafka that are not carried yet; -1: unknown.
        removed: Records that Kafka had removed before they were carried.
        begun_anew: Partitions whose topic was deleted and made again: they were begun with their first record.
        waiting_s: How long the lane has been waiting for the other side, or has been without the broker, in seconds.
        is_connected: The connection to the broker stands.
        late: Messages confirmed by Kafka when the connection to the broker was gone: they come again.
        dropped: Messages of QoS 0 that the connection dropped, because more came than there was room for.
        queued: Messages that have come and are not taken.
    """

    rule: str
    direction: str
    messages: int = 0
    message_bytes: int = 0
    batches: int = 0
    retries: int = 0
    restarts: int = 0
    dead_letters: Counter[str] = field(default_factory=Counter)
    strange_topics: int = 0
    in_flight: int = 0
    oldest_us: int = 0
    lag_s: float = -1.0
    behind: int = -1
    removed: int = 0
    begun_anew: int = 0
    waiting_s: Callable[[], float] = lambda: 0.0
    is_connected: Callable[[], bool] = lambda: True
    late: Callable[[], int] = lambda: 0
    dropped: Callable[[], int] = lambda: 0
    queued: Callable[[], int] = lambda: 0

    def begins(self, messages: int, oldest_us: int) -> None:
        """A batch is in hand."""
        self.in_flight, self.oldest_us = messages, oldest_us

    def carried(self, messages: int, message_bytes: int) -> None:
        """It is confirmed."""
        self.messages += messages
        self.message_bytes += message_bytes
        self.batches += 1
        self.lag_s = self.lag_now_s()
        self.in_flight = self.oldest_us = 0

    def lag_now_s(self) -> float:
        """How old the oldest message in flight is, else that of the last batch when it was confirmed."""
        oldest_us = self.oldest_us
        return time.time() - oldest_us / 1e6 if oldest_us else self.lag_s


_FAMILIES: tuple[tuple[str, str, str, Callable[[Counts], float]], ...] = (
    ("messages_total", "counter", "Messages carried: confirmed by the other side.", lambda c: c.messages),
    ("bytes_total", "counter", "Bytes of their payloads.", lambda c: c.message_bytes),
    ("batches_total", "counter", "Batches of them.", lambda c: c.batches),
    ("retries_total", "counter", "Records sent again after a pause, or alone.", lambda c: c.retries),
    ("restarts_total", "counter", "Kafka producers that came to their end.", lambda c: c.restarts),
    (
        "strange_topics_total",
        "counter",
        "Topics that messages named, that never took a record and were given up; each once a batch.",
        lambda c: c.strange_topics,
    ),
    ("removed_total", "counter", "Records that Kafka had removed before they were carried.", lambda c: c.removed),
    (
        "begun_anew_total",
        "counter",
        "Partitions begun with their first record: their topic was deleted and made again.",
        lambda c: c.begun_anew,
    ),
    ("late_total", "counter", "Confirmed when the connection was gone: they come again.", lambda c: c.late()),
    ("dropped_total", "counter", "Messages of QoS 0 for which there was no room.", lambda c: c.dropped()),
    ("connected", "gauge", "Lanes whose connection to the broker stands.", lambda c: c.is_connected()),
    ("in_flight", "gauge", "Messages taken and not confirmed.", lambda c: c.in_flight),
    ("queued", "gauge", "Messages that have come and are not taken.", lambda c: c.queued()),
)


def prometheus_text(all_counts: Iterable[Counts]) -> str:
    """Every figure by rule; lanes of one rule are added up, of ages the oldest counts."""
    by_rule: dict[tuple[str, str], list[Counts]] = {}
    for counts in all_counts:
        by_rule.setdefault((counts.rule, counts.direction), []).append(counts)
    lines: list[str] = []
    for name, kind, meaning, read in _FAMILIES:
        lines += _family(name, kind, meaning)
        lines += [_line(name, rule, sum(map(read, lanes))) for rule, lanes in by_rule.items()]
    lines += _family("dead_letters_total", "counter", "Messages that went to the dead-letter topic, by reason.")
    for rule, lanes in by_rule.items():
        reasons = sum((lane.dead_letters for lane in lanes), Counter[str]())
        lines += [_line("dead_letters_total", rule, count, reason) for reason, count in sorted(reasons.items())]
    for name, meaning, oldest in (
        ("lag_seconds", "Age of the oldest message in flight, or in the last batch.", Counts.lag_now_s),
        ("waiting_seconds", "How long the lane has been waiting for the other side.", lambda c: c.waiting_s()),
    ):
        lines += _family(name, "gauge", meaning)
        figures = {rule: max(map(oldest, lanes)) for rule, lanes in by_rule.items()}
        lines += [_line(name, rule, figure) for rule, figure in figures.items() if figure >= 0]
    lines += _family("behind_records", "gauge", "Records of Kafka that are not carried yet.")
    for rule, lanes in by_rule.items():
        known = [lane.behind for lane in lanes if lane.behind >= 0]
        lines += [_line("behind_records", rule, sum(known))] if known else []
    return "\n".join(lines) + "\n"


def _family(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP lapwing_bridge_{name} {meaning}", f"# TYPE lapwing_bridge_{name} {kind}"]


def _line(name: str, rule: tuple[str, str], figure: float, reason: str = "") -> str:
    # A rule's name has no character that Prometheus would want escaped.
    more = f',reason="{reason}"' if reason else ""
    shown = str(figure) if isinstance(figure, int) else f"{figure:.6f}"
    return f'lapwing_bridge_{name}{{rule="{rule[0]}",direction="{rule[1]}"{more}}} {shown}'
