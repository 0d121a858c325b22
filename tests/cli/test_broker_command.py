"""`lapwing broker`: starts, says where it listens, drains on a signal, and refuses what it must."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from commands import Running, RunningBroker, lapwing, one_error
from web import get


def test_text_output(tmp_path: Path) -> None:
    """Is each listener a line of its own, then `ready`?"""
    arguments = ("--listen", "tcp://127.0.0.1:0", "--listen", "tcp://[::1]:0", "--http", "127.0.0.1:0")
    with Running("broker", *arguments, cwd=tmp_path) as broker:
        lines = [broker.line() for _ in range(4)]
        assert [line.split(" ")[0] for line in lines] == ["mqtt", "mqtt", "http", "ready"]
        assert get(f"{lines[2].split(' ')[1]}/readyz").status_code == 200
        assert broker.end() == 0
        said = [line for line in broker.errors if not line.startswith("notice:")]
        assert said == ["draining; a second signal stops at once"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_drains(tmp_path: Path, number: signal.Signals) -> None:
    """Does a client get the broker's end, and the shell exit code 0?"""
    with RunningBroker(tmp_path).wait_until_ready() as broker:
        parts = urlsplit(broker.url)
        with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=30) as client:
            client.sendall(bytes.fromhex("10 10 0004 4d515454 05 02 003c 00 0003 616263"))
            assert client.recv(100)[0] == 0x20, "CONNACK"
            assert broker.end(number) == 0
            left = client.recv(100)
            assert left[:1] == b"\xe0", "DISCONNECT"
            assert left[2] == 0x8B, "server shutting down"


def test_sighup_is_answered(tmp_path: Path) -> None:
    """Does SIGHUP say what was read again, rather than end the broker?"""
    with RunningBroker(tmp_path).wait_until_ready() as broker:
        broker.process.send_signal(signal.SIGHUP)
        while not any("SIGHUP" in line for line in broker.errors):
            assert broker.process.poll() is None
            get(f"{broker.http}/healthz")
        assert get(f"{broker.http}/readyz").status_code == 200
        assert broker.end() == 0


def test_streams_from_flags(tmp_path: Path) -> None:
    with RunningBroker(tmp_path, "--set", "streams.all.filter=#", "--set", "streams.all.partitions=3") as broker:
        broker.wait_until_ready()
        stream = get(f"{broker.http}/v1/streams/all").json()
        assert len(stream["partitions"]) == 3


def test_wrong_configuration(tmp_path: Path) -> None:
    """Is every problem a line, before anything is opened?"""
    result = lapwing(
        "broker",
        "--listen",
        "udp://0.0.0.0:0",
        "--http",
        "127.0.0.1",
        "--set",
        "broker.shard=1",
        cwd=tmp_path,
    )
    assert result.returncode == 2
    assert [line.split(" ")[0] for line in result.stderr.splitlines()] == ["error:"] * 3
    assert "must be a URL of the form" in result.stderr
    assert "(flag --listen)" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_open_listener(tmp_path: Path) -> None:
    """Is a listener that everybody could reach and nobody guards refused, before anything is opened?"""
    result = lapwing("broker", "--listen", "tcp://0.0.0.0:0", cwd=tmp_path)
    assert result.returncode == 2
    assert "no open listener beyond loopback without authentication" in one_error(result)
    assert "(flag --listen)" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        mqtt = lapwing("broker", "--listen", f"tcp://{address}", "--http", "off", cwd=tmp_path)
        http = lapwing("broker", "--listen", "tcp://127.0.0.1:0", "--http", address, cwd=tmp_path)
    for result in (mqtt, http):
        assert result.returncode == 1
        assert address in one_error(result)
        assert "in use" in one_error(result)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_data_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    result = lapwing("broker", "--http", "off", "--data", str(tmp_path / "data"), "--set", "streams.s.filter=#")
    assert result.returncode == 1
    assert str(tmp_path) in one_error(result)


def test_data_folder_is_a_file(tmp_path: Path) -> None:
    """Is a data folder that cannot be one named, with a remedy, in one line?"""
    (tmp_path / "file").write_text("")
    ports = ("--listen", "tcp://127.0.0.1:0", "--http", "off")
    result = lapwing("broker", *ports, "--data", str(tmp_path / "file"), "--set", "streams.s.filter=#")
    assert result.returncode == 2
    assert str(tmp_path / "file") in one_error(result)
