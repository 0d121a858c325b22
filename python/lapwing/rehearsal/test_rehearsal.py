"""Does the check refuse what a start would: files, ports, folders, each by its key and all at once?"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from pathlib import Path

import pytest

from lapwing import Broker
from lapwing.bridge.counts import Counts
from lapwing.bridge.metrics_server import MetricsServer
from lapwing.config import Config
from lapwing.config.load import load
from lapwing.errors import ConfigError, DataFolderError
from lapwing.lab.ports import free_port
from lapwing.log.journal import Journal
from lapwing.rehearsal.folders import folder_faults
from lapwing.rehearsal.ports import _resolved, check_twins, port_faults
from lapwing.rehearsal.start import start_faults


def config(tmp_path: Path, text: str = "", *, listen: str = '"tcp://127.0.0.1:0"') -> Config:
    file = tmp_path / "lapwing.toml"
    file.write_text(f'[broker]\nlisten = [{listen}]\nhttp = "off"\ndata = "data"\n{text}')
    return load(file, environment={}).config


def told(found: object) -> list[str]:
    return [str(fault) for fault in found]  # type: ignore[attr-defined]


def test_what_is_whole_is_in_order(tmp_path: Path) -> None:
    assert start_faults(config(tmp_path)) == []
    assert not (tmp_path / "data").exists(), "nothing is made"


def test_all_that_is_missing_is_told_at_once(tmp_path: Path) -> None:
    text = """
[auth]
users = "nope.toml"
[hooks]
use = "nosuch.module:Class"
[audit]
file = "nowhere/audit.jsonl"
[[listeners]]
url = "tls://127.0.0.1:0"
certificate = "a.pem"
key = "b.pem"
[[listeners]]
url = "tls://127.0.0.1:0"
certificate = "c.pem"
key = "d.pem"
"""
    faults = told(start_faults(config(tmp_path, text)))
    for word in ("nope.toml", "nosuch", "a.pem", "c.pem", "audit.jsonl"):
        assert [fault for fault in faults if word in fault], (word, faults)


def test_a_port_twice_or_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (fault,) = told(port_faults(config(tmp_path, listen=f'"tcp://127.0.0.1:{port}"')))
        assert "another process listens there" in fault
    twice = f'"tcp://127.0.0.1:{port}", "tcp://0.0.0.0:{port}", "ws://127.0.0.1:{port}"'
    loaded = config(tmp_path, '[auth]\nusers = "u.toml"\n', listen=twice)
    faults = told(port_faults(loaded))
    assert [fault.partition(" (")[0] for fault in faults] == [
        "broker.listen.1 is the same port as broker.listen.0",
        "broker.listen.2 is the same port as broker.listen.0",
    ]
    with pytest.raises(ConfigError, match=r"listen\.2 is the same port"):
        check_twins(loaded)
    check_twins(config(tmp_path, listen='"tcp://127.0.0.1:0", "tcp://127.0.0.1:0"'))


def test_a_journald_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start was refused, and the check had found all in order."""
    monkeypatch.setattr("lapwing.log.printer.Journal", lambda: Journal(str(tmp_path / "nobody")))
    (fault,) = told(start_faults(config(tmp_path, '[log]\nformat = "journald"\n')))
    assert "no journald listens" in fault
    assert told(start_faults(config(tmp_path, '[log]\nformat = "text"\n'))) == []


def test_an_address_of_a_link_keeps_its_zone() -> None:
    """Without it the kernel refuses it, and the check told of a fault."""
    places = [_resolved(f"tcp://[{host}]:1883", host, 1883) for host in ("fe80::1%lo", "::1")]
    assert [place.target for [place] in places] == [("fe80::1", 1883, 0, socket.if_nametoindex("lo")), ("::1", 1883)]


def test_the_metrics_of_a_bridge(tmp_path: Path) -> None:
    """Is one port for them and for the broker told by the check, and no reason for the broker not to start?

    And is one that another program has, unless it is the bridge?
    """
    rule = '[[bridge.to_kafka]]\nname = "r"\nfilter = "a/#"\ntopic = "t"\n'
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = f'{rule}[bridge]\nmetrics = "127.0.0.1:{port}"\n'
        taken.close()
        running = MetricsServer(f"127.0.0.1:{port}", lambda: [Counts("r", "to_kafka")])
        running.start()
        assert told(port_faults(config(tmp_path, text))) == [], "a bridge that runs already"
        running.stop()
    with socket.create_server(("127.0.0.1", port)) as taken:
        threading.Thread(target=lambda: taken.accept()[0].close(), daemon=True).start()
        (fault,) = told(port_faults(config(tmp_path, text)))
        assert "bridge.metrics: another process listens there" in fault
    twice = config(tmp_path, text, listen=f'"tcp://127.0.0.1:{port}"')
    assert "bridge.metrics is the same port as broker.listen.0" in told(port_faults(twice))[0]
    check_twins(twice)
    alone = config(tmp_path, f'[bridge]\nmetrics = "127.0.0.1:{port}"\n', listen=f'"tcp://127.0.0.1:{port}"')
    assert told(port_faults(alone)) == []


