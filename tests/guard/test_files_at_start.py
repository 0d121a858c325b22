"""Files that the broker believes and that others may write or read: refused, or named, at the start and at a reload."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from certificates import Certificates
from commands import TIMEOUT_S, Running, RunningBroker, call, lapwing, one_error

HOOKS = """\
import lapwing

class Judge(lapwing.Hooks):
    def on_connect(self, client):
        return lapwing.Allow()
"""
CONFIG = """\
[auth]
users = "{folder}/users.toml"

[hooks]
use = "judges:Judge"

[[listeners]]
url = "tls://127.0.0.1:0"
certificate = "{folder}/server.pem"
key = "{folder}/server.key"
"""
FILES = ("lapwing.toml", "users.toml", "server.pem", "server.key", "judges.py", "")
"""What such a configuration believes; the last is the folder that they lie in."""
SECRETS = ("users.toml", "server.key")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Everything that a broker believes, as its owner's; the working directory of the broker."""
    whole = tmp_path.resolve()
    Certificates.make(whole)
    assert lapwing("user", "add", "alice", "--no-password", cwd=whole).returncode == 0
    (whole / "judges.py").write_text(HOOKS)
    (whole / "lapwing.toml").write_text(CONFIG.format(folder=whole))
    for name in FILES[:-1]:
        (whole / name).chmod(0o600)
    whole.chmod(0o700)
    return whole


def broker(folder: Path, *arguments: str) -> Running:
    ports = ("--http", "off", "--data", str(folder / "data"), "--set", "broker.pin=false")
    return Running("broker", "--config", str(folder / "lapwing.toml"), *ports, *arguments, cwd=folder)


def wait_until_ready(running: Running) -> None:
    while running.line() != "ready":
        pass


def wait_for_line(running: Running, text: str) -> str:
    end = time.monotonic() + TIMEOUT_S
    while not (found := [line for line in running.errors if text in line]):
        assert time.monotonic() < end, running.errors
        assert running.process.poll() is None, running.errors
        time.sleep(0.01)
    return found[0]


def named(running: Running) -> set[str]:
    """Which secrets are named on standard error."""
    return {name for name in SECRETS for line in running.errors if name in line}


def test_files_of_ones_own_are_in_order(folder: Path) -> None:
    """Is nothing said of files that nobody else may read or write?"""
    with broker(folder) as running:
        wait_until_ready(running)
        assert running.end() == 0
        assert [line for line in running.errors if str(folder) in line] == []


@pytest.mark.parametrize("name", FILES)
def test_what_everybody_may_write_is_refused(folder: Path, name: str) -> None:
    """Does it name file, key and remedy in one line, before anything is opened or run?"""
    target = folder / name
    target.chmod(0o702 if target.is_dir() else 0o602)
    (folder / "judges.py").write_text("raise SystemExit('it was run')\n")
    with broker(folder) as running:
        assert running.end(None) == 2
        errors = [line for line in running.errors if line.startswith("error: ")]
        assert len(errors) == 1, running.errors
        assert f"{target} decides" in errors[0]
        assert "every user of this machine may write it (mode 0" in errors[0]
        assert f"chmod o-w {target}" in errors[0]
        assert not any("it was run" in line for line in running.errors)
    assert not (folder / "data").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", FILES)
def test_what_belongs_to_another_is_refused(folder: Path, name: str) -> None:
    os.chown(folder / name, 54_321, -1)
    with broker(folder) as running:
        assert running.end(None) == 2
        errors = [line for line in running.errors if line.startswith("error: ")]
        assert len(errors) == 1, running.errors
        assert "belongs to uid 54321" in errors[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give links away")
def test_a_link_of_another_user_is_refused(folder: Path) -> None:
    """In a folder where everybody may put something: its maker decides where it leads."""
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "users.toml").symlink_to(folder / "users.toml")
    os.chown(shared / "users.toml", 54_321, -1, follow_symlinks=False)
    with broker(folder, "--set", f"auth.users={shared / 'users.toml'}") as running:
        assert running.end(None) == 2
        assert any(f"{shared / 'users.toml'} decides" in line for line in running.errors), running.errors


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to any group")
def test_what_another_group_may_write_is_refused(folder: Path) -> None:
    os.chown(folder / "users.toml", -1, 54_321)
    (folder / "users.toml").chmod(0o660)
    with broker(folder) as running:
        assert running.end(None) == 2
        assert any("group 54321 may write it" in line for line in running.errors)


