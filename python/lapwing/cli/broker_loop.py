"""Waits beside a running broker: for signals, for its failure, for what it has to tell.

The first SIGTERM or SIGINT drains, in a thread, so that this one can still hear the second, which ends the
process at once. That is safe: what was acknowledged is on disk already.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from lapwing._core import give_back_start
from lapwing.cli.received import Received
from lapwing.cli.signals import taken
from lapwing.cli.start_progress import start_told
from lapwing.errors import LapwingError
from lapwing.log.cluster_watch import ClusterWatch
from lapwing.log.disk_watch import DiskWatch
from lapwing.log.printer import LogPrinter
from lapwing.supervisor import Supervisor

if TYPE_CHECKING:
    from lapwing.broker import Broker
    from lapwing.config.reread import Reread

_CHECK_INTERVAL_S = 0.5
_CERTIFICATES_INTERVAL_S = 3_600.0
_START_IS_OVER_S = 1.0
"""By then the threads have found what they rest in, and what led there is not touched again."""
_OF_OTHERS = (signal.SIGUSR1, signal.SIGUSR2)
"""Other brokers write something at these; who is used to that ends none."""
_STOPPED = 0  # in the queue of signals: the drain has ended; no signal has this number


def serve(broker: Broker, on_ready: Callable[[], None], config: Reread, log: LogPrinter) -> int:
    """Starts ``broker``, calls ``on_ready``, returns the exit code when it has ended.

    Args:
        broker: Not started yet.
        on_ready: Called when clients can connect.
        config: Reads the configuration again, at SIGHUP; of what it says only users, rules, topics, groups and
            certificates are taken over.
        log: Prints what there is to tell.

    Raises:
        LapwingError: it could not start, or stopped by itself; a defect ends the command with a code of its own
            (``DefectError.exit_code``), for the supervisor that starts it again.
    """
    with _signals() as received, log.takes_logging():
        return _Serving(broker, received, log).run(on_ready, config)


class _Serving:
    """One broker, from its start to its end."""

    def __init__(self, broker: Broker, received: Received, log: LogPrinter) -> None:
        self._broker, self._received, self._log = broker, received, log
        self._supervisor = Supervisor()
        self._certificates_at = time.monotonic() + _CERTIFICATES_INTERVAL_S
        self._disk = DiskWatch(broker.config.broker.data, broker.disk_syncs)
        self._cluster = None
        if broker.config.cluster.name is not None:
            self._cluster = ClusterWatch(broker.cluster, lambda: broker.urls)
        self._unheeded: set[int] = set()
        self._start_is_over_at = 0.0

    def run(self, on_ready: Callable[[], None], config: Reread) -> int:
        """To the end."""
        with start_told(self._progress, tell=partial(self._log.notice, subject="start")):
            self._broker.start()
        try:
            self._tell()
            on_ready()
            self._supervisor.ready(self._what_it_does())
            self._start_is_over_at = time.monotonic() + _START_IS_OVER_S
            self._wait_for_end(config)
        except BaseException:
            self._broker.stop()
            raise
        self._supervisor.stopping()
        return self._drain()

    def _what_it_does(self) -> str:
        if self._broker.config.cluster.name is not None:
            return f"is a node of a cluster, at {self._broker.peer_address}"
        return f"listens at {', '.join(self._broker.urls)}"

    def _give_back_start(self) -> None:
        try:
            give_back_start()
        except OSError as error:
            self._log.warning(f"what only the start has read stays in memory: {error}")

    def _progress(self) -> tuple[int, int]:
        """How much of the log is read; whoever supervises hears it too."""
        done, total = self._broker.start_progress()
        self._supervisor.starting(f"reading the log: {done:,} of {total:,} bytes")
        return done, total

    def _wait_for_end(self, config: Reread) -> None:
        """Returns at SIGTERM or SIGINT; raises when the broker fails."""
        while True:
            # Before the error that ended it: they may say how it came to that.
            self._tell()
            if self._start_is_over_at and time.monotonic() >= self._start_is_over_at:
                self._start_is_over_at = 0.0
                self._give_back_start()
            self._broker.check()
            if self._broker.is_going_on(self._supervisor.turn_s):
                self._supervisor.alive()
            number = self._received.get(_CHECK_INTERVAL_S)
            if number is None or self._is_of_others(number):
                continue
            if number != signal.SIGHUP:
                self._tell()
                return
            self._supervisor.reloading()
            self._reload(config)
            self._supervisor.ready()

    def _is_of_others(self, number: int) -> bool:
        """Whether nothing is done at this signal, which is said once."""
        if number in _OF_OTHERS and number not in self._unheeded:
            self._unheeded.add(number)
            self._log.notice(
                f"{signal.Signals(number).name}: nothing is done at it; SIGHUP reads the configuration again"
            )
        return number in _OF_OTHERS

    def _tell(self) -> None:
        for line in self._broker.log():
            self._log.line(line)
        if self._broker.config.broker.durability == "disk" or self._broker.config.streams:
            for line in self._disk.look():
                self._log.line(line)
        if self._cluster is not None:
            for line in self._cluster.look():
                self._log.line(line)
        if time.monotonic() >= self._certificates_at:
            self._certificates_at = time.monotonic() + _CERTIFICATES_INTERVAL_S
            self._broker.look_at_certificates()

    def _reload(self, config: Reread) -> None:
        """A file that cannot be used is no reason to stop: what was read before stays in force."""
        before = self._broker.access_counts
        try:
            listeners = self._broker.reload(config.again)
        except LapwingError as failure:
            for line in failure.lines():
                self._log.warning(f"SIGHUP: {line}; what was in force stays")
        except Exception as defect:
            # Nor is a defect of ours: who is connected stays so.
            self._log.error("SIGHUP: a defect of Lapwing's own, please report it; what was in force stays", defect)
        else:
            config.taken()
            counts = f"{before.change_to(self._broker.access_counts)}; listeners with certificates: {listeners}"
            self._log.notice(f"SIGHUP: users, rules, groups and certificates are read again ({counts})")
            if waits := config.waits():
                self._log.notice(f"SIGHUP: changed, and in force when the broker is started again: {waits}")

    def _drain(self) -> int:
        self._log.step("draining; a second signal stops at once")
        failures: list[LapwingError] = []

        def stop() -> None:
            try:
                self._broker.stop(drain_s=self._broker.config.broker.drain / 1000)
            except LapwingError as failure:
                failures.append(failure)
            finally:
                self._received.put(_STOPPED)

        threading.Thread(target=stop, name="lapwing-drain", daemon=True).start()
        while (number := self._received.get()) != _STOPPED:
            if number is not None and number != signal.SIGHUP and not self._is_of_others(number):
                self._log.step("stopped at once")
                _stop_at_once(number)
        if failures:
            raise failures[0]
        return 0


def _stop_at_once(number: int) -> None:
    sys.stdout.flush()
    os._exit(128 + number)


@contextmanager
def _signals() -> Iterator[Received]:
    """Signals as they come; the handlers before are put back at the end."""
    received = Received()
    with taken((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, *_OF_OTHERS), received.put):
        yield received
