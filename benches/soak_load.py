"""The load of the soak: pairs, devices into a stream, sessions that sleep, and a probe that tells how long it takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from benches.load import Report, swarm
from benches.soak_samples import Latencies
from lapwing import Client

SETTINGS = (
    "streams.soak.filter=soak/+/readings",
    "streams.soak.retain_bytes=64MiB",
    "limits.queue_messages_max=100000",
)
SESSIONS, MESSAGES, RETAINED = 20, 100, 50
PROBE_EVERY_S, CALIBRATION_S, DRAIN_S = 0.05, 5.0, 3.0
_PAIRS = {"publishers": 50, "qos": 1, "payload": 100}
_DEVICES = {"publishers": 100, "qos": 1, "payload": 200}


@dataclass
class Totals:
    """What the load has seen; each field is written by one thread."""

    acknowledged: dict[str, int] = field(default_factory=lambda: {"pairs": 0, "devices": 0})
    lost: dict[str, int] = field(default_factory=lambda: {"pairs": 0, "devices": 0})
    errors: dict[str, int] = field(default_factory=lambda: {"pairs": 0, "devices": 0})
    slept: int = 0
    missed: int = 0


class Load:
    """Threads that keep a broker busy until they are told to stop.

    Args:
        share: Of what the machine does: the rates of pairs and devices are such parts of what both reach together.
    """

    def __init__(self, url: str, cpus: set[int], share: float, slice_s: float) -> None:
        self.totals, self.latencies = Totals(), Latencies()
        self.failed: list[BaseException] = []
        self.rates = {"pairs": 0.0, "devices": 0.0}
        self._url, self._cpus, self._share, self._slice_s = url, cpus, share, slice_s
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def calibrate(self) -> None:
        """Finds the rates: both loads at once, as fast as acknowledgements allow."""
        with ThreadPoolExecutor(2) as pool:
            pairs = pool.submit(self._pairs, 0.0, CALIBRATION_S)
            devices = pool.submit(self._devices, 0.0, CALIBRATION_S)
            self.rates = {
                "pairs": self._share * pairs.result()["sent_per_s"],
                "devices": self._share * devices.result()["sent_per_s"],
            }

    def start(self) -> None:
        """All of it, at once."""
        works: list[Callable[[], None]] = [
            lambda: self._slices("pairs", self._pairs),
            lambda: self._slices("devices", self._devices),
            self._sleep_and_wake,
            self._probe,
        ]
        self._threads = [threading.Thread(target=self._guarded, args=(work,)) for work in works]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Returns when the slices that are under way have ended."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # it is told at the end, whatever it is
            self.failed.append(error)
            self._stop.set()

    def _slices(self, name: str, run: Callable[[float, float], Report]) -> None:
        while not self._stop.is_set():
            report = run(self.rates[name], self._slice_s)
            self.totals.acknowledged[name] += report["acknowledged"]
            self.totals.lost[name] += report["lost"]
            self.totals.errors[name] += sum(report["errors"].values()) if report["errors"] else 0

    def _pairs(self, rate: float, seconds: float) -> Report:
        flags = ("--no-spin",)
        return swarm("p2p", self._url, self._cpus, seconds=seconds, flags=flags, rate=rate, drain=DRAIN_S, **_PAIRS)

    def _devices(self, rate: float, seconds: float) -> Report:
        flags, options = ("--no-spin",), {**_DEVICES, "prefix": "soak", "drain": DRAIN_S}
        return swarm("devices", self._url, self._cpus, seconds=seconds, flags=flags, rate=rate, **options)

    def _sleeper(self, number: int) -> Client:
        return Client(self._url, client_id=f"sleeper-{number}", clean_start=False, session_expiry_s=86_400)

    def _sleep_and_wake(self) -> None:
        """Sessions in turn: messages come while they sleep, then they take them; retained ones are set and cleared."""
        for number in range(SESSIONS):
            with self._sleeper(number) as client:
                client.subscribe(f"sleepers/{number}", qos=2)
        round_ = 0
        with Client(self._url, client_id="waker") as waker:
            while not self._stop.is_set():
                number = round_ % SESSIONS
                for count in range(MESSAGES):
                    waker.publish(f"sleepers/{number}", b"x" * 200, qos=1 + count % 2)
                retained = b"" if round_ // RETAINED % 2 else b"retained"
                waker.publish(f"kept/{round_ % RETAINED}", retained, qos=1, retain=True)
                waker.flush(60)
                self._wake(number)
                round_ += 1
                self._stop.wait(0.2)

    def _wake(self, number: int) -> None:
        with self._sleeper(number) as client:
            came = sum(client.receive(30) is not None for _ in range(MESSAGES))
        self.totals.slept += came
        self.totals.missed += MESSAGES - came

    def _probe(self) -> None:
        """A kept session that writes to itself: each message goes to disk on its way."""
        client = Client(self._url, client_id="probe", clean_start=False, session_expiry_s=86_400)
        with client:
            client.subscribe("probe/own", qos=1)
            while not self._stop.is_set():
                began = time.monotonic()
                client.publish("probe/own", b"probe", qos=1)
                if client.receive(30) is None:
                    raise TimeoutError("a message of the probe did not come within 30 s")
                self.latencies.add((time.monotonic() - began) * 1_000)
                self._stop.wait(PROBE_EVERY_S)
