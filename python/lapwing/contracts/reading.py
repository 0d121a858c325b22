"""The reading: what a device that senses the radio spectrum says in one payload, a JSON object in UTF-8.

A device counts its readings: ``serial`` starts at 0 on each ``boot`` and rises by one, which is what makes
loss, repeats and order exact. Required are who, which and when; whatever a device may not know is nullable,
and a member that is absent or ``null`` means unknown. Unknown members are ignored: a newer device may say
more.
"""

from __future__ import annotations

from lapwing.contracts.fields import Field, Record

VERSION = 1
INT64_MAX = 2**63 - 1
RSRP_UNKNOWN_DBM = -200
"""Modems report this for "no value": the reading stays, its RSRP becomes null."""

TIME_MIN_US = 0
TIME_MAX_US = 9_214_646_400_000_000 - 1
"""Times lie in 1970..2261, where microseconds and nanoseconds both fit into 64 bits."""

READING = Record(
    "reading",
    VERSION,
    (
        Field("device", "string", "the device's name; the client id in the demo", low=1, high=128),
        Field("boot", "int64", "how often the device has started", low=0, high=INT64_MAX),
        Field("serial", "int64", "number of the reading since that start", low=0, high=INT64_MAX),
        Field("sent_at", "time", "the device's clock as it sent it", "", False, TIME_MIN_US, TIME_MAX_US),
        Field("measured_at", "time", "the device's clock as it measured", "", False, TIME_MIN_US, TIME_MAX_US),
        Field("lat", "float64", "latitude, WGS 84", "degrees", True, -90, 90),
        Field("lon", "float64", "longitude, WGS 84", "degrees", True, -180, 180),
        Field("speed_kmh", "float64", "speed over ground", "km/h", True, 0, 2_000),
        Field("operator", "string", "network operator", "", True, 0, 128),
        Field("cell", "string", "serving cell", "", True, 0, 128),
        Field("network", "string", "5G, LTE, HSPA+, UMTS, ...", "", True, 0, 64),
        Field("channel", "int32", "channel number (EARFCN, NR-ARFCN)", "", True, 0, 2**31 - 1),
        Field("occupied_share", "float64", "share of the time above a threshold", "0..1", True, 0, 1),
        Field(
            "rsrp_dbm",
            "int32",
            "reference signal received power, rounded; -200: unknown; within the range of the network's technology",
            "dBm",
            True,
            -200,
            100,
            fractional=True,
        ),
        Field("rsrq_db", "float64", "reference signal received quality", "dB", True, -200, 100),
        Field("snr_db", "float64", "signal to noise ratio", "dB", True, -200, 200),
        Field("rssi_dbm", "float64", "received signal strength", "dBm", True, -200, 100),
        Field("dl_kbps", "float64", "downlink", "kbit/s", True, 0, 1e12),
        Field("ul_kbps", "float64", "uplink", "kbit/s", True, 0, 1e12),
    ),
)
"""Besides these a payload may carry ``v``, the contract's version (absent: 1)."""
