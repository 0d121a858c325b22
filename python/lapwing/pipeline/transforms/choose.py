"""Which devices to tell what: a pure function of what is known at a batch's time, in a total order.

A place is *fresh* when it has enough samples that are not too old, over all networks and channels. One that is not gets
at most one device at a time: one that was seen there lately and can be commanded, the one that was asked least often,
then the one with the fullest battery, then by name. The same tables give the same choices, row for row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.commands import MEASURE_S_MAX
from lapwing.pipeline.transforms.groups import ints

SECOND_US = 1_000_000
_BATTERY_STEP = 20
"""Batteries count in steps of 5 %: below that it is noise, and the name decides."""


@dataclass(frozen=True, slots=True)
class Member:
    """A registered device that is there.

    Attributes:
        battery: Charge, 0..1; None: it does not say, as below.
        rate_hz: Its own rate, now.
        usual_rate_hz: Its usual rate.
        rate_hz_max: The most it can.
        budget: Readings that it may still send.
        tile: Where it said it is.
        at_us: When it said so.
        networks: Networks that it can measure.
        channels: Channels that it can measure; None: all of its networks.
        busy: It has a command that is open.
        asked: Commands that it had lately.
    """

    device: str
    battery: float | None = None
    rate_hz: float | None = None
    usual_rate_hz: float | None = None
    rate_hz_max: float = 1.0
    budget: int | None = None
    tile: str | None = None
    at_us: int = 0
    networks: frozenset[str] = frozenset()
    channels: frozenset[int] | None = None
    busy: bool = False
    asked: int = 0

    @property
    def turn(self) -> tuple[int, int, str]:
        """Whose turn it is: the least comes first. Who does not know its battery counts as half full."""
        battery = 0.5 if self.battery is None else self.battery
        return self.asked, -int(battery * _BATTERY_STEP), self.device

    def can_measure(self, policy: Policy) -> bool:
        """Whether it may be told to measure."""
        charged = self.battery is None or self.battery >= policy.battery_min
        fast = self.measures_hz(policy) * MEASURE_S_MAX >= 1
        return charged and fast and not self.busy and (self.budget is None or self.budget > 0)

    def measures_hz(self, policy: Policy) -> float:
        """Its rate on command."""
        return min(policy.measure_rate_hz, self.rate_hz_max)

    def can(self, network: str, channel: int) -> bool:
        """Whether it can measure that channel."""
        return network in self.networks and (self.channels is None or channel in self.channels)


@dataclass(frozen=True, slots=True)
class Policy:
    """When a place needs samples, and who may be asked for them; options ``lapwing.NAME`` of the job."""

    fresh_s: float = 900.0
    """A sample counts so long."""
    samples_wanted: int = 3
    """So many must count for a place to be fresh; at most `RECENT_MAX`."""
    forget_s: float = 86_400.0
    """A place, a channel of it or a device without a reading for so long is forgotten."""
    position_s: float = 120.0
    """A device is where it was seen for so long."""
    battery_min: float = 0.2
    """Below this charge a device is not told to measure."""
    battery_saving: float = 0.3
    """Below this charge it is told to measure at `saving_rate_hz`; 0.1 above, at its usual rate again."""
    saving_rate_hz: float = 0.01
    """Readings per second of a device that saves power."""
    measure_rate_hz: float = 1.0
    """Readings per second while it measures on command, or the most it can."""
    report_s: float = 600.0
    """A device whose place has been unknown for so long is asked to report; again after so long, if it still is."""
    expire_s: float = 60.0
    """A command that has not begun by then is given up."""
    rest_s: float = 120.0
    """A device that did not obey, or has measured, is not asked about that place again for so long; nor is one that has
    changed its rate told to change it."""
    behind_s: float = 60.0
    """A job that is further behind than this decides nothing: it does not know."""
    commands_max: int = 500
    """Commands of one batch, at most."""

    @property
    def again_s(self) -> Mapping[str, float]:
        """So long after a device did these it is not told to do the same again: it need not say what came of it, and
        what it did not say then it would not say now."""
        return {"report": self.report_s, "rate": self.rest_s}

    @property
    def measured_s(self) -> float:
        """So long after a device has measured it is not asked about that place again: its samples count for longer, and
        where none came, as few would come then."""
        return min(self.rest_s, self.fresh_s)

    @property
    def memory_s(self) -> float:
        """What is older cannot count in a decision, whatever the other settings are."""
        return max(self.forget_s, self.fresh_s, self.position_s, self.report_s, self.behind_s)


@dataclass(frozen=True, slots=True)
class Order:
    """One row of the outbox to be."""

    device: str
    do: Literal["measure", "rate", "report"]
    tile: str | None = None
    seconds: float = 0.0
    rate_hz: float = 0.0
    network: str | None = None
    channel: int | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What a choice is made of.

    Attributes:
        places: Rows of ``PLACES``.
        whereabouts: Rows of ``WHEREABOUTS``.
        crew: Who can be told something, in any order.
        attended: Tiles that an open command is about.
        failed: (device, tile) that came to nothing lately; the tile is empty where a command is about none.
        measured: (device, tile) as lately as `Policy.measured_s` says: its samples are there, or it brings none.
        obeyed: (device, what it did) as lately as `Policy.again_s` says.
    """

    places: pa.Table
    whereabouts: pa.Table
    crew: Sequence[Member]
    attended: frozenset[str] = frozenset()
    failed: frozenset[tuple[str, str]] = frozenset()
    measured: frozenset[tuple[str, str]] = frozenset()
    obeyed: frozenset[tuple[str, str]] = frozenset()

    def may_measure(self, device: str, tile: str) -> bool:
        """Whether ``device`` has not just measured that place, or failed to."""
        return (device, tile) not in self.failed and (device, tile) not in self.measured

    def may_be_told(self, member: Member, do: str) -> bool:
        """Whether ``member`` is free to do what is about no place, and has not just done it, or failed to."""
        name = member.device
        return not member.busy and (name, "") not in self.failed and (name, do) not in self.obeyed