def test_compiled_modules_are_judged_too(folder: Path) -> None:
    """Who may write `__pycache__` decides what is run in a module's place."""
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__").chmod(0o777)
    with broker(folder) as running:
        assert running.end(None) == 2
        assert any("__pycache__ decides" in line for line in running.errors)


def test_all_of_them_are_named_at_once(folder: Path) -> None:
    for name in FILES[:-1]:
        (folder / name).chmod(0o666)
    with broker(folder) as running:
        assert running.end(None) == 2
        assert {line.split(" ")[1] for line in running.errors} == {str(folder / name) for name in FILES[:-1]}


def test_secrets_that_everybody_may_read_are_named_once_each(folder: Path) -> None:
    """Does the broker start, name each before it says that it is ready, and nothing that is no secret?"""
    for name in FILES[:-1]:
        (folder / name).chmod(0o644)
    with broker(folder) as running:
        wait_until_ready(running)
        wait_for_line(running, "server.key")
        assert running.end() == 0
        told = [line for line in running.errors if "holds secrets" in line]
    assert sorted(line.split(" ")[1] for line in told) == sorted(str(folder / name) for name in SECRETS)
    assert all(line.startswith("notice: ") and "chmod o-r" in line for line in told)


def test_a_group_may_be_let_read(folder: Path) -> None:
    for name in SECRETS:
        (folder / name).chmod(0o640)
    with broker(folder) as running:
        wait_until_ready(running)
        assert running.end() == 0
        assert named(running) == set()


def test_odd_modes_can_be_allowed(folder: Path) -> None:
    """With `broker.files = "warn"`: does it start, and say what it would have refused?"""
    (folder / "users.toml").chmod(0o666)
    with broker(folder, "--set", "broker.files=warn") as running:
        wait_until_ready(running)
        wait_for_line(running, "users.toml decides")
        assert running.end() == 0


def test_mounted_secrets_of_kubernetes_start(folder: Path) -> None:
    """A folder that everybody may write, with the sticky bit, links in it and files with 0644: named, not refused."""
    mounted = folder / "secrets"
    (mounted / "..2026_11").mkdir(parents=True)
    (folder / "server.key").rename(mounted / "..2026_11" / "server.key")
    (mounted / "..2026_11" / "server.key").chmod(0o644)
    (mounted / "..data").symlink_to("..2026_11")
    (mounted / "server.key").symlink_to("..data/server.key")
    mounted.chmod(0o1777)
    (folder / "server.key").symlink_to("secrets/server.key")
    with broker(folder) as running:
        wait_until_ready(running)
        wait_for_line(running, "server.key (listeners.0.key) holds secrets")
        assert running.end() == 0
        assert not any("decides" in line for line in running.errors)


