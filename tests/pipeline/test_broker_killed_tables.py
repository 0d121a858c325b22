"""The broker is killed while a fleet publishes readings into its stream: what do the tables hold in the end?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.dataset as pads
import pytest
from commands import RunningBroker
from deltalake import DeltaTable

from lapwing.lab.fleet import Counts, FleetRun
from lapwing.lab.ports import free_port
from lapwing.lab.synthetic import Synthetic
from lapwing.pipeline.jobs.coverage import run_coverage

STREAM = ("--set", "streams.readings.filter=spectrum/+/readings", "--set", "streams.readings.partitions=2")
DEVICES, RATE, SECONDS = 40, 10.0, 6.0
KILL_AT = (500, 1_300)
"""Acknowledged readings after which the broker is killed: twice in one run."""


class MortalBroker:
    """A broker that is killed when so many readings are acknowledged, and started again on the same port and folder."""

    def __init__(self, data: Path) -> None:
        self.url = f"tcp://127.0.0.1:{free_port()}"
        self._data = data
        self.kills = 0
        self.running = self._start()

    def _start(self) -> RunningBroker:
        return RunningBroker(self._data, "--listen", self.url, *STREAM).wait_until_ready()

    def watch(self, counts: Counts) -> None:
        """The fleet's progress."""
        if self.kills < len(KILL_AT) and counts.acknowledged >= KILL_AT[self.kills]:
            self.running.process.kill()
            self.running.process.wait()
            self.kills += 1
            self.running = self._start()


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_each_acknowledged_reading_is_in_the_tables_once(tmp_path: Path) -> None:
    source = Synthetic(DEVICES, SECONDS, RATE, seed=5)
    broker = MortalBroker(tmp_path / "data")
    try:
        with FleetRun(broker.url, source.devices) as fleet:
            fleet.connect(lambda _counts: None)
            fleet.play(source, broker.watch)
            report = fleet.finish()
        assert broker.kills == len(KILL_AT), f"not killed in mid-run: {report}"
        run_coverage(f"{broker.running.http}/v1/streams/readings", tmp_path / "out", draw=False)
    finally:
        broker.running.end()
    files = DeltaTable(str(tmp_path / "out/tables/readings")).file_uris()
    rows = pads.dataset(files).to_table(columns=["device", "boot", "serial"])
    keys = {tuple(row.values()) for row in rows.to_pylist()}
    assert len(keys) == rows.num_rows, "a reading is in the tables twice"
    # Serials count up from 0 on each boot and the fleet waits for every answer: nothing it made may be missing.
    assert rows.num_rows == report["acknowledged"] == report["accepted"], report