@dataclass(frozen=True, slots=True)
class _Placed:
    """A member and where it was seen last; never: at -1."""

    member: Member
    at_us: int
    tile: str | None

    def here(self, oldest_us: int) -> str | None:
        return self.tile if self.at_us >= oldest_us else None


def choose(known: Known, at_us: int, policy: Policy) -> list[Order]:
    """What to tell whom at ``at_us`` (the batch's time), at most `Policy.commands_max`; each device at most once."""
    crew = _placed(known)
    orders = _measures(known, crew, at_us, policy)
    told = {order.device for order in orders}
    orders += [order for order in _rates(known, crew, policy) if order.device not in told]
    told |= {order.device for order in orders}
    orders += [order for order in _reports(known, crew, at_us, policy) if order.device not in told]
    return orders[: policy.commands_max]


def stale_places(places: pa.Table, at_us: int, policy: Policy) -> list[tuple[int, int, str]]:
    """Places that are not fresh: samples that count, last sample, tile; the emptiest and oldest first."""
    counts, latest = _tiles(places, at_us, policy)
    forgotten = at_us - round(policy.forget_s * SECOND_US)
    return sorted(
        (count, latest[tile], tile)
        for tile, count in counts.items()
        if count < policy.samples_wanted and latest[tile] >= forgotten
    )


def _tiles(places: pa.Table, at_us: int, policy: Policy) -> tuple[dict[str, int], dict[str, int]]:
    fresh = _fresh(places, at_us, policy)
    tiles = places["tile"].combine_chunks().dictionary_encode()
    names: list[str] = tiles.dictionary.to_pylist()
    index = ints(tiles.indices)
    counts = np.bincount(index, weights=fresh, minlength=len(names)).astype(np.int64)
    latest = np.full(len(names), np.iinfo(np.int64).min)
    np.maximum.at(latest, index, ints(places["last_seen"]))
    return dict(zip(names, counts.tolist(), strict=True)), dict(zip(names, latest.tolist(), strict=True))


