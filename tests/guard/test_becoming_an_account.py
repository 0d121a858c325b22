"""A broker that is started as root and becomes an account once its ports are bound: on every thread, for good."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from commands import LAPWING, TIMEOUT_S, Running, RunningBroker, clean_environment, lapwing
from web import get

import lapwing as package
from lapwing.privileges import acting_as, find_account

NOBODY = pwd.getpwnam("nobody")
AS_NOBODY = ("--set", "broker.user=nobody")


pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account"),
    pytest.mark.skipif(sys.platform != "linux", reason="Linux only"),
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the account may enter; pytest's own are root's alone."""
    made = Path(tempfile.mkdtemp(prefix="lapwing-guard-")).resolve()
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def low_ports(many: int) -> list[int]:
    """Free ports that only root may bind, of which the kernel gives none itself."""
    found = []
    for port in range(1023, 511, -1):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == many:
            return found
    pytest.skip("no port below 1024 is free")


def standing(pid: int) -> list[dict[str, list[str]]]:
    """Each thread's status, by key, in words."""
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    assert tasks
    texts = [(task / "status").read_text() for task in tasks]
    return [
        {key: rest.split() for key, _, rest in (line.partition(":") for line in text.splitlines())} for text in texts
    ]


def publish_kept(url: str) -> None:
    """One retained message at QoS 1: on disk when it is acknowledged."""
    sent = lapwing("pub", "a/b", "kept", "--url", url, "--qos", "1", "--retain")
    assert sent.returncode == 0, sent.stderr


def test_every_thread_is_the_accounts_and_the_log_is_written(folder: Path) -> None:
    """Are ids, groups and capabilities gone on each thread, and do the low ports, the log and HTTP work?"""
    mqtt, http = low_ports(2)
    ports = ("--listen", f"tcp://127.0.0.1:{mqtt}", "--http", f"127.0.0.1:{http}", "--data", str(folder / "data"))
    (folder / "data").mkdir(mode=0o700)
    os.chown(folder / "data", NOBODY.pw_uid, NOBODY.pw_gid)
    with Running("broker", *ports, "--set", "broker.shards=2", *AS_NOBODY, cwd=folder) as running:
        while running.line() != "ready":
            pass
        publish_kept(f"tcp://127.0.0.1:{mqtt}")
        assert get(f"http://127.0.0.1:{http}/readyz").status_code == 200
        threads = standing(running.process.pid)
        assert len({thread["Name"][0] for thread in threads}) > 5, "shards, the log and HTTP among them"
        for thread in threads:
            assert thread["Uid"] == [str(NOBODY.pw_uid)] * 4, thread["Name"]
            assert thread["Gid"] == [str(NOBODY.pw_gid)] * 4, thread["Name"]
            assert set(thread["Groups"]) <= set(map(str, os.getgrouplist("nobody", NOBODY.pw_gid))), thread["Name"]
            for key in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
                assert int(thread[key][0], 16) == 0, (thread["Name"], key)
        assert all(thread["NoNewPrivs"] == ["1"] for thread in threads)
        assert running.end() == 0, running.errors
        assert not any("runs as root" in line for line in running.errors)
    owners = {path.stat().st_uid for path in (folder / "data").rglob("*")}
    assert owners == {NOBODY.pw_uid}


def test_a_missing_data_folder_is_made_for_the_account(folder: Path) -> None:
    """Also where the account could not make it, and does a second start find all that it needs?"""
    for _ in range(2):
        with RunningBroker(folder / "var" / "data", *AS_NOBODY).wait_until_ready() as running:
            publish_kept(running.url)
            assert running.end() == 0, running.errors
    made = [folder / "var", folder / "var" / "data"]
    assert [(path.stat().st_uid, path.stat().st_mode & 0o777) for path in made] == [(NOBODY.pw_uid, 0o700)] * 2


def test_it_reloads_and_answers_as_the_account(folder: Path) -> None:
    """Does SIGHUP work, and HTTP, where the account may not even read the program's own files?"""
    file = folder / "lapwing.toml"
    file.write_text(f'[broker]\nuser = "nobody"\n[auth]\nusers = "{folder / "users.toml"}"\n')
    assert lapwing("user", "add", "alice", "--no-password", cwd=folder).returncode == 0
    os.chown(folder / "users.toml", NOBODY.pw_uid, -1)
    with RunningBroker(folder / "data", "--config", str(file)).wait_until_ready() as running:
        assert lapwing("user", "add", "bob", "--no-password", cwd=folder).returncode == 0
        with file.open("a") as more:
            more.write('[groups."alarms"]\nfilters = ["alarms/#"]\n[topics."t/#"]\ndurability = "memory"\n')
        running.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + TIMEOUT_S
        while not any("1 user, 0 rules before, 2 users, 0 rules now" in line for line in running.errors):
            assert time.monotonic() < end, running.errors
            time.sleep(0.01)
        for path, status in (("/metrics", 401), ("/v1/groups", 401), ("/healthz", 200)):
            assert get(f"{running.http}{path}").status_code == status
        assert running.end() == 0, running.errors


