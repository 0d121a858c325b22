"""Phones that drive and report, some messages lost, late, twice or broken; and what the tables must say of them.

The second computation is plain Python over what was sent, in the order of sending: it shares definitions with the
pipeline, no line of code.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_stream import KafkaStream
from messages import START, envelopes, reading
from oracle.cork_coverage import tile, window_start
from served_stream import ServedStream

PHONES = 12
EVERY_S = 5


@dataclass(frozen=True)
class Sent:
    """One message: a reading of a phone, or bytes that are none."""

    phone: int
    serial: int
    sent_at: datetime
    ingress_at: datetime
    payload: dict[str, Any] | bytes


class Drive:
    """Drives by `START`, a reading of each phone every five seconds; the broker's clock is the messages'."""

    def __init__(self, stream: ServedStream | KafkaStream) -> None:
        self.stream = stream
        self.sent: list[Sent] = []
        self._serial = 0

    def on(self, seconds: int) -> None:
        """All that comes in the next so many seconds."""
        end = self._serial + seconds // EVERY_S
        coming = [each for serial in range(self._serial, end) for n in range(PHONES) for each in _tick(n, serial)]
        for partition in range(2):
            part = [each for each in coming if each.phone % 2 == partition]
            batch = envelopes([each.payload for each in part], ingress=[each.ingress_at for each in part])
            self.stream.append(partition, batch)
        self.sent += coming
        self._serial = end


def _tick(phone: int, serial: int) -> list[Sent]:
    """What a phone sends at one time: its reading, one that was late, one once more, something broken."""
    due = [
        n for n, is_due in ((serial, not _is_late(phone, serial)), (serial - 2, _is_late(phone, serial - 2))) if is_due
    ]
    if (phone + serial) % 11 == 4:
        due.append(serial - 3)
    now = _at(serial) + timedelta(milliseconds=40 + 10 * phone)
    sent = [Sent(phone, n, _at(n), now, _reading(phone, n)) for n in due if n >= 0 and (phone + n) % 17 != 3]
    if (phone + serial) % 97 == 5:
        sent.append(Sent(phone, serial, now, now, f"broken {phone} {serial}".encode()))
    return sent


def _is_late(phone: int, serial: int) -> bool:
    return (serial - phone) % 23 == 7


def _at(serial: int) -> datetime:
    return START + timedelta(seconds=serial * EVERY_S)


def _reading(phone: int, serial: int) -> dict[str, Any]:
    lat, lon = 51.88 + phone / 400, -8.55 + serial / 8_000
    rsrp = None if serial % 13 == 5 else -70 - (7 * phone + serial) % 50
    share = (phone + serial) % 8 / 8
    return reading(f"p{phone}", serial, at=_at(serial), lat=lat, lon=lon, rsrp_dbm=rsrp, occupied_share=share)


@dataclass
class Cell:
    """A row of ``coverage``, without what follows from the histogram."""

    samples: int = 0
    occupied_sum_ppb: int = 0
    rsrp_dbm: Counter[int] = field(default_factory=Counter)
    last_seen: datetime = datetime(1970, 1, 1, tzinfo=UTC)


class Tables:
    """What the tables must say after these messages."""

    def __init__(self, sent: list[Sent]) -> None:
        self.readings: set[tuple[str, int]] = set()
        self.broken: list[bytes] = []
        self.quality: dict[tuple[str, datetime], Counter[str]] = {}
        self.latency_us: dict[datetime, list[int]] = {}
        """Per minute, from the device to the broker."""
        self.coverage: dict[tuple[datetime, str], Cell] = {}
        self._newest: dict[str, int] = {}
        for each in sent:
            self._take(each)

    def _take(self, each: Sent) -> None:
        if isinstance(each.payload, bytes):
            self.broken.append(each.payload)
            return
        device, minute = f"p{each.phone}", each.ingress_at.replace(second=0, microsecond=0)
        counts = self.quality.setdefault((device, minute), Counter())
        counts["received"] += 1
        if (device, each.serial) in self.readings:
            counts["repeated"] += 1
            return
        self.readings.add((device, each.serial))
        ahead = each.serial - self._newest.get(device, -1)
        self._newest[device] = max(each.serial, self._newest.get(device, -1))
        counts["gap"] += max(0, ahead - 1)
        counts["recovered"] += ahead < 0
        self.latency_us.setdefault(minute, []).append((each.ingress_at - each.sent_at) // timedelta(microseconds=1))
        self._cover(each.payload, each.sent_at)

    def _cover(self, payload: dict[str, Any], at: datetime) -> None:
        cell = self.coverage.setdefault((window_start(at), tile(payload["lat"], payload["lon"])), Cell())
        cell.samples += 1
        cell.occupied_sum_ppb += round(payload["occupied_share"] * 1e9)
        cell.last_seen = max(cell.last_seen, at)
        if payload["rsrp_dbm"] is not None:
            cell.rsrp_dbm[payload["rsrp_dbm"]] += 1
