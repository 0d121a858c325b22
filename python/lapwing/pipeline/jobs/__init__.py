"""Jobs wire source, transforms and sinks; they alone name paths.

``JOBS`` is what ``lapwing pipeline list`` shows and ``lapwing pipeline run`` finds.
"""

from __future__ import annotations

from collections.abc import Mapping

JOBS: Mapping[str, str] = {
    "coverage": "readings, quarantine, quality, latency, coverage: tables, pictures and a report",
    "controller": "the tables of coverage; places, whereabouts, outbox, commands: and tells devices what to measure",
    "deadlines": "misses, dead_letters, quarantine: tables and a picture",
}