def test_a_link_leads_into_a_folder_of_others(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Is the folder judged in which the file itself lies, and not only that of its name?"""
    elsewhere = tmp_path_factory.mktemp("elsewhere").resolve()
    (folder / "users.toml").rename(elsewhere / "users.toml")
    (folder / "users.toml").symlink_to(elsewhere / "users.toml")
    elsewhere.chmod(0o777)
    with broker(folder) as running:
        assert running.end(None) == 2
        assert any(f"{elsewhere} decides" in line for line in running.errors)


def test_a_reload_is_whole_or_not_at_all(folder: Path) -> None:
    """Does SIGHUP take nothing over from files that others may write, and everything once they may not?"""
    with broker(folder) as running:
        wait_until_ready(running)
        assert lapwing("user", "add", "bob", "--no-password", cwd=folder).returncode == 0
        (folder / "users.toml").chmod(0o666)
        running.process.send_signal(signal.SIGHUP)
        refused = wait_for_line(running, "what was in force stays")
        assert "users.toml decides" in refused
        assert not any("read again" in line for line in running.errors)

        (folder / "users.toml").chmod(0o604)
        running.process.send_signal(signal.SIGHUP)
        assert "1 user, 0 rules before, 2 users, 0 rules now" in wait_for_line(running, "read again")
        wait_for_line(running, "users.toml (auth.users) holds secrets")
        running.process.send_signal(signal.SIGHUP)
        assert running.end() == 0
        assert len([line for line in running.errors if "holds secrets" in line]) == 1, "told once while it is so"


def test_config_check_says_the_same(folder: Path) -> None:
    file = folder / "lapwing.toml"
    (folder / "users.toml").chmod(0o644)
    check = ("config", "check", str(file), "--set", "broker.http=off")
    named_only = call(*check, cwd=folder)
    assert named_only.stdout == f"{file}: in order\n"
    assert "users.toml (auth.users) holds secrets" in named_only.stderr
    (folder / "users.toml").chmod(0o646)
    refused = call(*check, cwd=folder)
    assert refused.returncode == 2
    assert "users.toml decides" in one_error(refused)


def test_config_check_of_an_account(tmp_path: Path) -> None:
    """Is one that a start would refuse refused; and may a file for another machine be checked without it?"""
    file = tmp_path / "lapwing.toml"
    file.write_text('[broker]\nuser = "no-such-account"\nlisten = "tcp://127.0.0.1:0"\nhttp = "off"\n')
    assert "there is no such account" in one_error(call("config", "check", str(file)))
    assert call("config", "check", str(file), "--set", "broker.user=off").returncode == 0
    file.write_text('[broker]\nuser = "root"\nlisten = "tcp://127.0.0.1:0"\nhttp = "off"\n')
    assert "is root" in one_error(call("config", "check", str(file)))


def test_passwords_in_the_clear_are_told(tmp_path: Path) -> None:
    """Beyond loopback, with users and without TLS, and a listener that believes every proxy: a line each."""
    assert lapwing("user", "add", "alice", "--no-password", cwd=tmp_path).returncode == 0
    users = f"auth.users={tmp_path / 'users.toml'}"
    listener = 'listeners=[{url = "tcp://0.0.0.0:0", proxy_protocol_from = ["0.0.0.0/0"]}]'
    arguments = ("broker", "--http", "off", "--data", str(tmp_path / "data"), "--set", users, "--set", listener)
    with Running(*arguments, cwd=tmp_path) as running:
        wait_until_ready(running)
        wait_for_line(running, "passwords go in the clear over tcp://0.0.0.0:0")
        wait_for_line(running, "listeners.0.proxy_protocol_from takes everybody for a proxy")
        assert running.end() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only a broker of root's has to say that it is one")
def test_root_is_named(tmp_path: Path) -> None:
    with RunningBroker(tmp_path).wait_until_ready() as running:
        assert "broker.user" in wait_for_line(running, "the broker runs as root")
        assert running.end() == 0


@pytest.mark.parametrize(("before", "after"), [(0o000, 0o007), (0o022, 0o027), (0o077, 0o077)])
def test_what_a_command_writes_is_nothing_for_others(before: int, after: int) -> None:
    """Tables with payloads and places, reports, the shell's history: whatever the umask that it is started with."""
    script = (
        "import os; from lapwing.cli import main\n"
        "try:\n    main(['--version'])\nfinally:\n    print(oct(os.umask(0)), flush=True)\n"
    )
    started = subprocess.run(
        [sys.executable, "-c", script], umask=before, capture_output=True, text=True, timeout=60, check=False
    )
    assert started.stdout.splitlines()[-1] == oct(after), started.stderr
