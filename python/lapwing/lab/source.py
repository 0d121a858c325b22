"""What a fleet sends, and when: the seam between the makers of readings and the fleet that publishes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

BATCH_READINGS_MAX = 4096
"""A batch never holds more, so that what waits between maker and fleet stays bounded (about 2 MB)."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Devices that connect or say goodbye; the columns have one entry per move.

    Attributes:
        device: Index into ``Source.devices``.
        due_us: As in `Batch`.
        kind: ``join`` or ``leave``; every device is connected when a run starts.
    """

    device: NDArray[np.int32]
    due_us: NDArray[np.int64]
    kind: list[str]


@dataclass(frozen=True, slots=True)
class Batch:
    """Readings in the order in which they are due; the three columns have one entry per reading.

    Attributes:
        device: Index into ``Source.devices``.
        due_us: Microseconds from the start of the run; never falls within a run.
        payload: The reading, encoded to the contract.
        moves: Come before readings that are due at the same instant.
    """

    device: NDArray[np.int32]
    due_us: NDArray[np.int64]
    payload: list[bytes]
    moves: Moves | None = None

    def __len__(self) -> int:
        return len(self.payload)


class Source(Protocol):
    """A maker of readings."""

    @property
    def devices(self) -> Sequence[str]:
        """Names of the devices; each is its MQTT client id as well."""

    @property
    def seconds(self) -> float:
        """Length of the schedule: no reading is due later."""

    @property
    def readings_expected(self) -> int:
        """How many readings will come, or a close upper bound: for progress bars only."""

    def batches(self, started_at_us: int) -> Iterator[Batch]:
        """The run that starts at ``started_at_us`` (microseconds since the epoch, UTC)."""
