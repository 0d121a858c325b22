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
    assert "install -d -o edge -g edge -m 0700 /srv/lapwing" in says
    assert "systemctl enable --now edge" in says
    if shutil.which("systemd-analyze") is None:
        assert "systemd-analyze is not here" in says


def installed(tmp_path: Path, text: str, *given: str) -> tuple[list[str], str]:
    """The lines of a unit for a configuration of this text, and what is said beside."""
    config = tmp_path / "etc/lapwing/lapwing.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)
    done = call("service", "install", "--root", str(tmp_path), "--program", "/usr/bin/lapwing", "--replace", *given)
    assert done.returncode == 0, done.stderr
    return (tmp_path / "etc/systemd/system/lapwing.service").read_text().splitlines(), done.stderr


def test_a_unit_has_what_its_configuration_needs(tmp_path: Path) -> None:
    """Is its data folder taken and made, its drain waited for, and each folder that it writes let be written?"""
    plain, _ = installed(tmp_path, "")
    assert "ExecStart=/usr/bin/lapwing broker --config /etc/lapwing/lapwing.toml --data /var/lib/lapwing" in plain
    assert {"StateDirectory=lapwing", "TimeoutStopSec=30", "ProtectHome=yes"} <= set(plain)
    text = (
        '[broker]\ndata = "/home/edge/data"\ndrain = "5m"\nlisten = ["unix:///run/edge/s", "unix:///srv/s/s"]\n'
        '[audit]\nfile = "/var/log/edge/audit.jsonl"\n'
    )
    lines, said = installed(tmp_path, text)
    assert "ExecStart=/usr/bin/lapwing broker --config /etc/lapwing/lapwing.toml" in lines
    needed = {"TimeoutStopSec=320", "ReadWritePaths=/home/edge/data", "ProtectHome=read-only", "RuntimeDirectory=edge"}
    assert needed | {"ReadWritePaths=/srv/s", "LogsDirectory=edge"} <= set(lines)
    assert not any(line.startswith("StateDirectory") for line in lines)
    assert "install -d -o lapwing -g lapwing -m 0700 /home/edge/data" in said
    assert said.index("systemd-sysusers") < said.index("install -d") < said.index("daemon-reload")
    (tmp_path / "home/edge/data").mkdir(parents=True)
    assert "chown -R lapwing:lapwing /home/edge/data" in installed(tmp_path, text)[1]
    lines, said = installed(tmp_path, text, "--data", "/srv/other")
    assert "ReadWritePaths=/srv/other" in lines
    assert "what is in the first is not seen" in said
    lines, _ = installed(tmp_path, '[broker]\ndata = "beside"\n')
    assert "ReadWritePaths=/etc/lapwing/beside" in lines
    assert "has nothing of the configuration" in installed(tmp_path, "[broken")[1]


@pytest.mark.parametrize(
    "given",
    [
        ("--data", "here"),
        ("--config", "lapwing.toml"),
        ("--config", "/etc/a b.toml"),
        ("--data", "/x\n[Service]\nUser=root"),
        ("--user", "a b"),
    ],
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
