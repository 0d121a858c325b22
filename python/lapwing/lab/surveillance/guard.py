"""The guard, a process: a plain subscriber of alarms, until it is told to end.

``python -m lapwing.lab.surveillance.guard ORDER``; ORDER is JSON with the fields of ``Order``. Says "ready" on
standard output when subscribed, and writes its ``HEARD`` records at SIGTERM.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from lapwing.client import Client
from lapwing.lab.dispatch.books import Tally
from lapwing.lab.surveillance.detection import HEARD

_POLL_S = 1.0


@dataclass(frozen=True)
class Order:
    """What the guard is told.

    Attributes:
        tally: File of ``Tally``: alarms that were heard.
        records: File to write.
    """

    url: str
    topic_filter: str
    tally: str
    records: str


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> None:
    """The guard from the first alarm to the last."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides when the guard goes home
    order = Order(**json.loads(sys.argv[1]))
    tally, heard = Tally(Path(order.tally)), []
    with Client(order.url, client_id="guard") as client:
        client.subscribe(order.topic_filter, qos=1)
        print("ready", flush=True)  # noqa: T201 (this is its protocol)
        try:
            while True:
                message = client.receive(_POLL_S)
                if message is not None:
                    number = json.loads(message.payload)["number"]
                    heard.append((number, time.monotonic_ns()))
                    tally.count(number)
        finally:
            Path(order.records).write_bytes(b"".join(HEARD.pack(*record) for record in heard))


if __name__ == "__main__":
    main()