def _fresh(places: pa.Table, at_us: int, policy: Policy) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Per row, how many of its samples count."""
    recent = places["recent"].combine_chunks()
    counts = np.zeros(places.num_rows, dtype=np.int64)
    at = ints(pc.list_flatten(recent).field("at"))
    parents = ints(pc.list_parent_indices(recent))
    np.add.at(counts, parents, (at > at_us - round(policy.fresh_s * SECOND_US)).astype(np.int64))
    return counts


def _placed(known: Known) -> list[_Placed]:
    """The crew, by name, each with the later of what its readings and its reports say."""
    devices, tiles = known.whereabouts["device"].to_pylist(), known.whereabouts["tile"].to_pylist()
    at = ints(known.whereabouts["seen_at"]).tolist()
    seen = {device: (when, tile) for device, when, tile in zip(devices, at, tiles, strict=True)}
    placed = []
    for member in sorted(known.crew, key=lambda each: each.device):
        said = (member.at_us, member.tile) if member.tile is not None else (-1, "")
        when, tile = max(said, seen.get(member.device, (-1, "")))
        placed.append(_Placed(member, when, tile or None))
    return placed


def _measures(known: Known, crew: Sequence[_Placed], at_us: int, policy: Policy) -> list[Order]:
    oldest_us = at_us - round(policy.position_s * SECOND_US)
    there: dict[str, list[Member]] = {}
    for each in crew:
        tile = each.here(oldest_us)
        if tile is not None and each.member.can_measure(policy) and known.may_measure(each.member.device, tile):
            there.setdefault(tile, []).append(each.member)
    wanting = [(count, tile) for count, _, tile in stale_places(known.places, at_us, policy)]
    wanting = [(count, tile) for count, tile in wanting if tile in there and tile not in known.attended]
    wanting = wanting[: policy.commands_max]
    channels = _channels(known.places, at_us, policy) if wanting else {}
    orders = []
    for count, tile in wanting:
        member = min(there[tile], key=lambda each: each.turn)
        orders.append(_measure(member, tile, policy.samples_wanted - count, channels.get(tile, []), policy))
    return orders


def _channels(places: pa.Table, at_us: int, policy: Policy) -> dict[str, list[tuple[int, int, str, int]]]:
    """Per tile its known channels: samples that count, last sample, network, channel; the neediest first."""
    found: dict[str, list[tuple[int, int, str, int]]] = {}
    rows = zip(
        places["tile"].to_pylist(),
        _fresh(places, at_us, policy).tolist(),
        ints(places["last_seen"]).tolist(),
        places["network"].to_pylist(),
        places["channel"].to_pylist(),
        strict=True,
    )
    for tile, fresh, last, network, channel in rows:
        if network is not None and channel is not None:
            found.setdefault(tile, []).append((fresh, last, network, channel))
    for each in found.values():
        each.sort()
    return found


def _measure(
    member: Member, tile: str, missing: int, channels: Sequence[tuple[int, int, str, int]], policy: Policy
) -> Order:
    able = ((network, channel) for _, _, network, channel in channels if member.can(network, channel))
    network, channel = next(able, (None, None))
    rate_hz = member.measures_hz(policy)
    # One that is slow is asked for what it can in the longest order there is.
    return Order(member.device, "measure", tile, min(missing / rate_hz, MEASURE_S_MAX), rate_hz, network, channel)


def _rates(known: Known, crew: Sequence[_Placed], policy: Policy) -> list[Order]:
    orders = []
    for member in (each.member for each in crew):
        battery, rate_hz, usual_hz = member.battery, member.rate_hz, member.usual_rate_hz
        if not known.may_be_told(member, "rate"):
            continue
        if battery is None or rate_hz is None or usual_hz is None:
            continue
        saving_hz = min(policy.saving_rate_hz, usual_hz)
        if battery < policy.battery_saving and rate_hz > saving_hz > 0:
            orders.append(Order(member.device, "rate", rate_hz=saving_hz))
        elif battery >= policy.battery_saving + 0.1 and rate_hz <= saving_hz < usual_hz:
            orders.append(Order(member.device, "rate", rate_hz=usual_hz))
    return orders


def _reports(known: Known, crew: Sequence[_Placed], at_us: int, policy: Policy) -> list[Order]:
    oldest_us = at_us - round(policy.report_s * SECOND_US)
    lost = [each for each in crew if each.at_us < oldest_us and known.may_be_told(each.member, "report")]
    lost.sort(key=lambda each: (each.at_us, each.member.device))
    return [Order(each.member.device, "report") for each in lost]
