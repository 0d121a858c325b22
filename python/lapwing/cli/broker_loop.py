"""Waits beside a running broker: for signals, for its failure, for what it has to tell.

The first SIGTERM or SIGINT drains, in a thread, so that this one can still hear the second, which ends the
process at once. That is safe: what was acknowledged is on disk already.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lapwing.cli.common import notice, say
from lapwing.cli.start_progress import start_told
from lapwing.config.access_change import AccessCounts
from lapwing.errors import LapwingError
from lapwing.supervisor import Supervisor

if TYPE_CHECKING:
    from types import FrameType

    from lapwing.broker import Broker
    from lapwing.config import Config

_CHECK_INTERVAL_S = 0.5
_STOPPED = 0  # in the queue of signals: the drain has ended; no signal has this number


def serve(broker: Broker, on_ready: Callable[[], None], read_config: Callable[[], Config]) -> int:
    """Starts ``broker``, calls ``on_ready``, returns the exit code when it has ended.

    Args:
        broker: Not started yet.
        on_ready: Called when clients can connect.
        read_config: Reads the configuration again, at SIGHUP; of what it says only users, rules, groups and
            certificates are taken over.

    Raises:
        LapwingError: it could not start, or stopped by itself; a defect ends the command with a code of its own
            (``DefectError.exit_code``), for the supervisor that starts it again.
    """
    supervisor = Supervisor()

    def progress() -> tuple[int, int]:
        done, total = broker.start_progress()
        supervisor.starting(f"reading the log: {done:,} of {total:,} bytes")
        return done, total

    with _signals() as received:
        with start_told(progress):
            broker.start()
        try:
            _tell(broker)
            on_ready()
            supervisor.ready(f"listens at {', '.join(broker.urls)}")
            _wait_for_end(broker, received, read_config, supervisor)
        except BaseException:
            broker.stop()
            raise
        supervisor.stopping()
        return _drain(broker, received)


def _wait_for_end(
    broker: Broker, received: queue.SimpleQueue[int], read_config: Callable[[], Config], supervisor: Supervisor
) -> None:
    """Returns at SIGTERM or SIGINT; raises when the broker fails."""
    while True:
        # Before the error that ended it: they may say how it came to that.
        _tell(broker)
        broker.check()
        supervisor.alive()
        try:
            number = received.get(timeout=_CHECK_INTERVAL_S)
        except queue.Empty:
            continue
        if number != signal.SIGHUP:
            _tell(broker)
            return
        supervisor.reloading()
        _reload(broker, read_config)
        supervisor.ready()


def _tell(broker: Broker) -> None:
    for line in broker.notices():
        notice(line)


def _reload(broker: Broker, read_config: Callable[[], Config]) -> None:
    """A file that cannot be used is no reason to stop: what was read before stays in force."""
    before = broker.access_counts
    try:
        listeners = broker.reload(read_config)
    except LapwingError as failure:
        for line in failure.lines():
            notice(f"SIGHUP: {line}; what was in force stays")
    else:
        counts = f"{_change(before, broker.access_counts)}; listeners with certificates: {listeners}"
        notice(f"SIGHUP: users, rules, groups and certificates are read again ({counts})")


def _drain(broker: Broker, received: queue.SimpleQueue[int]) -> int:
    say("draining; a second signal stops at once")
    failures: list[LapwingError] = []

    def stop() -> None:
        try:
            broker.stop(drain_s=broker.config.broker.drain / 1000)
        except LapwingError as failure:
            failures.append(failure)
        finally:
            received.put(_STOPPED)

    threading.Thread(target=stop, name="lapwing-drain", daemon=True).start()
    while (number := received.get()) != _STOPPED:
        if number != signal.SIGHUP:
            _stop_at_once(number)
    if failures:
        raise failures[0]
    return 0


def _stop_at_once(number: int) -> None:
    say("stopped at once")
    sys.stdout.flush()
    os._exit(128 + number)


@contextmanager
def _signals() -> Iterator[queue.SimpleQueue[int]]:
    """Signals by number, as they come; the handlers before are put back at the end."""
    received: queue.SimpleQueue[int] = queue.SimpleQueue()

    def handle(number: int, _frame: FrameType | None) -> None:
        received.put(number)

    wanted = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in wanted}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _change(before: AccessCounts, now: AccessCounts) -> str:
    return str(now) if now == before else f"{before} before, {now} now"
