"""What a device hears where it stands: the radio columns of a reading, for a block of devices at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.city import NETWORKS, Coverage, Geography
from lapwing.lab.payload import number_column, string_column
from lapwing.lab.spectrum import Occupancy

NOISE_DBM = -127.0
"""Thermal noise and a phone's own, in the 15 kHz of one reference signal."""

RSRP_MIN_DBM, RSRP_MAX_DBM = -140, -44
"""What a modem can report."""

_FADING_DB = 2.0
_NETWORK_SHARES = np.array([0.5, 0.85, 1.0])
_HANDOVER_CHANCE = 0.08
_SENSING_SHARE = 0.85
"""So many devices can sense a channel's occupancy; the others report null."""

CHANNELS = tuple((network.name, channel) for network in NETWORKS for channel in network.channels)
"""Every channel of the city, with its network."""

_CHANNELS = [channel for _, channel in CHANNELS]
_FIRST_CHANNEL = np.cumsum([0] + [len(network.channels) for network in NETWORKS])


@dataclass(frozen=True, slots=True)
class Place:
    """Where devices are (metres east and north of the centre), how fast, and when in city time."""

    x_m: NDArray[np.float64]
    y_m: NDArray[np.float64]
    speed_ms: NDArray[np.float64]
    city_s: NDArray[np.float64]

    @staticmethod
    def joined(places: Sequence[Place]) -> Place:
        """Several blocks in a row."""
        return Place(
            np.concatenate([place.x_m for place in places]),
            np.concatenate([place.y_m for place in places]),
            np.concatenate([place.speed_ms for place in places]),
            np.concatenate([place.city_s for place in places]),
        )


@dataclass(frozen=True, slots=True)
class _Heard:
    """One entry per reading; ``cell`` is already JSON."""

    rsrp_dbm: NDArray[np.float64]
    snr_db: NDArray[np.float64]
    cell: NDArray[np.object_]


class Listening:
    """The city's radio, and what its devices can do; made once, it does not change.

    Args:
        devices: How many.
        random: Decides where masts and hills stand, and which device is on which network.
    """

    def __init__(self, devices: int, random: np.random.Generator) -> None:
        self._coverages = [Coverage(network, random) for network in NETWORKS]
        self._occupancy = Occupancy(len(_CHANNELS), random)
        self._home_network = np.searchsorted(_NETWORK_SHARES, random.random(devices), side="right")
        self._senses = random.random(devices) < _SENSING_SHARE

    def columns(
        self,
        device: NDArray[np.int64],
        place: Place,
        random: np.random.Generator,
        told: NDArray[np.int64] | None = None,
    ) -> dict[str, list[str]]:
        """JSON values for every radio field of a reading, for ``device`` at ``place``.

        Args:
            device: Who measures.
            place: Where.
            random: Decides fading, handovers and the choice of channels.
            told: Indices into `CHANNELS` of what devices were told to measure; -1: nothing.
        """
        network = self._networks(device, random)
        channel = _channels(network, random)
        if told is not None:
            channel = np.where(told >= 0, told, channel)
            network = np.searchsorted(_FIRST_CHANNEL, channel, side="right") - 1
        share = self._occupancy.at(channel, place.x_m, place.y_m, place.city_s)
        heard = self._hear(network, share, place, random)
        bandwidth = np.array([each.bandwidth_mhz for each in NETWORKS])[network]
        down_kbps = 1000 * bandwidth * (1 - share) * np.log2(1 + 10 ** (heard.snr_db / 10)) * 0.6
        return {
            "lat": number_column(Geography.lat(place.y_m), 6),
            "lon": number_column(Geography.lon(place.x_m), 6),
            "speed_kmh": number_column(place.speed_ms * 3.6, 1),
            "operator": string_column([each.operator for each in NETWORKS], network),
            "cell": heard.cell.tolist(),
            "network": string_column([each.name for each in NETWORKS], network),
            "channel": list(map(str, np.array(_CHANNELS)[channel].tolist())),
            "occupied_share": number_column(share, 3, self._senses[device]),
            "rsrp_dbm": number_column(heard.rsrp_dbm, 0),
            "rsrq_db": number_column(-10.8 - 6 * share - np.maximum(0, -heard.snr_db) / 4, 0),
            "snr_db": number_column(heard.snr_db, 1),
            "rssi_dbm": number_column(heard.rsrp_dbm + 10 * np.log10(bandwidth * 60) + 3 * share, 0),
            "dl_kbps": number_column(down_kbps, 0),
            "ul_kbps": number_column(down_kbps / 12, 0),
        }

    def networks(self, device: int) -> tuple[str, ...]:
        """Networks that a device can measure: its own, and the next lower one."""
        home = int(self._home_network[device])
        return tuple(each.name for each in NETWORKS[home : home + 2])

    def _networks(self, device: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        # Now and then a phone is on the next lower network.
        lower = np.minimum(self._home_network[device] + 1, len(NETWORKS) - 1)
        moved = random.random(len(device)) < _HANDOVER_CHANCE
        return np.where(moved, lower, self._home_network[device])

    def _hear(
        self,
        network: NDArray[np.int64],
        share: NDArray[np.float64],
        place: Place,
        random: np.random.Generator,
    ) -> _Heard:
        rsrp = np.empty(len(network))
        others = np.empty(len(network))
        cell = np.empty(len(network), dtype=np.object_)
        for index, coverage in enumerate(self._coverages):
            here = np.flatnonzero(network == index)
            signal = coverage.at(place.x_m[here], place.y_m[here])
            rsrp[here] = signal.rsrp_dbm
            others[here] = signal.others_dbm
            cell[here] = string_column(coverage.cells, signal.mast)
        rsrp = rsrp + random.normal(0, _FADING_DB, len(rsrp))
        rsrp = np.rint(rsrp).clip(RSRP_MIN_DBM, RSRP_MAX_DBM)
        disturbance = 10 ** (NOISE_DBM / 10) + share * 10 ** (others / 10)
        snr = (rsrp - 10 * np.log10(disturbance)).clip(-20, 40)
        return _Heard(rsrp, snr, cell)


def _channels(network: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    count = np.diff(_FIRST_CHANNEL)[network]
    return _FIRST_CHANNEL[network] + np.floor(random.random(len(network)) * count).astype(np.int64)
