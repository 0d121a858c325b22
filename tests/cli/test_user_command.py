"""`lapwing user`: from a script and at a terminal; what it keeps, and what it never shows."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from commands import call, lapwing, one_error, rows
from shell_terminal import Terminal

from lapwing._core import Authority
from lapwing.auth import read_users
from lapwing.config import AuthSection, Config, access_json

PASSWORD = "correct horse"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return tmp_path / "users.toml"


def add(users: Path, name: str, *options: str, password: str = PASSWORD) -> None:
    result = call("user", "add", name, "--password-stdin", "--users", str(users), *options, stdin=password.encode())
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def authority(users: Path) -> Authority:
    return Authority(access_json(Config(auth=AuthSection(users=users))))


def test_add_and_replace(users: Path) -> None:
    """Is the password that was given the one that counts, whatever the line's end?"""
    add(users, "alice", password=f"{PASSWORD}\r\n")
    assert stat.S_IMODE(users.stat().st_mode) == 0o600
    assert authority(users).check_password("alice", PASSWORD.encode()) == "alice"
    assert PASSWORD not in users.read_text()
    result = call("user", "add", "alice", "--password-stdin", "--users", str(users), stdin=b"other")
    assert "there is a user 'alice' already: --replace" in one_error(result)
    assert authority(users).check_password("alice", b"other") is None
    add(users, "alice", "--replace", password="other")
    assert authority(users).check_password("alice", b"other") == "alice"
    assert authority(users).check_password("alice", PASSWORD.encode()) is None


def test_a_token_is_shown_once_and_counts(users: Path) -> None:
    add(users, "spark")
    made = call("user", "token", "spark", "--name", "cluster", "--users", str(users))
    token = made.stdout.strip()
    assert authority(users).check_token(token) == "spark"
    assert token not in users.read_text()
    add(users, "spark", "--replace", password="new")
    assert authority(users).check_token(token) == "spark", "a new password leaves tokens alone"
    again = call("user", "token", "spark", "--name", "cluster", "--users", str(users)).stdout.strip()
    assert authority(users).check_token(token) is None, "one of the same name is replaced"
    assert call("user", "token", "spark", "--name", "cluster", "--revoke", "--users", str(users)).stdout == ""
    assert authority(users).check_token(again) is None
    result = call("user", "token", "spark", "--name", "cluster", "--revoke", "--users", str(users))
    assert "'spark' has no token 'cluster'" in one_error(result)


def test_list_shows_names_and_kinds_and_no_hash(users: Path) -> None:
    add(users, "alice")
    call("user", "add", "sensor-7", "--no-password", "--users", str(users))
    call("user", "add", "spark", "--no-password", "--users", str(users))
    call("user", "token", "spark", "--users", str(users))
    shown = rows(call("user", "list", "--json", "--users", str(users)))
    assert shown == [
        {"name": "alice", "kinds": ["password"], "tokens": []},
        {"name": "sensor-7", "kinds": ["certificate"], "tokens": []},
        {"name": "spark", "kinds": ["token"], "tokens": ["default"]},
    ]
    text = call("user", "list", "--users", str(users)).stdout
    assert [line.split() for line in text.splitlines()] == [
        ["NAME", "KINDS", "TOKENS"],
        ["alice", "password"],
        ["sensor-7", "certificate"],
        ["spark", "token", "default"],
    ]
    digest = read_users(users)["spark"].tokens["default"]
    assert "argon2" not in text + str(shown)
    assert digest not in text + str(shown)


def test_remove(users: Path) -> None:
    add(users, "alice")
    assert lapwing("user", "remove", "alice", "--users", str(users)).returncode == 0
    assert read_users(users) == {}
    assert "there is no user 'alice'" in one_error(lapwing("user", "remove", "alice", "--users", str(users)))


