"""The controller of A1, a process: one plain subscriber that applies the job's rules by itself.

``python -m lapwing.lab.crowdsourcing.controller ORDER``; ORDER is JSON with the fields of ``Order``. Lines of JSON on
standard output: ``ready`` once subscribed, then ``rows`` (messages since the last line). At SIGTERM it takes nothing
more and writes ``totals.json``, ``clocks.parquet`` and a Parquet file per table into its folder.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pyarrow.parquet as pq

from lapwing._core import Delivery, Link
from lapwing.client.options import POLL_S, LinkPlan
from lapwing.errors import LapwingError
from lapwing.lab.crowdsourcing.coverage import Coverage
from lapwing.text import one_line

BATCH_MESSAGES = 5000
LINGER_S = 0.001
APPLY_EVERY_S = 0.1
"""The rules are applied to what has come so often: they are Arrow's, and cost by the batch, too."""

RECEIVE_MAXIMUM = 65_535
"""The protocol's default, what a client has that says nothing."""

ENVELOPE, INGRESS = "lapwing-envelope", "lapwing-ingress-us"


@dataclass(frozen=True)
class Order:
    """What the controller is told.

    Attributes:
        folder: Gets what it finds.
        envelope: It asks the broker when it took each message in; other brokers do not say.
    """

    url: str
    filter: str
    qos: int
    folder: str
    envelope: bool


class Controller:
    """Takes messages until it is told to end; each is acknowledged as it is taken up."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.coverage = Coverage()
        self._ends = False
        self._payloads: list[bytes] = []
        self._ingress_us: list[int | None] = []
        self._observed_us: list[int] = []
        self._applied_s = time.monotonic()

    def end(self, _number: int, _frame: FrameType | None) -> None:
        """For a signal."""
        self._ends = True

    def run(self) -> None:
        """From the subscription to the files."""
        link = self._plan().start_and_wait()
        _say(event="ready")
        while not self._ends:
            batch = link.take(BATCH_MESSAGES, APPLY_EVERY_S if self._payloads else POLL_S, LINGER_S)
            if batch:
                self._take_up(batch)
                link.finish(batch)
            if self._payloads and self._is_time():
                self._apply(link)
        counters = link.counters()
        link.abort()
        self._apply(link)
        self._write({"unread": counters["waiting"], "dropped": counters["dropped"], "arrived": counters["received"]})

    def _plan(self) -> LinkPlan:
        plan = LinkPlan(self._order.url, {"client_id": "controller"}, session_expiry_s=0)
        plan.settings["filters"] = [self._order.filter]
        plan.settings["qos"] = self._order.qos
        plan.settings["receive_maximum"] = RECEIVE_MAXIMUM
        plan.settings["high"], plan.settings["low"] = 2 * BATCH_MESSAGES, BATCH_MESSAGES
        if self._order.envelope:
            plan.settings["user_properties"] = [(ENVELOPE, "1")]
        return plan

    def _take_up(self, batch: list[Delivery]) -> None:
        observed_us = time.time_ns() // 1000
        told = [delivery.user_property(INGRESS) for delivery in batch]
        self._payloads += [delivery.payload for delivery in batch]
        self._ingress_us += [int(each) if each is not None else None for each in told]
        self._observed_us += [observed_us] * len(batch)

    def _is_time(self) -> bool:
        return len(self._payloads) >= BATCH_MESSAGES or time.monotonic() - self._applied_s >= APPLY_EVERY_S

    def _apply(self, link: Link) -> None:
        self.coverage.add(self._payloads, self._ingress_us, self._observed_us)
        _say(rows=len(self._payloads), waiting=link.counters()["waiting"])
        self._payloads, self._ingress_us, self._observed_us = [], [], []
        self._applied_s = time.monotonic()

    def _write(self, counters: dict[str, int]) -> None:
        folder, found = Path(self._order.folder), self.coverage
        folder.mkdir(parents=True, exist_ok=True)
        tables = found.tables()
        for name, table in tables.items():
            pq.write_table(table, folder / f"{name}.parquet")
        pq.write_table(found.clocks(), folder / "clocks.parquet")
        totals = {name: getattr(found, name) for name in ("received", "quarantined", "repeated", "lost")}
        totals["tiles"] = len(set(tables["coverage"]["tile"].to_pylist()))
        (folder / "totals.json").write_text(json.dumps(totals | counters) + "\n")


def _say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)  # noqa: T201 (this is its protocol)


def main() -> int:
    """The controller; gives the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides when it ends
    controller = Controller(Order(**json.loads(sys.argv[1])))
    signal.signal(signal.SIGTERM, controller.end)
    try:
        controller.run()
    except LapwingError as error:
        sys.stderr.write("".join(f"error: {one_line(line)}\n" for line in error.lines()))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
