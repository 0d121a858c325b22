"""Publishers that know which of their messages the broker has acknowledged."""

from __future__ import annotations

import threading
import time

from lapwing import Publisher
from lapwing.errors import LapwingError, TimedOutError
from lapwing.lab.payload import encode, rfc3339

_BURST_S = 0.05


class Load:
    """Devices that publish readings at a steady rate, numbered by their serials, whatever happens to the broker."""

    def __init__(self, url: str, devices: int, per_s: int) -> None:
        self._url = url
        self._burst = max(1, round(per_s * _BURST_S / devices))
        self._over = threading.Event()
        self.acknowledged = [0] * devices
        """By device: so many of its first messages are acknowledged."""
        self.failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(device,), daemon=True) for device in range(devices)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self, timeout_s: float) -> None:
        """Publishes no more, and waits until everything is acknowledged."""
        self._over.set()
        deadline = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        assert not any(thread.is_alive() for thread in self._threads), "publishers wait for acknowledgements"
        if self.failures:
            raise self.failures[0]

    @property
    def total(self) -> int:
        return sum(self.acknowledged)

    def _run(self, device: int) -> None:
        try:
            topic = f"spectrum/{name_of(device)}/readings"
            publisher = Publisher(self._url, client_id=name_of(device), session_expiry_s=3600).connect()
            due = time.monotonic()
            sent = 0
            while not self._over.is_set():
                for _ in range(self._burst):
                    publisher.publish(topic, _reading(device, sent), timeout_s=120)
                    sent += 1
                self._flush(publisher)
                self.acknowledged[device] = sent
                due = max(due + _BURST_S, time.monotonic() - 1)
                self._over.wait(max(0.0, due - time.monotonic()))
            publisher.close()
        except LapwingError as failure:
            self.failures.append(failure)

    def _flush(self, publisher: Publisher) -> None:
        while True:
            try:
                publisher.flush(1.0)
            except TimedOutError:
                continue
            return


def name_of(device: int) -> str:
    """What a device is called, as client and in its readings."""
    return f"device-{device}"


def _reading(device: int, serial: int) -> bytes:
    """One reading, taken now, at a place of the device's own; about 350 bytes."""
    now = rfc3339(time.time_ns() // 1000)
    place = {"lat": 51.85 + 0.005 * device, "lon": -8.5}
    heard = {"operator": "A", "network": "LTE", "channel": 6300, "occupied_share": 0.25, "rsrp_dbm": -97}
    who = {"device": name_of(device), "boot": 0, "serial": serial, "sent_at": now, "measured_at": now}
    return encode(who | place | heard)
