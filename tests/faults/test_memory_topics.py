"""A topic that a rule keeps in memory: does nobody wait for the disk on its account?"""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import RunningBroker
from faulty_disk import FaultyDisk

from lapwing import Client
from lapwing.errors import TimedOutError

DEADLINE_S = 30.0


def test_its_publishers_are_answered_while_the_disk_takes_nothing(disk: FaultyDisk, tmp_path: Path) -> None:
    """A session that is kept has both; who publishes to the disk waits, who publishes to memory is answered."""
    file = tmp_path / "lapwing.toml"
    file.write_text('[topics."t/memory"]\ndurability = "memory"\n')
    flags = ("--config", str(file), "--set", "broker.shards=2")
    with RunningBroker(tmp_path / "data", *flags, variables=disk.variables).wait_until_ready() as broker:
        with Client(broker.url, client_id="sleeper", clean_start=False, session_expiry_s=3_600) as sleeper:
            sleeper.subscribe("t/#", qos=1)
        waits, goes_on = Client(broker.url).connect(), Client(broker.url).connect()
        disk.begin("full")
        waits.publish("t/disk", b"waits", qos=1)
        with pytest.raises(TimedOutError):
            waits.flush(0.5)
        goes_on.publish("t/memory", b"goes on", qos=1)
        goes_on.publish("t/memory", b"is retained", qos=1, retain=True)
        goes_on.flush(DEADLINE_S)
        disk.end("full")
        waits.flush(DEADLINE_S)
        waits.disconnect()
        goes_on.disconnect()
