"""A disk that is full, or damaged, under a real broker: what is promised then, and what is told to whom."""

from __future__ import annotations

import signal
from pathlib import Path

import pyarrow as pa
import pytest
from commands import RunningBroker, lapwing, one_error
from faulty_disk import FaultyDisk
from web import get

from lapwing import Client
from lapwing.errors import TimedOutError

STREAM = ("--set", "streams.all.filter=t/#")


def kept(http: str) -> list[bytes]:
    """Payloads in the stream, in order."""
    table = pa.ipc.open_stream(get(f"{http}/v1/streams/all/0").content).read_all()
    return table["payload"].to_pylist()


def test_a_full_disk_heals(disk: FaultyDisk, tmp_path: Path) -> None:
    """Do publishers into the stream wait, others go on, all be acknowledged once there is space?"""
    data = tmp_path / "data"
    with RunningBroker(data, *STREAM, variables=disk.variables).wait_until_ready() as broker:
        publisher, other = Client(broker.url).connect(), Client(broker.url).connect()
        publisher.publish("t/1", b"before", qos=1)
        publisher.flush()
        disk.begin("full")
        publisher.publish("t/1", b"while full", qos=1)
        with pytest.raises(TimedOutError):
            publisher.flush(1.0)
        other.subscribe("elsewhere", qos=1)
        other.publish("elsewhere", b"goes on", qos=1)
        message = other.receive(30.0)
        assert message
        assert message.payload == b"goes on"
        other.flush(30.0)
        assert get(f"{broker.http}/healthz").status_code == 200
        assert kept(broker.http) == [b"before"], "readers see only what is synced"
        disk.end("full")
        publisher.flush(30.0)
        assert kept(broker.http) == [b"before", b"while full"]
        publisher.disconnect()
        other.disconnect()
        assert broker.end() == 0


def test_a_full_disk_does_not_stop_a_drain(disk: FaultyDisk, tmp_path: Path) -> None:
    """Does SIGTERM end a broker whose disk stays full, without an acknowledgement it cannot keep?"""
    arguments = (*STREAM, "--set", "broker.drain=1s")
    with RunningBroker(tmp_path / "data", *arguments, variables=disk.variables).wait_until_ready() as broker:
        client = Client(broker.url).connect()
        disk.begin("full")
        client.publish("t/1", b"never kept", qos=1)
        with pytest.raises(TimedOutError):
            client.flush(0.5)
        assert broker.end() == 1, "an end that gave something up is told"
        said = [line.split(" ")[0] for line in broker.errors if not line.startswith(("notice:", "info:"))]
        assert said == ["draining;", "error:"]
        client.abort()
    disk.end("full")
    with RunningBroker(tmp_path / "data", *STREAM).wait_until_ready() as broker:
        assert kept(broker.http) == []


def test_a_second_signal_stops_at_once(disk: FaultyDisk, tmp_path: Path) -> None:
    """Does the second SIGTERM end a drain that would go on for long?"""
    arguments = (*STREAM, "--set", "broker.drain=10m")
    with RunningBroker(tmp_path / "data", *arguments, variables=disk.variables).wait_until_ready() as broker:
        client = Client(broker.url).connect()
        disk.begin("full")
        client.publish("t/1", b"never kept", qos=1)
        with pytest.raises(TimedOutError):
            client.flush(0.5)
        broker.process.send_signal(signal.SIGTERM)
        while "draining; a second signal stops at once" not in broker.errors:
            assert broker.process.poll() is None
            assert get(f"{broker.http}/healthz").status_code == 200
        assert broker.end() == 128 + signal.SIGTERM
        client.abort()


def test_damage_in_the_middle_is_told(tmp_path: Path) -> None:
    """Is a flipped bit below what was synced an error that names file and offset, never a silent skip?"""
    data = tmp_path / "data"
    with RunningBroker(data, *STREAM).wait_until_ready() as broker:
        with Client(broker.url) as client:
            for number in range(50):
                client.publish("t/1", b"%d " % number * 1_000, qos=1)
                client.flush()
        assert broker.end() == 0
    segment = max((data / "streams").rglob("*"), key=lambda file: file.stat().st_size if file.is_file() else 0)
    contents = bytearray(segment.read_bytes())
    contents[contents.index(b"20 20 20 ")] ^= 1
    segment.write_bytes(contents)
    with RunningBroker(data, *STREAM) as broker:
        try:
            broker.wait_until_ready()
        except AssertionError:
            assert broker.end(None) == 1
            message = "\n".join(broker.errors)
        else:
            response = get(f"{broker.http}/v1/streams/all/0")
            assert response.status_code == 500
            message = response.text
    assert segment.name in message
    assert "damaged at byte" in message


def test_no_write_permission() -> None:
    """Is a folder that nobody may write to (procfs: root may not either) named, with the remedy?"""
    ports = ("--listen", "tcp://127.0.0.1:0", "--http", "off")
    result = lapwing("broker", *ports, "--data", "/proc/lapwing", *STREAM)
    assert result.returncode == 1
    assert "/proc/lapwing" in one_error(result)
