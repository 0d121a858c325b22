"""The lab: fleets of devices that are not there, and what they would say.

Rules of the room:

- A ``Source`` names its devices and yields ``Batch``es of encoded readings in the order in which they are
  due. Where the readings come from is its own affair: ``Synthetic`` walks through a city that never was,
  ``Replay`` reads traces that phones once wrote.
- Time is a schedule, never a clock: ``due_us`` counts from the start of the run, and ``sent_at`` is the
  instant at which a reading *is due*. A slow broker therefore shows as latency, never as a lower rate.
- The same seed and the same arguments give the same readings, byte for byte, whatever the machine (times
  apart, which follow the start that the caller names).
- Nothing is dropped in silence: a row that cannot be sent is named with its file and line, and counted.
- Payloads are made here to the contract of ``lapwing.contracts`` and parsed nowhere here; numpy is used per
  block of readings, plain Python only for the final rendering.
- ``fleet`` is the only module here that touches the network, and only through ``lapwing._core.Fleet``.
- ``directed`` is a room of its own: devices that obey a controller, each a client in real time.
- ``dispatch`` is a room of its own: the dispatch experiment, with processes and links.
- ``import lapwing.lab`` is cheap: processes of the experiment start by the dozen, and need no numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lapwing.lab.source import Batch, Source

__all__ = ["Batch", "Source"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'lapwing.lab' has no attribute {name!r}")
    return getattr(import_module("lapwing.lab.source"), name)