def test_config_check_looks_as_the_account(folder: Path) -> None:
    """Is a file that the account may not read told by the check, and by nobody once it may?"""
    file, users = folder / "lapwing.toml", folder / "users.toml"
    file.write_text(
        f'[broker]\nuser = "nobody"\nlisten = "tcp://127.0.0.1:0"\nhttp = "off"\ndata = "data"\n'
        f'[auth]\nusers = "{users}"\n'
    )
    assert lapwing("user", "add", "alice", "--no-password", cwd=folder).returncode == 0
    users.chmod(0o600)
    refused = lapwing("config", "check", str(file))
    assert (refused.returncode, refused.stderr.count("error: ")) == (2, 1)
    assert f"nobody may not read {users}" in refused.stderr
    os.chown(users, NOBODY.pw_uid, -1)
    assert lapwing("config", "check", str(file)).stdout == f"{file}: in order\n"
    assert not (folder / "data").exists()


def refusal(folder: Path, *arguments: str, data: Path | None = None) -> str:
    """The one error of a start that is refused; no port is bound, nothing is left behind."""
    ports = ("--listen", "tcp://127.0.0.1:0", "--http", "off", "--data", str(data or folder / "data"))
    result = lapwing("broker", *ports, *arguments, cwd=folder)
    assert result.returncode == 2, result
    (line,) = result.stderr.splitlines()
    return line


def test_a_data_folder_of_roots_is_named(folder: Path) -> None:
    (folder / "data").mkdir(mode=0o700)
    line = refusal(folder, *AS_NOBODY)
    assert f"nobody may not write {folder / 'data'}" in line
    assert f"chown -R nobody {folder / 'data'}" in line


def test_one_file_in_it_is_named(folder: Path) -> None:
    """As a broker that was root before leaves them behind."""
    with RunningBroker(folder / "data").wait_until_ready() as running:
        publish_kept(running.url)
        assert running.end() == 0
    for path in (folder / "data", *(folder / "data").rglob("*")):
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
    one = next(path for path in (folder / "data").rglob("*") if path.is_file())
    os.chown(one, 0, 0)
    assert f"nobody may not write {one}" in refusal(folder, *AS_NOBODY)


def test_a_users_file_of_roots_alone_is_named(folder: Path) -> None:
    assert lapwing("user", "add", "alice", "--no-password", cwd=folder).returncode == 0
    line = refusal(folder, *AS_NOBODY, "--set", f"auth.users={folder / 'users.toml'}")
    assert f"nobody may not read {folder / 'users.toml'}" in line
    assert "(auth.users)" in line


@pytest.mark.parametrize(
    ("user", "said"),
    [("no-such-account", "there is no such account"), ("root", "is root"), ("0", "is root")],
)
def test_who_it_cannot_become(folder: Path, user: str, said: str) -> None:
    assert said in refusal(folder, "--set", f"broker.user={user}")
    assert not (folder / "data").exists()


def test_who_is_not_root_cannot_become_another(folder: Path) -> None:
    """Root without its rights is not root: the start says what it would need."""
    refused = subprocess.run(
        [
            "setpriv",
            "--bounding-set=-setuid,-setgid",
            "--inh-caps=-all",
            *LAPWING,
            "broker",
            *AS_NOBODY,
            "--http",
            "off",
        ],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert refused.returncode == 1
    assert b"cannot become nobody: Operation not permitted" in refused.stderr
    assert b"CAP_SETUID" in refused.stderr


def test_a_port_in_use_leaves_nothing_behind(folder: Path) -> None:
    """Does a start that fails on the way say why, as it does without an account?"""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for listen, http in ((address, "off"), ("127.0.0.1:0", address)):
            arguments = ("--listen", f"tcp://{listen}", "--http", http, "--data", str(folder / "data"))
            result = lapwing("broker", *arguments, *AS_NOBODY, cwd=folder)
            assert result.returncode == 1
            assert address in result.stderr
            assert "in use" in result.stderr


def test_a_broker_in_this_process_gives_back_what_it_was(folder: Path) -> None:
    """After a start that failed before the ports were bound: this process is root's again, and can go on."""
    from lapwing.config import load

    (folder / "data").mkdir(mode=0o700)
    settings = ["broker.user=nobody", f"broker.data={folder / 'data'}", "broker.http=off"]
    before = os.getresuid(), os.getresgid(), os.getgroups()
    broker = package.Broker.from_config(load(None, environment={}, settings=settings).config)
    with pytest.raises(package.LapwingError, match="may not write"):
        broker.start()
    assert (os.getresuid(), os.getresgid(), os.getgroups()) == before


def test_acting_as_is_for_a_while(folder: Path) -> None:
    """As `--accept-loss-of` mends a log: is what is made the account's, and is root back, on an error too?"""
    before = os.getresuid(), os.getresgid(), os.getgroups()
    folder.chmod(0o777)
    with acting_as(find_account("nobody")):
        (folder / "made").touch()
    assert (folder / "made").stat().st_uid == NOBODY.pw_uid
    folder.chmod(0o755)
    with pytest.raises(PermissionError), acting_as(find_account("nobody")):
        (folder / "refused").touch()
    assert (os.getresuid(), os.getresgid(), os.getgroups()) == before


def test_hooks_run_as_the_account(folder: Path) -> None:
    """Is their module imported by the account, not by root?"""
    (folder / "judges.py").write_text(
        "import os\nimport lapwing\nprint(os.geteuid(), flush=True)\n\nclass Judge(lapwing.Hooks):\n    pass\n"
    )
    ports = ("--listen", "tcp://127.0.0.1:0", "--http", "off", "--data", str(folder / "data"))
    with Running("broker", *ports, *AS_NOBODY, "--set", "hooks.use=judges:Judge", cwd=folder) as running:
        assert running.line() == str(NOBODY.pw_uid)
        assert urlsplit(running.line().split(" ")[1]).port
        assert running.end() == 0
