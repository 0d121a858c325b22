"""`lapwing service install`, and what systemd is told: a unit of this machine, READY, STOPPING, WATCHDOG."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from pathlib import Path

import pytest
from commands import Running, call

from lapwing.lab.ports import free_port
from lapwing.supervisor import Supervisor

UNIT = Path(__file__).parents[2] / "deploy" / "lapwing.service"


def test_the_unit_of_the_tree_is_what_is_written() -> None:
    printed = call("service", "install", "--print", "--program", "/usr/local/bin/lapwing")
    assert printed.stdout == UNIT.read_text()
    assert printed.returncode == 0


def test_a_unit_says_what_was_given(tmp_path: Path) -> None:
    given = ("--data", "/srv/lapwing", "--user", "edge", "--config", "/root/l.toml", "--program", "/usr/bin/lapwing")
    install = ("service", "install", "--root", str(tmp_path), "--name", "edge", *given)
    config = tmp_path / "root/l.toml"
    config.parent.mkdir()
    config.write_text("")
    assert call(*install).returncode == 0
    lines = (tmp_path / "etc/systemd/system/edge.service").read_text().splitlines()
    assert "ExecStart=/usr/bin/lapwing broker --config /root/l.toml --data /srv/lapwing" in lines
    for line in ("User=edge", "Group=edge", "ReadWritePaths=/srv/lapwing", "ProtectHome=read-only", "Type=notify"):
        assert line in lines
    assert not any(line.startswith("StateDirectory") for line in lines)
    assert (tmp_path / "etc/sysusers.d/edge.conf").read_text() == 'u edge - "Lapwing MQTT broker" /srv/lapwing -\n'
    assert "as it is" in call(*install).stdout
    other = call(*install[:-1], "/usr/bin/other")
    assert other.returncode == 2
    assert "--replace" in other.stderr
    assert call(*install[:-1], "/usr/bin/other", "--replace").returncode == 0
    says = call(*install[:-1], "/usr/bin/other").stderr
    assert "systemctl enable --now edge" in says
    if shutil.which("systemd-analyze") is None:
        assert "systemd-analyze is not here" in says


@pytest.mark.parametrize(
    "given",
    [("--data", "here"), ("--config", "/etc/a b.toml"), ("--data", "/x\n[Service]\nUser=root"), ("--user", "a b")],
)
def test_what_would_be_another_unit_is_refused(given: tuple[str, str]) -> None:
    done = call("service", "install", "--print", "--program", "/usr/bin/lapwing", *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("kind", ["nothing", "a folder", "a FIFO"])
def test_what_is_no_file_is_no_configuration(tmp_path: Path, kind: str) -> None:
    config = tmp_path / "l.toml"
    if kind == "a folder":
        config.mkdir()
    elif kind == "a FIFO":
        os.mkfifo(config)
    given = ("--config", str(config), "--program", "/usr/bin/lapwing")
    printed = call("service", "install", "--print", *given)
    assert (printed.returncode, printed.stdout) == (2, "")
    (line,) = printed.stderr.splitlines()
    assert "--config is" in line
    assert str(config) in line

    image = tmp_path / "image"
    assert call("service", "install", "--root", str(image), *given).returncode == 2, "it is looked for in the image"
    assert not image.exists(), "nothing is written"


def test_a_broker_tells_its_supervisor(tmp_path: Path) -> None:
    """Is it ready when it listens, alive while it runs, reloading at SIGHUP, and stopping at SIGTERM?"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        path = str(tmp_path / "notify")
        heard.bind(path)
        heard.settimeout(30)

        def until(word: str) -> str:
            while True:
                said = heard.recv(4096).decode()
                if word in said.splitlines():
                    return said

        listen = f"tcp://127.0.0.1:{free_port()}"
        arguments = ("broker", "--listen", listen, "--http", "off", "--data", str(tmp_path / "data"))
        variables = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "300000"}
        with Running(*arguments, "--set", "broker.shards=1", variables=variables) as broker:
            assert listen in until("READY=1")
            until("WATCHDOG=1")
            until("WATCHDOG=1")
            broker.process.send_signal(signal.SIGHUP)
            until("RELOADING=1")
            until("READY=1")
            broker.process.send_signal(signal.SIGTERM)
            until("STOPPING=1")
            assert broker.process.wait(30) == 0


def test_nobody_is_told_where_nobody_asks() -> None:
    for environment in ({}, {"NOTIFY_SOCKET": "/nowhere/at/all"}, {"WATCHDOG_USEC": "x", "NOTIFY_SOCKET": "@nobody"}):
        supervisor = Supervisor(environment)
        supervisor.ready()
        supervisor.alive()
        supervisor.stopping()


def test_a_watchdog_of_another_process_is_not_ours(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.setblocking(False)
        given = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "1", "WATCHDOG_PID": str(os.getpid() + 1)}
        Supervisor(given).alive()
        with pytest.raises(BlockingIOError):
            heard.recv(100)
