"""What a demo did, in figures: what ``--json`` prints, and the lines at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lapwing.lab.cluster_demo.books import Tally, Verdict
from lapwing.lab.cluster_demo.outage import Outage

_HEAD = ("KILLED", "THEN SERVES", "CONNACK AFTER", "ACKNOWLEDGED AFTER", "ALL BACK AFTER", "CAUGHT UP AFTER")


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of one demo.

    Attributes:
        clients: Half of them publish.
        seconds: How long they have published.
        outages: One for each kill.
        verdict: What was acknowledged, delivered, lost, and delivered twice.
        refused: Messages that a broker has answered with a reason code of 0x80 and above.
    """

    clients: int
    seconds: float
    outages: Sequence[Outage]
    verdict: Verdict
    refused: int = 0

    @property
    def exit_code(self) -> int:
        """1 where anything was lost, or came twice with QoS 2."""
        return 0 if self.verdict.holds else 1

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        verdict = self.verdict
        totals = {name: getattr(verdict, name) for name in ("acknowledged", "delivered", "lost", "twice")}
        return {
            "clients": self.clients,
            "seconds": round(self.seconds, 3),
            **totals,
            "refused": self.refused,
            **asdict(verdict),
            "outages": [_outage(outage) for outage in self.outages],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """A head and a row for each kill."""
        return [_HEAD, *map(_row, self.outages)]

    def lines(self) -> list[str]:
        """What was counted; the last line is the verdict."""
        verdict = self.verdict
        lines = [_level(1, verdict.qos_1), _level(2, verdict.qos_2)]
        if self.refused:
            lines.append(f"{self.refused:,} messages were refused by the broker")
        if verdict.unknown:
            lines.append(f"{verdict.unknown:,} deliveries of what nobody sent")
        if verdict.named:
            lines.append(f"by publisher and number: {', '.join(verdict.named)}")
        gone = f", {verdict.sessions_lost:,} sessions gone" if verdict.sessions_lost else ""
        told = f"{verdict.acknowledged:,} acknowledged, {verdict.delivered:,} delivered"
        return [*lines, f"{told}: {verdict.lost:,} lost, {verdict.twice:,} twice{gone}"]


def _level(qos: int, tally: Tally) -> str:
    again = "came again, as QoS 1 may" if qos == 1 else "came twice"
    return (
        f"QoS {qos}: {tally.published:,} published, {tally.acknowledged:,} acknowledged, "
        f"{tally.delivered:,} delivered, {tally.again:,} {again}"
    )


def _outage(outage: Outage) -> dict[str, Any]:
    fields = asdict(outage)
    del fields["killed_at_s"]
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in fields.items()}


def _row(outage: Outage) -> tuple[str, ...]:
    times = outage.connack_s, outage.acknowledged_s, outage.all_back_s, outage.caught_up_s
    return (outage.killed, outage.successor, *(seconds(time_s) for time_s in times))


def seconds(value_s: float | None) -> str:
    """As a table has it."""
    return "-" if value_s is None else f"{value_s:.2f} s"
