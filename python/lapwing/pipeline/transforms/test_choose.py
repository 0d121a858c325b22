"""Who is told what? Places, devices and a time go in, orders come out, always the same ones."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from lapwing.contracts.command_tables import PLACES, WHEREABOUTS
from lapwing.pipeline.transforms.choose import Known, Member, Order, Policy, choose

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
AT_US = round(NOON.timestamp() * 1e6)
POLICY = Policy(fresh_s=60, samples_wanted=3, position_s=30, report_s=300)
SILENT = Policy(fresh_s=60, samples_wanted=3, position_s=30, report_s=10**10)


def table(record: Any, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=pa.schema(list(record.arrow_schema())))


def place(tile: str, *ages_s: float, network: str | None = "5G", channel: int | None = 6300) -> dict[str, Any]:
    at = sorted(NOON - timedelta(seconds=age) for age in ages_s)
    return {
        "tile": tile, "network": network, "channel": channel,
        "last_seen": at[-1], "recent": [{"at": each} for each in at],
    }  # fmt: skip


def seen(device: str, tile: str, age_s: float = 1) -> dict[str, Any]:
    return {"device": device, "tile": tile, "seen_at": NOON - timedelta(seconds=age_s)}


def told(
    places: list[dict[str, Any]],
    whereabouts: list[dict[str, Any]],
    crew: list[Member],
    policy: Policy = POLICY,
    **known: Any,
) -> list[Order]:
    return choose(
        Known(table(PLACES, places), table(WHEREABOUTS, whereabouts), crew, **known),
        AT_US,
        policy,
    )


def test_a_place_with_too_few_samples_gets_a_device_that_is_there() -> None:
    (order,) = told([place("17/1/1", 5, 90), place("17/1/2", 1, 2, 3)], [seen("a", "17/1/1")], [Member("a")])
    assert order == Order("a", "measure", "17/1/1", 2.0, 1.0)


def test_a_slow_device_gets_an_order_that_it_can_read() -> None:
    """The longest is an hour: within it a slow one gives fewer samples, and one that gives none is not asked."""
    places, here = [place("17/1/1", 90)], [seen("a", "17/1/1")]
    (order,) = told(places, here, [Member("a", rate_hz_max=0.0005)])
    assert (order.seconds, order.rate_hz) == (3600, 0.0005)
    assert not told(places, here, [Member("a", rate_hz_max=0.0002)])
    # Nor is one that says that its usual rate is 0 told to make that its rate.
    assert not told([], here, [Member("a", battery=0.1, rate_hz=1.0, usual_rate_hz=0.0)])


def test_samples_of_all_channels_count_and_old_ones_do_not() -> None:
    places = [
        place("17/1/1", 1, channel=1),
        place("17/1/1", 2, channel=2),
        place("17/1/1", 3, network=None, channel=None),
    ]
    assert not told(places, [seen("a", "17/1/1")], [Member("a")])
    places[0] = place("17/1/1", 61, channel=1)
    assert told(places, [seen("a", "17/1/1")], [Member("a")])


def test_the_channel_that_needs_it_most_is_measured_by_who_can() -> None:
    places = [
        place("17/1/1", 20, channel=1),
        place("17/1/1", 70, channel=2),
        place("17/1/1", 80, network="LTE", channel=3),
    ]
    member = Member("a", networks=frozenset(["5G"]))
    (order,) = told(places, [seen("a", "17/1/1")], [member])
    assert (order.network, order.channel) == ("5G", 2)
    (order,) = told(places, [seen("a", "17/1/1")], [Member("a", networks=frozenset(["5G"]), channels=frozenset([1]))])
    assert (order.network, order.channel) == ("5G", 1)
    (order,) = told(places, [seen("a", "17/1/1")], [Member("a", networks=frozenset(["UMTS"]))])
    assert (order.network, order.channel) == (None, None)


def test_who_was_asked_least_goes_first_then_the_fullest_battery_then_the_name() -> None:
    crew = [Member("d"), Member("c", battery=0.9, asked=1), Member("b", battery=0.8), Member("a", battery=0.81)]
    whereabouts = [seen(each.device, "17/1/1") for each in crew]
    for expected in ("a", "b", "d", "c"):
        (order,) = told([place("17/1/1", 70)], whereabouts, crew)
        assert order.device == expected
        crew = [each for each in crew if each.device != expected]


def test_who_cannot_or_was_not_seen_there_lately_is_not_asked() -> None:
    there = [seen("a", "17/1/1")]
    for member in (
        Member("a", busy=True),
        Member("a", battery=0.19),
        Member("a", budget=0),
        Member("a", rate_hz_max=0.0),
    ):
        assert not told([place("17/1/1", 70)], there, [member], SILENT), member
    assert not told([place("17/1/1", 70)], there, [Member("b")], SILENT)  # nobody registered
    assert not told([place("17/1/1", 70)], [seen("a", "17/1/1", 31)], [Member("a")], SILENT)
    assert not told([place("17/1/1", 70)], there, [Member("a", tile="17/9/9", at_us=AT_US)], SILENT)  # it says it moved
    assert not told([place("17/1/1", 70)], there, [Member("a")], SILENT, attended=frozenset(["17/1/1"]))
    assert not told([place("17/1/1", 70)], there, [Member("a")], SILENT, failed=frozenset([("a", "17/1/1")]))


def test_a_place_that_nobody_has_seen_for_a_day_is_forgotten() -> None:
    assert not told([place("17/1/1", 86_401)], [seen("a", "17/1/1")], [Member("a")])


def test_a_device_that_was_not_seen_for_long_is_asked_to_report() -> None:
    crew = [Member("a"), Member("b"), Member("c", busy=True), Member("d", tile="17/1/1", at_us=AT_US)]
    orders = told([], [seen("a", "17/1/1", 299)], crew)
    assert orders == [Order("b", "report")]
    assert not told([], [], [Member("a")], failed=frozenset([("a", "")]))
    assert not told([], [], [Member("a")], obeyed=frozenset([("a", "report")]))
    assert told([], [], [Member("a")], obeyed=frozenset([("a", "rate"), ("b", "report")]))


def test_a_device_that_is_short_of_power_slows_down_and_later_does_not() -> None:
    def rate(battery: float, rate_hz: float, *obeyed: tuple[str, str]) -> list[Order]:
        member = Member("a", battery=battery, rate_hz=rate_hz, usual_rate_hz=0.5)
        return told([], [seen("a", "17/1/1")], [member], obeyed=frozenset(obeyed))

    assert rate(0.29, 0.5) == [Order("a", "rate", rate_hz=0.01)]
    assert not rate(0.29, 0.01)
    assert not rate(0.39, 0.01)
    assert rate(0.41, 0.01) == [Order("a", "rate", rate_hz=0.5)]
    assert not rate(0.29, 0.5, ("a", "rate"))
    assert rate(0.29, 0.5, ("a", "report"))


def test_the_order_of_rows_does_not_matter_and_the_emptiest_come_first() -> None:
    random.seed(1)
    places = [place(f"17/1/{n}", *[70.0 + n, 5.0][: 1 + n % 2]) for n in range(40)]
    crew = [Member(f"d{n:02d}", asked=n % 3) for n in range(80)]
    whereabouts = [seen(f"d{n:02d}", f"17/1/{n // 2}") for n in range(80)]
    first = told(places, whereabouts, crew)
    assert len(first) == 40
    assert [order.seconds for order in first] == [3.0] * 20 + [2.0] * 20
    assert len({order.device for order in first}) == 40
    for _ in range(5):
        for rows in (places, whereabouts, crew):
            random.shuffle(rows)
        assert told(places, whereabouts, crew) == first
    assert told(places, whereabouts, crew, Policy(fresh_s=60, position_s=30, commands_max=7)) == first[:7]
