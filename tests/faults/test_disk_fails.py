"""A disk that fails while the broker runs: does it stop, and is everything there that it had acknowledged?"""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import RunningBroker
from faulty_disk import FaultyDisk
from keepers import KEEPERS, TOPIC, Keeper

from lapwing import Client
from lapwing.errors import LapwingError, TimedOutError

BEFORE = [b"before %d" % number for number in range(20)]
PLACES = {"stream": Path("streams/all"), "session": Path("log")}
"""Below the data folder: where the file lies that could not be written."""
ERRORS = {"fsync": "Input/output error", "read-only": "Read-only file system"}


def publish_before(client: Client) -> None:
    """Each is acknowledged before the next one is sent."""
    for payload in BEFORE:
        client.publish(TOPIC, payload, qos=1)
        client.flush()


@pytest.mark.parametrize("kept_by", KEEPERS)
@pytest.mark.parametrize("fault", ERRORS)
def test_a_disk_that_fails_stops_the_broker(disk: FaultyDisk, tmp_path: Path, fault: str, kept_by: str) -> None:
    """Is nothing acknowledged after it, does the process end with one line, is what was before there on a good disk?"""
    data, keeper = tmp_path / "data", KEEPERS[kept_by]
    with RunningBroker(data, *keeper.flags, variables=disk.variables).wait_until_ready() as broker:
        keeper.begin(broker)
        client = Client(broker.url, timeout_s=30).connect()
        publish_before(client)
        disk.begin(fault)
        client.publish(TOPIC, b"after", qos=1)
        with pytest.raises(LapwingError, match=r"lost|disconnected") as end:
            client.flush()
        assert not isinstance(end.value, TimedOutError), "it has to end, and not to wait"
        client.abort()
        assert broker.end(None) == 1
        assert_one_error(broker, data / PLACES[kept_by], ERRORS[fault])
    disk.end(fault)
    assert_nothing_is_missing(data, keeper)


def assert_one_error(broker: RunningBroker, place: Path, why: str) -> None:
    errors = [line for line in broker.errors if line.startswith("error: ")]
    assert len(errors) == 1, broker.errors
    assert str(place) in errors[0]
    assert why in errors[0]


def assert_nothing_is_missing(data: Path, keeper: Keeper) -> None:
    """What was never acknowledged may be there or not, once."""
    with RunningBroker(data, *keeper.flags).wait_until_ready() as broker:
        assert keeper.read(broker) in (BEFORE, [*BEFORE, b"after"])
        assert broker.end() == 0
