"""Who can be commanded: registrations as they come, and what answers say of their devices since."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace

from lapwing.contracts.commands import Answer, Registration, State, can_be_commanded, decode
from lapwing.pipeline.transforms.choose import Member

DEVICES_MAX = 200_000
"""Registrations kept; about 1 kB each. More are refused and counted."""


@dataclass(frozen=True, slots=True)
class _Registered:
    said: Registration
    state: State
    at_us: int
    """When its place was true: a retained registration may be old, so its place counts for nothing."""


class Registry:
    """Registrations by device; used from several threads.

    Args:
        devices_max: See `DEVICES_MAX`.
        now_us: The clock.
    """

    def __init__(
        self, devices_max: int = DEVICES_MAX, now_us: Callable[[], int] = lambda: time.time_ns() // 1000
    ) -> None:
        self._devices: dict[str, _Registered] = {}
        self._devices_max = devices_max
        self._now_us = now_us
        self._lock = threading.Lock()
        self.malformed = 0
        """Messages that break the contract, or speak for another device than their topic."""
        self.refused = 0
        """Registrations beyond ``devices_max``."""

    def __len__(self) -> int:
        return len(self._devices)

    def heard(self, device: str, payload: bytes, *, is_retained: bool = False) -> None:
        """A message on a registration's topic; an empty one takes the device out.

        One that ``is_retained`` and is known says nothing new: what answers have told since stays.
        """
        said = decode(payload, Registration) if payload else None
        with self._lock:
            if not payload:
                self._devices.pop(device, None)
            elif said is None or said.device != device or not can_be_commanded(device):
                self.malformed += 1
            elif device not in self._devices and len(self._devices) >= self._devices_max:
                self.refused += 1
            elif not is_retained or device not in self._devices or self._devices[device].said != said:
                self._devices[device] = _Registered(said, said.state, 0)

    def keep_only(self, devices: Set[str]) -> None:
        """Takes out whoever is not among ``devices``, which are all that are registered."""
        with self._lock:
            for device in self._devices.keys() - devices:
                del self._devices[device]

    def answered(self, answer: Answer) -> None:
        """An answer says how its device is now."""
        with self._lock:
            known = self._devices.get(answer.device)
            if known is None:
                return
            at_us = known.at_us if answer.state.tile is None else self._now_us()
            self._devices[answer.device] = replace(known, state=_newer(known.state, answer.state), at_us=at_us)

    def is_gone(self, device: str) -> bool:
        """Whether it, or its last will, has said that it is gone; False for one that has said nothing."""
        known = self._devices.get(device)
        return known is not None and not known.said.present

    def crew(self, busy: Mapping[str, int], asked: Mapping[str, int]) -> list[Member]:
        """Everybody who is there.

        Args:
            busy: Open commands by device.
            asked: Commands by device, lately.
        """
        with self._lock:
            here = [(device, each) for device, each in self._devices.items() if each.said.present]
        return [_member(device, each, busy.get(device, 0) > 0, asked.get(device, 0)) for device, each in here]


def _member(device: str, each: _Registered, busy: bool, asked: int) -> Member:
    said, state = each.said, each.state
    return Member(
        device=device,
        battery=state.battery,
        rate_hz=said.rate_hz if state.rate_hz is None else state.rate_hz,
        usual_rate_hz=said.rate_hz,
        rate_hz_max=said.rate_hz_max,
        budget=state.budget,
        tile=state.tile,
        at_us=each.at_us,
        networks=frozenset(said.networks),
        channels=None if said.channels is None else frozenset(said.channels),
        busy=busy,
        asked=asked,
    )


def _newer(old: State, new: State) -> State:
    """What ``new`` says, and where it is silent, ``old``."""
    pairs = ((name, getattr(new, name)) for name in State.__struct_fields__)
    return State(**{name: getattr(old, name) if value is None else value for name, value in pairs})
