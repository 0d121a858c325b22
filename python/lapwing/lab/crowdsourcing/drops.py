"""What each process of a point says it has dropped; not what was lost with it, or waits in it: `balance`."""

from __future__ import annotations

from lapwing.lab.crowdsourcing.architecture import Evidence
from lapwing.lab.crowdsourcing.balance import Losses, bridge_losses, broker_drops, summed
from lapwing.lab.crowdsourcing.watch import Stress


def drops(process: Stress, evidence: Evidence) -> Losses | None:
    """Readings by reason; None where the process counts no such thing, or nobody could ask it.

    A phone drops what it never sends; a bridge member dead letters, and QoS 0 for which it has no room; a plain
    controller what its client has no room for. Kafka keeps what it has confirmed, and a job of Spark's leaves unread
    what it does not take.
    """
    metrics = evidence.metrics.get(process.name)
    if process.role == "generator":
        return summed([{"never sent": evidence.fleet["unsent"]}])
    if process.role == "controller" and "dropped" in evidence.answer.counters:
        return summed([{"dropped by the client": evidence.answer.counters["dropped"]}])
    if process.role == "broker" and metrics is not None:
        return broker_drops(metrics)
    if process.role == "bridge" and metrics is not None:
        return bridge_losses([metrics])
    return None
