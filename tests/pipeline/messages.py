"""Device messages for tests and benchmarks of the pipeline: envelopes around readings in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from lapwing.contracts.envelope import ENVELOPE

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def iso(at: datetime) -> str:
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def reading(device: str, serial: int, boot: int = 0, *, at: datetime = START, **changes: Any) -> dict[str, Any]:
    """A reading as a dict; ``...`` takes a member away."""
    whole = {
        "device": device,
        "boot": boot,
        "serial": serial,
        "sent_at": iso(at),
        "measured_at": iso(at),
        "lat": 51.9,
        "lon": -8.47,
        "network": "5G",
        "channel": 6300,
        "occupied_share": 0.25,
        "rsrp_dbm": -97,
    }
    return {name: value for name, value in (whole | changes).items() if value is not ...}


def envelopes(
    payloads: Sequence[dict[str, Any] | bytes], *, ingress: datetime | Sequence[datetime] = START
) -> pa.RecordBatch:
    """Messages around `payloads`, in order; bytes are taken as they are."""
    count = len(payloads)
    raws = [p if isinstance(p, bytes) else json.dumps(p).encode() for p in payloads]
    devices = [p.get("device", "someone") if isinstance(p, dict) else "someone" for p in payloads]
    at = [ingress] * count if isinstance(ingress, datetime) else list(ingress)
    columns = {
        "topic": [f"spectrum/{device}/readings" for device in devices],
        "payload": raws,
        "client_id": [str(device) for device in devices],
        "qos": [1] * count,
        "retain": [False] * count,
        "user_properties": [[] for _ in raws],
        "partition": [0] * count,
        "offset": list(range(count)),
        "sent_at": [None] * count,
        "ingress_at": at,
        "appended_at": [each + timedelta(microseconds=500) for each in at],
        "forwarded_at": [None] * count,
        "observed_at": [None] * count,
    }
    schema = ENVELOPE.arrow_schema()
    return pa.RecordBatch.from_arrays([pa.array(columns[f.name], f.type) for f in schema], schema=schema)


def fleet(
    rows: int, *, devices: int = 1_000, seed: int = 1, repeats: float = 0.0, name: str = "dev"
) -> Iterable[pa.RecordBatch]:
    """`rows` valid readings of a fleet that drives through a city, in batches of 10,000 messages; about 330 B each.

    Devices take turns; `repeats` is the share of messages that are sent again some time later.
    """
    random = np.random.default_rng(seed)
    lat, lon = random.uniform(51.85, 51.95, devices), random.uniform(-8.55, -8.4, devices)
    size = 10_000
    for begin in range(0, rows, size):
        numbers = np.arange(begin, min(begin + size, rows))
        who, serials = numbers % devices, numbers // devices
        lat[who] += random.normal(0, 5e-5, len(who))
        lon[who] += random.normal(0, 8e-5, len(who))
        yield _batch(random, numbers, who, serials, lat[who], lon[who], repeats, name)


def _batch(
    random: Any, numbers: Any, who: Any, serials: Any, lat: Any, lon: Any, repeats: float, name: str
) -> pa.RecordBatch:
    count = len(numbers)
    at = [START + timedelta(milliseconds=int(n)) for n in numbers]
    share, rsrp = random.uniform(0, 1, count), random.normal(-95, 12, count).clip(-140, -44).astype(int)
    channel, speed = random.choice([1300, 6300, 500_000], count), random.uniform(0, 60, count)
    payloads = [
        (
            f'{{"device":"{name}-{w:06d}","boot":0,"serial":{s},"sent_at":"{iso(t)}","measured_at":"{iso(t)}",'
            f'"lat":{la:.6f},"lon":{lo:.6f},"speed_kmh":{v:.1f},"operator":"A","cell":"{c}","network":"LTE",'
            f'"channel":{c},"occupied_share":{o:.4f},"rsrp_dbm":{r},"rsrq_db":-10.5,"snr_db":3.25,"dl_kbps":1200.5}}'
        ).encode()
        for w, s, t, la, lo, v, c, o, r in zip(who, serials, at, lat, lon, speed, channel, share, rsrp, strict=True)
    ]
    names = [f"{name}-{w:06d}" for w in who]
    if repeats:
        again = random.random(count) < repeats
        back = np.maximum(0, np.arange(count) - random.integers(1, 5_000, count))
        payloads = [payloads[b] if r else p for p, r, b in zip(payloads, again, back, strict=True)]
        names = [names[b] if r else n for n, r, b in zip(names, again, back, strict=True)]
    batch = envelopes(payloads, ingress=[t + timedelta(milliseconds=3) for t in at])
    columns = {name: batch.column(name) for name in batch.schema.names}
    columns["client_id"] = pa.array(names)
    columns["topic"] = pa.array([f"spectrum/{each}/readings" for each in names])
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=batch.schema)
