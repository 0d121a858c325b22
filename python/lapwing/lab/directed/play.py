"""A fleet that obeys, in a process of its own: beside a job, its devices would wait for the interpreter's lock.

    python -m lapwing.lab.directed.play URL DEVICES SECONDS RATE_HZ SEED DEBT_MAX

Prints one line of JSON: `Played`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass

from lapwing.errors import LapwingError
from lapwing.lab.directed.fleet import DirectedFleet

_START_S = 120.0
"""For the interpreter, thousands of connections, and a busy machine."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a fleet did."""

    readings: int
    executed: list[str]
    """Ids of the commands that were begun, by all devices."""
    arrived_us: dict[str, int]
    """When each command came to its device for the first time."""
    repeated: int
    """Commands that came again."""
    behind_s: float
    """By how much the fleet missed its own schedule, at worst."""


def play(url: str, devices: int, seconds: float, rate_hz: float, seed: int, debt_max: int) -> Played:
    """Plays in this process."""
    with DirectedFleet(url, devices, seconds, rate_hz, seed, debt_max=debt_max) as fleet:
        fleet.play()
    executed = [name for device in fleet.devices for name in device.executed]
    return Played(fleet.readings, executed, fleet.heard.arrived_us, fleet.heard.repeated, fleet.behind_s)


def play_apart(url: str, devices: int, seconds: float, rate_hz: float, seed: int, debt_max: int) -> Played:
    """Plays in another process, and waits for it.

    Raises:
        LapwingError: it failed, its last line says why; or it did not end.
    """
    arguments = [url, *map(str, (devices, seconds, rate_hz, seed, debt_max))]
    command = [sys.executable, "-m", __name__, *arguments]
    patience_s = 2 * seconds + _START_S
    try:
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, timeout=patience_s
        )
    except subprocess.TimeoutExpired:
        raise LapwingError(f"the phones have not ended after {patience_s:g} s", where=url) from None
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or ["no word"])[-1]
        raise LapwingError(f"the phones ended with {ended.returncode}: {why}", where=url)
    return Played(**json.loads(ended.stdout))


def main(url: str, devices: str, seconds: str, rate_hz: str, seed: str, debt_max: str) -> None:
    """See the module."""
    played = play(url, int(devices), float(seconds), float(rate_hz), int(seed), int(debt_max))
    sys.stdout.write(json.dumps(asdict(played)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