def test_datagrams_have_ports_of_their_own(tmp_path: Path) -> None:
    """Is one number for TCP and for MQTT-SN taken by both, and a port looked for among those of its own kind?"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        port = free_port()
        taken.bind(("127.0.0.1", port))
        both = config(tmp_path, listen=f'"tcp://127.0.0.1:{port}", "sn://127.0.0.1:{port}"')
        check_twins(both)
        (fault,) = told(port_faults(both))
        assert "listen.1: another process listens there" in fault
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        assert len(told(port_faults(both))) == 1, "nor shared with one that would"
    assert told(port_faults(both)) == []
    with Broker(listen=[f"tcp://127.0.0.1:{port}", f"sn://127.0.0.1:{port}"], shards=1):
        pass
    twice = config(tmp_path, listen=f'"sn://127.0.0.1:{port}", "sn://127.0.0.1:{port}"')
    assert "listen.1 is the same port" in told(port_faults(twice))[0]


@pytest.mark.parametrize("host", ["no-such-host.invalid", "203.0.113.7"])
def test_an_address_of_nobody_here(tmp_path: Path, host: str) -> None:
    listen = f'[[listeners]]\nurl = "tcp://{host}:1999"\nanonymous = true\n'
    (fault,) = told(port_faults(config(tmp_path, listen)))
    assert host in fault


def test_a_socket_file_in_the_way(tmp_path: Path) -> None:
    way = tmp_path / "s.sock"
    url = f'"unix://{way}"'
    assert told(port_faults(config(tmp_path, listen=url))) == []
    way.write_text("")
    (fault,) = told(port_faults(config(tmp_path, listen=url)))
    assert "no socket" in fault
    way.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(way))
        assert told(port_faults(config(tmp_path, listen=url))) == [], "left by a crash"
        listener.listen()
        assert "another process" in told(port_faults(config(tmp_path, listen=url)))[0]
    (fault,) = told(port_faults(config(tmp_path, listen='"unix:///no/such/folder/s"')))
    assert "does not exist" in fault
    room = 107 - len(f"{tmp_path}/")
    for length, said in ((room, []), (room + 1, ["has 108 bytes"])):
        faults = told(port_faults(config(tmp_path, listen=f'"unix://{tmp_path}/{"s" * length}"')))
        assert [word for word in ("has 108 bytes",) if any(word in each for each in faults)] == said, faults


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    loaded = config(tmp_path)
    (tmp_path / "data").write_text("")
    assert "is no folder" in told(folder_faults(loaded))[0]
    (tmp_path / "data").unlink()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "lock").write_text("4711\n")
    assert told(folder_faults(loaded)) == []
    with (tmp_path / "data" / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "in use by process 4711" in told(folder_faults(loaded))[0]
        assert start_faults(loaded, is_running=True) == []
    if os.geteuid():
        (tmp_path / "data").chmod(0o500)
        assert "cannot be written" in told(folder_faults(loaded))[0]


@pytest.mark.parametrize(
    ("names", "told_as"),
    [
        (["letter\n.txt", "b", ".profile", "z"], '".profile", "b", "letter\\n.txt" and 1 more'),
        (["notes.txt", "lock"], '"notes.txt"'),
        ([], None),
        (["lock", "lost+found", "format.tmp"], None),
        (["format", "notes.txt"], None),
    ],
)
def test_a_folder_of_somebody_else(tmp_path: Path, names: list[str], told_as: str | None) -> None:
    """Does the check say what is there, where the start refuses it, and is nothing written by either?"""
    loaded = config(tmp_path)
    folder = tmp_path / "data"
    folder.mkdir()
    for name in names:
        (folder / name).write_text("lapwing-log 1\n" if name == "format" else "")
    faults = told(folder_faults(loaded))
    if told_as is None:
        assert faults == []
        with Broker(data=folder, listen=["tcp://127.0.0.1:0"], shards=1):
            pass
        return
    assert [fault for fault in faults if told_as in fault and "no data folder of Lapwing" in fault] == faults != []
    assert len(faults[0].splitlines()) == 1
    with pytest.raises(DataFolderError, match="no data folder of Lapwing") as error, Broker(data=folder, shards=1):
        pass
    assert len(str(error.value).splitlines()) == 1
    assert sorted(os.listdir(folder)) == sorted(names)


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "etc"
    folder.mkdir()
    text = (
        '[auth]\nusers = "u.toml"\n[[listeners]]\nurl = "tls://127.0.0.1:0"\ncertificate = "/x/c.pem"\nkey = "k.pem"\n'
    )
    loaded = config(
        folder,
        text
        + 'crl = ["a.crl", "/b.crl"]\nclient_ca = "ca.pem"\nclient_certificate = "required"\n[audit]\nfile = "off"\n',
    )
    (listener,) = loaded.listeners
    assert loaded.broker.data == folder / "data"
    assert loaded.auth.users == folder / "u.toml"
    assert (listener.certificate, listener.key) == (Path("/x/c.pem"), folder / "k.pem")
    assert (listener.crl, loaded.audit.file) == ([folder / "a.crl", Path("/b.crl")], None)
    beside = load(Path("etc/lapwing.toml"), environment={}, settings=["broker.data=here"]).config
    assert (beside.broker.data, beside.auth.users) == (Path("here"), Path("etc/u.toml"))


def test_a_data_folder_is_not_lost_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who started from another folder has data there: an empty broker in its place would look like a loss."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "etc").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "lock").write_text("1\n")
    with pytest.raises(ConfigError, match="relative to its file"):
        config(tmp_path / "etc")
    (tmp_path / "etc" / "data").mkdir()
    config(tmp_path / "etc")
