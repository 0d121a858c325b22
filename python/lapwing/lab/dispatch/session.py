"""One run: one trace, one broker, all members; gives what each message met."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapwing.errors import ConfigError
from lapwing.lab.dispatch.books import HANDLED, SENT, Tally
from lapwing.lab.dispatch.brokers import GROUP, RunningBroker
from lapwing.lab.dispatch.links import Links
from lapwing.lab.dispatch.member import Order as MemberOrder
from lapwing.lab.dispatch.policy import group_counts
from lapwing.lab.dispatch.processes import Process, start_all, wait_for_all
from lapwing.lab.dispatch.publisher import Order as PublisherOrder
from lapwing.lab.dispatch.scenario import DEADLINE_MS
from lapwing.lab.dispatch.trace import Trace

Handled: TypeAlias = NDArray[Any]
Sent: TypeAlias = NDArray[Any]

HANDLED_RECORD = np.dtype([("number", "<u4"), ("flags", "<u4"), ("received", "<i8"), ("due", "<i8"), ("ended", "<i8")])
SENT_RECORD = np.dtype([("due", "<i8"), ("sent", "<i8")])
assert (HANDLED_RECORD.itemsize, SENT_RECORD.itemsize) == (HANDLED.size, SENT.size)

_LOOK_S = 0.2
CRITICAL = {"lapwing-deadline-ms": str(DEADLINE_MS), "lapwing-priority": "critical"}
"""User properties of critical messages; other brokers pass them on unread."""


@dataclass(frozen=True)
class Conditions:
    """What holds for every run of an experiment.

    Args:
        declares: User properties of each member's CONNECT.
        reports: Members report their queue in PUBACKs.
        receive_maximum: Of each member.
        drain_s: How long after the last message those that are not done may still end.
    """

    links: Links
    declares: tuple[tuple[str, str], ...]
    reports: bool
    receive_maximum: int
    drain_s: float


@dataclass(frozen=True)
class Books:
    """What one run wrote down.

    Attributes:
        handled: One record per end of a handler, of all members; ``member`` numbers are in ``members``.
        members: As many: which member.
        sent: One record per message of the trace.
        cut_ns: When it was over: what had not ended had waited until then.
        publisher: The publisher's counts.
        link: What the links say of themselves.
        cpu_s: Processor seconds of broker, publisher, links, members, from the start of the trace.
        wall_s: How long it took from there.
        group: What the broker counted of the group; empty: it cannot be asked.
    """

    handled: Handled
    members: NDArray[np.int64]
    sent: Sent
    cut_ns: int
    publisher: dict[str, int]
    link: dict[str, float]
    cpu_s: dict[str, float]
    wall_s: float
    group: dict[str, int]


def run_trace(
    trace: Trace, folder: Path, broker: RunningBroker, conditions: Conditions, tell: Callable[[int], None]
) -> Books:
    """Replays ``trace``, whose files lie in ``folder``, through ``broker``.

    Args:
        tell: Called now and then with the number of messages done so far.

    Raises:
        LapwingError: a process failed.
    """
    with tempfile.TemporaryDirectory(prefix="lapwing-lab-run-") as name, ExitStack() as stack:
        scratch = Path(name)
        (scratch / "tally").write_bytes(bytes(len(trace.messages)))
        topic = f"{GROUP}/{time.monotonic_ns():x}"  # what an earlier run left can not come here
        links = conditions.links.process(trace, broker.member_port, says_who=broker.expects_proxy)
        stack.enter_context(links)
        links.wait_until_ready()
        orders = _member_orders(trace, broker, conditions, topic, scratch)
        members = [stack.enter_context(Process("dispatch.member", order, runs_on=True)) for order in orders]
        wait_for_all(members)
        address = (conditions.links.host, broker.port)
        messages = str((folder / "messages.bin").resolve())
        order = PublisherOrder(messages, address, topic, CRITICAL, str(scratch / "sent"))
        publisher = stack.enter_context(Process("dispatch.publisher", order))
        publisher.wait_until_ready()
        begun_s, broker_cpu_s = time.monotonic(), broker.cpu_s()
        start_all([links, *members, publisher])
        wait_for_end(publisher, members, Tally(scratch / "tally"), len(trace.messages), conditions.drain_s, tell)
        cut_ns = time.monotonic_ns()
        group = group_counts(broker.http, GROUP, topic) if broker.http else {}
        broker_cpu_s, wall_s = broker.cpu_s() - broker_cpu_s, time.monotonic() - begun_s
        ends = [process.end() for process in (publisher, links, *members)]
        cpu_s = {
            "broker": broker_cpu_s,
            "publisher": ends[0].pop("cpu_s"),
            "links": ends[1].pop("cpu_s"),
            "members": sum(end["cpu_s"] for end in ends[2:]),
        }
        handled = [np.fromfile(order.records, HANDLED_RECORD) for order in orders]
        return Books(
            np.concatenate(handled),
            np.repeat(np.arange(len(handled)), [len(own) for own in handled]),
            np.fromfile(scratch / "sent", SENT_RECORD),
            cut_ns,
            ends[0],
            ends[1],
            cpu_s,
            wall_s,
            group,
        )


def _member_orders(
    trace: Trace, broker: RunningBroker, conditions: Conditions, topic: str, scratch: Path
) -> list[MemberOrder]:
    return [
        MemberOrder(
            day=day.to_json(),
            address=conditions.links.address(number, broker.member_port),
            source=conditions.links.source,
            client_id=f"{GROUP}-{number:03}",
            topic_filter=f"$share/{GROUP}/{topic}",
            declares=dict(conditions.declares),
            reports=conditions.reports,
            receive_maximum=conditions.receive_maximum,
            tally=str(scratch / "tally"),
            records=str(scratch / f"handled-{number}"),
        )
        for number, day in enumerate(trace.days)
    ]


def wait_for_end(
    publisher: Process,
    members: Sequence[Process],
    tally: Tally,
    expected: int,
    drain_s: float,
    tell: Callable[[int], None],
) -> None:
    """Until the ``expected`` messages are done, or the time after the publisher's end is up."""
    end_s = None
    while end_s is None or time.monotonic() < end_s:
        if end_s is None and publisher.has_ended():
            end_s = time.monotonic() + drain_s
        for member in members:
            member.has_ended()  # none should; one that failed says why
        done = tally.ended()
        tell(done)
        if end_s is not None and done >= expected:
            return
        time.sleep(_LOOK_S)


DECLARATIONS = ("processed", "received", "nothing")


def declared(text: str) -> tuple[tuple[str, str], ...]:
    """User properties of CONNECT for what a member says that it acknowledges.

    Raises:
        ConfigError: not one of ``DECLARATIONS``.
    """
    if text not in DECLARATIONS:
        raise ConfigError(f"{text!r} can not be declared", where="--declare", remedy=f"take {', '.join(DECLARATIONS)}")
    return () if text == "nothing" else (("lapwing-ack", text),)