def test_the_file_of_a_configuration(tmp_path: Path, users: Path) -> None:
    """Does --config, the environment or the folder name the file, in this order below --users?"""
    (tmp_path / "lapwing.toml").write_text(f"[auth]\nusers = '{users}'\n")
    call("user", "add", "a", "--no-password", "--config", "lapwing.toml", cwd=tmp_path)
    assert list(read_users(users)) == ["a"]
    call("user", "add", "b", "--no-password", cwd=tmp_path, LAPWING_AUTH__USERS=str(tmp_path / "env.toml"))
    assert list(read_users(tmp_path / "env.toml")) == ["b"]
    (tmp_path / "here").mkdir()
    call("user", "add", "c", "--no-password", cwd=tmp_path / "here")
    assert list(read_users(tmp_path / "here" / "users.toml")) == ["c"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "line", "code"),
    [
        (["add", "alice", "--password-stdin"], b"", "the password is empty", 2),
        (["add", "alice", "--password-stdin"], b"x" * 70_000, "the password is longer than 65535 bytes", 2),
        (["add", "alice", "--password-stdin", "--no-password"], b"x", "exclude each other", 2),
        (["add", "alice"], b"x", "there is no terminal to ask for the password at: pipe it to --password-stdin", 2),
        (["add", "anonymous", "--no-password"], b"", "'anonymous' cannot be a user", 2),
        (["add", "a*", "--no-password"], b"", "'a*' cannot be a user", 2),
        (["add", "alice ", "--no-password"], b"", "'alice ' cannot be a user: it ends with a space", 2),
        (["add", "\u2003alice", "--no-password"], b"", r"'\u2003alice' cannot be a user", 2),
        (["add", "al\u3164ice", "--no-password"], b"", r"'al\u3164ice' cannot be a user: it has a character", 2),
        (["token", "nobody"], b"", "there is no user 'nobody'", 1),
        (["token", "nobody", "--name", "a b"], b"", "'a b' cannot be a token", 2),
        (["list"], b"", "cannot read the users file", 2),
        (["add", "alice", "--password", "x"], b"", "No such option", 2),
    ],
)
def test_what_is_wrong(users: Path, arguments: list[str], stdin: bytes, line: str, code: int) -> None:
    result = call("user", *arguments, "--users", str(users), stdin=stdin)
    assert line in one_error(result)
    assert result.returncode == code
    assert not users.exists()


def test_names_that_do_not_show_are_told(tmp_path: Path, users: Path) -> None:
    """Written by hand they count as they stand: a start is not refused, and whoever looks sees them."""
    users.write_text('[users."alice "]\n\n[users."al\u3164ice"]\n\n[users.bob]\n')
    users.chmod(0o600)
    listed = call("user", "list", "--users", str(users)).stdout
    assert "'alice ' " in listed
    assert r"'al\u3164ice' " in listed
    file = tmp_path / "lapwing.toml"
    file.write_text(f'[broker]\nlisten = "tcp://127.0.0.1:0"\nhttp = "off"\n[auth]\nusers = "{users}"\n')
    checked = call("config", "check", str(file), cwd=tmp_path)
    assert checked.returncode == 0
    assert 'has the user "alice ", whose name ends with a space' in checked.stderr
    assert "1 more like it" in checked.stderr
    assert call("user", "remove", "alice ", "--users", str(users)).returncode == 0


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    result = call("user", "add", "a", "--no-password", "--users", str(tmp_path / "none" / "users.toml"))
    assert "cannot write the users file: No such file or directory" in one_error(result)


def test_at_a_terminal_it_asks_twice_and_shows_nothing(tmp_path: Path, users: Path) -> None:
    with Terminal("user", "add", "alice", "--users", str(users), state=tmp_path) as terminal:
        terminal.until_part("Password for alice:")
        terminal.line(PASSWORD)
        terminal.until_part("The same again:")
        terminal.line(PASSWORD)
        assert terminal.end() == 0
        assert PASSWORD not in "\n".join(terminal.screen.text())
    assert authority(users).check_password("alice", PASSWORD.encode()) == "alice"


def test_at_a_terminal_a_typing_error_changes_nothing(tmp_path: Path, users: Path) -> None:
    with Terminal("user", "add", "alice", "--users", str(users), state=tmp_path) as terminal:
        terminal.until_part("Password for alice:")
        terminal.line(PASSWORD)
        terminal.until_part("The same again:")
        terminal.line("correct hose")
        terminal.until_part("the two passwords differ")
        assert terminal.end() == 1
    assert not users.exists()
