"""Do commands pay, with the same seed and the same number of messages? The choice and the devices alone, in no time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from lapwing.contracts.command_tables import PLACES, RECENT_MAX, WHEREABOUTS
from lapwing.contracts.commands import Command, Measure
from lapwing.lab.city import Geography
from lapwing.lab.directed.device import SECOND_US, DirectedDevice
from lapwing.lab.walks import Walks
from lapwing.pipeline.report.freshness_facts import fresh_over_time
from lapwing.pipeline.transforms.choose import Known, Member, Policy, choose
from lapwing.pipeline.transforms.groups import times
from lapwing.pipeline.transforms.tiles import tile_names, tile_xy

DEVICES, SECONDS, RATE_HZ, BATCH_S = 150, 180, 1 / 15, 3
FRESH_S, WANTED = 30, 3
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
START_US = round(START.timestamp() * 1e6)


class Play:
    """A run: `told` is whether somebody tells the devices what to do, a batch every few seconds, as late as it is."""

    def __init__(self, *, told: bool) -> None:
        random = np.random.default_rng(1)
        self.walks = Walks(DEVICES, random)
        period_us = SECOND_US / RATE_HZ
        self.devices = [
            DirectedDevice(
                f"d{n:03d}", (), RATE_HZ, round(SECONDS * RATE_HZ), round(period_us * n / DEVICES), debt_max=WANTED
            )
            for n in range(DEVICES)
        ]
        for device in self.devices:
            device.begin(START_US)
        self.samples: list[tuple[str, int]] = []
        self.seen: dict[str, tuple[str, int]] = {}
        self.budgets: dict[str, int] = {}
        self.open: dict[str, Command] = {}
        self.policy = Policy(fresh_s=FRESH_S, samples_wanted=WANTED, position_s=2 / RATE_HZ, report_s=10**10)
        for step in range(SECONDS * 5 + 1):
            if step:
                self.walks.step(0.2)
            now_us = START_US + step * SECOND_US // 5
            tiles = tile_names(*tile_xy(Geography.lat(self.walks.y_m), Geography.lon(self.walks.x_m)))
            if told and step % (5 * BATCH_S) == 0:
                self.decide(step, now_us, tiles)
            for device, tile in zip(self.devices, tiles, strict=True):
                samples, answers = device.measure(now_us, tile)
                self.samples += [(tile, now_us)] * len(samples)
                if samples:
                    self.seen[device.name] = (tile, now_us)
                for answer in answers:
                    self.open.pop(answer.device, None)
                    self.budgets[answer.device] = answer.state.budget or 0

    def decide(self, step: int, now_us: int, tiles: list[str]) -> None:
        """Tells who was chosen with what was known a batch ago; who cannot is not asked twice about it."""
        known_us = now_us - BATCH_S * SECOND_US
        recent: dict[str, list[int]] = {}
        for tile, at in self.samples:
            if at <= known_us:
                recent.setdefault(tile, []).append(at)
        members = [Member(d.name, busy=d.name in self.open, asked=len(d.executed)) for d in self.devices]
        open_tiles = {each.order.tile for each in self.open.values() if isinstance(each.order, Measure)}
        known = Known(_places(recent), _whereabouts(self.seen, known_us), members, frozenset(open_tiles))
        for number, order in enumerate(choose(known, known_us, self.policy)):
            assert order.tile
            expires = START + timedelta(microseconds=now_us - START_US, seconds=15)
            what = Measure(order.tile, order.seconds, order.rate_hz)
            command = Command(f"0123456789ab-{step}-{number}", order.device, START, expires, what)
            index = int(order.device[1:])
            (answer,) = self.devices[index].hear(command, now_us, tiles[index])
            if answer.outcome == "acknowledged":
                self.open[order.device] = command

    def fresh_share(self, of: set[str], *, second_half: bool = False) -> float:
        names = {tile: number for number, tile in enumerate(sorted(of))}
        tiles = np.array([names[tile] for tile, _ in self.samples], dtype=np.int64)
        at = np.array([at for _, at in self.samples], dtype=np.int64)
        _, count = fresh_over_time(tiles, at, fresh_s=FRESH_S, samples_wanted=WANTED)
        return float(count[len(count) // 2 if second_half else 0 :].mean()) / len(of)


def _places(recent: dict[str, list[int]]) -> pa.Table:
    schema = pa.schema(list(PLACES.arrow_schema()))
    rows = [
        {
            "tile": tile,
            "network": None,
            "channel": None,
            "last_seen": max(at),
            "recent": [{"at": each} for each in sorted(at)[-RECENT_MAX:]],
        }
        for tile, at in recent.items()
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def _whereabouts(seen: dict[str, tuple[str, int]], known_us: int) -> pa.Table:
    known = [(device, tile, at) for device, (tile, at) in seen.items() if at <= known_us]
    columns = [list(column) for column in zip(*known, strict=True)] if known else [[], [], []]
    arrays = [
        pa.array(columns[0], pa.string()),
        pa.array(columns[1], pa.string()),
        times(np.array(columns[2], dtype=np.int64)),
    ]
    return pa.table(arrays, schema=pa.schema(list(WHEREABOUTS.arrow_schema())))


def test_with_commands_more_places_are_fresh_with_the_same_messages() -> None:
    without, with_ = Play(told=False), Play(told=True)
    assert len(without.samples) == len(with_.samples) == DEVICES * round(SECONDS * RATE_HZ)
    places = {tile for tile, _ in without.samples + with_.samples}
    for second_half in (False, True):
        # What was sent ahead at first is lacking later: it must pay over the whole run, and then, too.
        first, then = (each.fresh_share(places, second_half=second_half) for each in (without, with_))
        assert then >= 1.5 * first, f"{first:.3f} {then:.3f}"
    assert Play(told=True).samples == with_.samples
