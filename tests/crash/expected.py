"""What a cell of the matrix must show where the broker is Lapwing. Peers are reported, not judged."""

from __future__ import annotations

from .cell import Figures

STOPPED = "stopped, exit code 1"
BECAME = {
    "kill": "was killed",
    "power cut": "lost its power",
    "full disk": "went on",
    "slow disk": "went on",
    "read-only disk": STOPPED,
    "failing fsync": STOPPED,
}
"""What becomes of the broker: docs/faults.md."""
FELT_S = 0.15
"""A fault of the disk that nobody has waited for so long did not take place: a slow sync alone takes 0.2 s longer."""
_OF_THE_PROCESS = ("kill", "power cut")


def broken(figures: Figures) -> list[str]:
    """What of a cell is not as it must be, in words; empty after a good one."""
    if figures.died:
        return [f"was not lived through: {figures.died}", *figures.notes]
    return [*_unlived(figures), *_lost(figures), *figures.notes]


def _lost(figures: Figures) -> list[str]:
    """Promises that were broken."""
    found = []
    if figures.missing:
        found.append(f"{figures.missing} acknowledged messages are missing")
    if figures.qos == 2 and figures.kept_by == "session" and figures.repeated:
        found.append(f"{figures.repeated} QoS 2 messages came again")
    return found


def _unlived(figures: Figures) -> list[str]:
    """What shows that messages went and that the fault took place; without it a cell proves nothing."""
    wanted = BECAME[figures.fault]
    found = [] if figures.broker in _allowed(figures) else [f"the broker {figures.broker}, and not: {wanted}"]
    if not figures.sent or not figures.there:
        found.append(f"{figures.sent} sent, {figures.there} there")
    if figures.qos and figures.acknowledged < figures.sent:
        found.append(f"only {figures.acknowledged} of {figures.sent} are acknowledged in the end")
    if figures.qos and figures.fault not in _OF_THE_PROCESS and figures.longest_wait_s < FELT_S:
        found.append(f"nobody felt the fault: the longest wait is {figures.longest_wait_s} s")
    return found


def _allowed(figures: Figures) -> tuple[str, ...]:
    """Where nothing is kept nothing has to be written: it is chance whether a disk that fails is noticed."""
    wanted = BECAME[figures.fault]
    is_kept = figures.qos or figures.kept_by == "stream"
    return (wanted,) if is_kept or wanted != STOPPED else (wanted, "went on")
