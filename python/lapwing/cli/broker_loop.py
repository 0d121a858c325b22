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

import typer

from lapwing.cli.messages import one_line
from lapwing.cli.start_progress import start_told
from lapwing.config.access_change import AccessCounts
from lapwing.errors import LapwingError

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
    with _signals() as received:
        with start_told(broker.start_progress):
            broker.start()
        try:
            _tell(broker)
            on_ready()
            _wait_for_end(broker, received, read_config)
        except BaseException:
            broker.stop()
            raise
        return _drain(broker, received)


def _wait_for_end(broker: Broker, received: queue.SimpleQueue[int], read_config: Callable[[], Config]) -> None:
    """Returns at SIGTERM or SIGINT; raises when the broker fails."""
    while True:
        # Before the error that ended it: they may say how it came to that.
        _tell(broker)
        broker.check()
        try:
            number = received.get(timeout=_CHECK_INTERVAL_S)
        except queue.Empty:
            continue
        if number != signal.SIGHUP:
            _tell(broker)
            return
        _reload(broker, read_config)


def _tell(broker: Broker) -> None:
    for notice in broker.notices():
        typer.echo(f"notice: {one_line(notice)}", err=True)


def _reload(broker: Broker, read_config: Callable[[], Config]) -> None:
    """A file that cannot be used is no reason to stop: what was read before stays in force."""
    before = broker.access_counts
    try:
        listeners = broker.reload(read_config)
    except LapwingError as failure:
        for line in failure.lines():
            typer.echo(f"notice: SIGHUP: {one_line(line)}; what was in force stays", err=True)
    else:
        typer.echo(
            "notice: SIGHUP: users, rules, groups and certificates are read again"
            f" ({_change(before, broker.access_counts)}; listeners with certificates: {listeners})",
            err=True,
        )


def _drain(broker: Broker, received: queue.SimpleQueue[int]) -> int:
    typer.echo("draining; a second signal stops at once", err=True)
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
    typer.echo("stopped at once", err=True)
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
