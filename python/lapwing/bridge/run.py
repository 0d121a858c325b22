"""All lanes of one bridge: started together, ended together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from lapwing.bridge.counts import Counts
from lapwing.bridge.metrics_server import MetricsServer
from lapwing.bridge.sink import Sink
from lapwing.bridge.stopping import Say, Stopping
from lapwing.bridge.to_kafka import ToKafkaLane
from lapwing.bridge.to_mqtt import ToMqttLane
from lapwing.config.bridge import BridgeSection
from lapwing.errors import ConfigError

_LOOK_S = 0.5
"""After so long it is known that a connection is gone."""
_MORE_S = 5.0
"""After the time to drain: what a lane needs to notice that it is over."""


class Lane(Protocol):
    """One rule, for one member."""

    name: str
    counts: Counts

    def connect(self) -> None:
        """Connects to the broker."""

    def look(self) -> None:
        """Says whether the broker is there, when that has changed."""

    def run(self) -> None:
        """Carries until the end."""

    def close(self, timeout_s: float) -> None:
        """Takes in no more."""


class Bridge:
    """The members of one process.

    Args:
        settings: The configuration.
        say: Takes lines for the operator.
        sink: Makes what takes the place of Kafka, for measuring what is before it.

    Raises:
        ConfigError: there is no rule, or a setting cannot be.
    """

    def __init__(self, settings: BridgeSection, say: Say, sink: Callable[[], Sink] | None = None) -> None:
        if not settings.to_kafka and not settings.to_mqtt:
            remedy = "add a [[bridge.to_kafka]] or [[bridge.to_mqtt]] table to the configuration"
            raise ConfigError("the bridge has no rule", where="bridge", remedy=remedy)
        self._settings = settings
        self._say = say
        self._stopping = Stopping()
        self._ended = threading.Condition()
        self._failures: list[BaseException] = []
        self._running = 0
        members = range(settings.members)
        self.lanes: list[Lane] = [
            *(
                ToKafkaLane(settings, rule, member, self._stopping, say, sink() if sink else None)
                for member in members
                for rule in settings.to_kafka
            ),
            *(
                ToMqttLane(settings, rule, member, self._stopping, say)
                for member in members
                for rule in settings.to_mqtt
            ),
        ]
        self._threads: list[threading.Thread] = []
        self._metrics = MetricsServer(settings.metrics, self.all_counts) if settings.metrics else None

    @property
    def metrics_url(self) -> str:
        """Where ``/metrics`` is; empty: nowhere."""
        return self._metrics.url if self._metrics else ""

    def all_counts(self) -> Sequence[Counts]:
        """Of every lane."""
        return [lane.counts for lane in self.lanes]

    def start(self) -> None:
        """Takes the metrics' address, connects every lane to the broker, then lets them carry.

        Raises:
            LapwingError: the metrics' address is taken; or the broker does not answer or refuses us.
        """
        if self._metrics:
            self._metrics.listen()
        try:
            for lane in self.lanes:
                lane.connect()
            if self._metrics:
                self._metrics.start()
        except BaseException:
            self._stopping.abandon()
            for lane in self.lanes:
                lane.close(0.0)
            if self._metrics:
                self._metrics.release()
            raise
        self._running = len(self.lanes)
        self._threads = [
            threading.Thread(target=self._run, args=(lane,), name=lane.name, daemon=True) for lane in self.lanes
        ]
        watcher = threading.Thread(target=self._watch, name="bridge-watch", daemon=True)
        for thread in (*self._threads, watcher):
            thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Waits until a lane has ended by itself; raises why. False: none has."""
        with self._ended:
            over = self._ended.wait_for(lambda: self._running < len(self.lanes), timeout_s)
        if self._failures:
            raise self._failures[0]
        return over

    def stop(self, drain_s: float | None = None) -> bool:
        """Takes nothing new, waits for what is in hand, and ends.

        Args:
            drain_s: How long to wait; what is not confirmed then stays with the broker or with Kafka. None: as set.

        Returns: Whether everything in hand was confirmed.

        Raises:
            BaseException: what ended a lane, meanwhile or before.
        """
        patience_s = self._settings.drain / 1000 if drain_s is None else drain_s
        self._stopping.drain()
        closers = [threading.Thread(target=lane.close, args=(patience_s,), daemon=True) for lane in self.lanes]
        for closer in closers:
            closer.start()
        with self._ended:
            drained = self._ended.wait_for(lambda: self._running == 0, patience_s)
        self._stopping.abandon()
        for thread in self._threads + closers:
            thread.join(_MORE_S)
        if self._metrics:
            self._metrics.stop()
        if self._failures:
            raise self._failures[0]
        return drained

    def _watch(self) -> None:
        while not self._stopping.is_soon(_LOOK_S):
            for lane in self.lanes:
                lane.look()

    def _run(self, lane: Lane) -> None:
        try:
            lane.run()
        except BaseException as failure:
            self._failures.append(failure)
            # Raised only when the others have ended, which may take the whole time to drain.
            self._say(f"lane {lane.name} failed: {failure or type(failure).__name__}")
        finally:
            with self._ended:
                self._running -= 1
                self._ended.notify_all()
