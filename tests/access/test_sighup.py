"""SIGHUP: users and rules are read again, from the users file and from the configuration."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import wire
from peer import Peer
from scenario import PASSWORD

sys.path.append(str(Path(__file__).parent.parent))

from commands import RunningBroker

from lapwing._core import hash_password
from lapwing.auth import User, update_users

CONFIG = """\
[auth]
users = "USERS"

[[rules]]
identity = "alice"
may = ["publish", "subscribe"]
topics = ["TOPIC"]
"""


@pytest.fixture
def configure(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the configuration with rules about a topic."""

    def write(topic: str) -> Path:
        file = tmp_path / "lapwing.toml"
        file.write_text(CONFIG.replace("USERS", str(tmp_path / "users.toml")).replace("TOPIC", topic))
        return file

    return write


def test_users_and_rules_are_read_again(tmp_path: Path, configure: Callable[[str], Path]) -> None:
    """Also the rules that stand in the configuration, and with an error neither, which is told."""
    hashed = hash_password(PASSWORD.encode())
    with update_users(tmp_path / "users.toml") as users:
        users["alice"] = User("alice", hashed)
    with RunningBroker(tmp_path / "data", "--config", str(configure("one"))) as running:
        url = running.wait_until_ready().url
        alice = Peer(url, 5)
        alice.join("a", username="alice", password=PASSWORD)
        assert alice.subscribe_to("one", "two") == b"\0\x87"

        configure("two")
        with update_users(tmp_path / "users.toml") as users:
            users["bob"] = User("bob", hashed)
        running.process.send_signal(signal.SIGHUP)
        wire.until(lambda: alice.subscribe_to("two") == b"\0")
        assert alice.subscribe_to("one") == b"\x87"
        with Peer(url, 5) as bob:
            bob.join("b", username="bob", password=PASSWORD)

        configure("two/#/three")
        running.process.send_signal(signal.SIGHUP)
        wire.until(lambda: any("two/#/three" in line for line in running.errors))
        assert alice.subscribe_to("two") == b"\0", "what was in force stays"
        alice.close()
        assert running.end() == 0


def test_what_waits_for_the_next_start_is_named(tmp_path: Path, configure: Callable[[str], Path]) -> None:
    """In one line, each time, until the file says what it said at the start."""
    with update_users(tmp_path / "users.toml") as users:
        users["alice"] = User("alice", hash_password(PASSWORD.encode()))
    file = configure("one")
    with RunningBroker(tmp_path / "data", "--config", str(file)) as running:
        running.wait_until_ready()
        begun = file.read_text()
        for rest, waits in (
            ("[hooks]\nqueue = 77\n[log]\nlevel = 'notice'\n", ["hooks.queue, log.level"]),
            ("", []),
        ):
            said = len(running.errors)
            file.write_text(begun + rest)
            running.process.send_signal(signal.SIGHUP)
            wire.until(lambda said=said: any("are read again" in line for line in running.errors[said:]))
            if waits:
                wire.until(lambda said=said: any("started again" in line for line in running.errors[said:]))
            named = [line.rstrip().rpartition(": ")[2] for line in running.errors[said:] if "started again" in line]
            assert named == waits
        assert running.end() == 0


@pytest.mark.parametrize("text", ["", "[auth]\nusers = 'USERS'\n"], ids=["empty", "cut off before its rules"])
def test_a_file_that_lost_its_rules_opens_nothing(text: str, tmp_path: Path, configure: Callable[[str], Path]) -> None:
    """As one that is just being written; with a word that it is meant, it does."""
    users_file = tmp_path / "users.toml"
    with update_users(users_file) as users:
        users["alice"] = User("alice", hash_password(PASSWORD.encode()))
    file = configure("one")
    with RunningBroker(tmp_path / "data", "--config", str(file)) as running:
        url = running.wait_until_ready().url
        with Peer(url, 5) as alice:
            alice.join("a", username="alice", password=PASSWORD)
            whole = file.read_text()
            file.write_text(text.replace("USERS", str(users_file)))
            running.process.send_signal(signal.SIGHUP)
            wire.until(lambda: any("= true in [auth]" in line for line in running.errors))
            assert alice.subscribe_to("one", "two") == b"\0\x87", "what was in force stays"

            file.write_text(whole.split("[[rules]]")[0].replace("[auth]", "[auth]\nno_rules = true"))
            running.process.send_signal(signal.SIGHUP)
            wire.until(lambda: alice.subscribe_to("two") == b"\0")
            told = "1 user, 1 rule before, 1 user, 0 rules now"
            wire.until(lambda: any(told in line for line in running.errors))
        assert running.end() == 0
