"""The job's rules in one process: does it count what comes, whatever the cut into batches?"""

from __future__ import annotations

import numpy as np

from lapwing.lab.crowdsourcing.clocks import END_TO_END, latencies, latency
from lapwing.lab.crowdsourcing.coverage import Coverage
from lapwing.lab.crowdsourcing.prepared import Prepared
from lapwing.lab.synthetic import Synthetic

BEGUN_US = 1_700_000_000_000_000


def payloads(devices: int = 5, seconds: float = 20.0) -> list[bytes]:
    batches = Synthetic(devices, seconds, 1.0, seed=7, speed=1.0).batches(BEGUN_US)
    return [payload for batch in batches for payload in batch.payload]


def taken(messages: list[bytes], cut: int) -> Coverage:
    coverage = Coverage()
    for low in range(0, len(messages), cut):
        part = messages[low : low + cut]
        coverage.add(part, [BEGUN_US] * len(part), [BEGUN_US + 5000] * len(part))
    return coverage


def test_repeats_gaps_and_quarantine_are_counted_in_any_cut() -> None:
    whole = payloads()
    messages = [*whole[:30], *whole[35:], whole[10], b"no reading"]
    for cut in (1, 7, 1000):
        found = taken(messages, cut)
        assert (found.received, found.repeated, found.quarantined) == (len(messages), 1, 1)
        assert found.lost == 5
        assert found.clocks().num_rows == len(whole) - 5


def test_tables_are_those_of_one_batch() -> None:
    messages = payloads(devices=20)
    one, many = taken(messages, 10_000).tables(), taken(messages, 13).tables()
    assert {name: table.num_rows for name, table in one.items()} == {name: t.num_rows for name, t in many.items()}
    for name in ("coverage", "quality"):
        keys = [(column, "ascending") for column in ("tile", "network", "channel", "window_start", "device", "minute")]
        keys = [key for key in keys if key[0] in one[name].column_names]
        assert one[name].sort_by(keys).equals(many[name].sort_by(keys))


def test_a_broker_that_does_not_say_when_leaves_that_clock_out() -> None:
    coverage = Coverage()
    messages = payloads()
    coverage.add(messages, [None] * len(messages), [BEGUN_US + 60_000_000] * len(messages))
    found = latencies(coverage.clocks(), BEGUN_US, BEGUN_US + 60_000_000)
    assert set(found) == {END_TO_END}
    assert found[END_TO_END].count == len(messages)


def test_percentiles_are_nearest_rank() -> None:
    found = latency(np.arange(1, 101, dtype=np.int64) * 1000)
    assert found is not None
    assert (found.p50_ms, found.p95_ms, found.p99_ms, found.p999_ms, found.max_ms) == (50, 95, 99, 100, 100)
    assert latency(np.array([], dtype=np.int64)) is None


def test_a_prepared_run_says_the_same_at_another_time() -> None:
    source = Prepared(Synthetic(5, 3.0, 1.0, seed=7, speed=1.0))
    assert source.readings == source.readings_expected == 15
    first, again = ([p for b in source.batches(at) for p in b.payload] for at in (BEGUN_US, BEGUN_US + 1_000_000))
    assert len(first) == len(again) == 15
    assert all(one != other for one, other in zip(first, again, strict=True))
    begun = [payload.split(b'"sent_at":"')[1][:27] for payload in first]
    assert begun[0] == b"2023-11-14T22:13:20.000000Z"
    assert taken([*first, *again], 100).repeated == 15
