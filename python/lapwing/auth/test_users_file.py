"""The users file: there and back, never half, never readable to others, and no secret in an error."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from lapwing.auth import User, new_token, parse_user_name, read_users, update_users, users_file
from lapwing.errors import ConfigError

HASH = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$c2VjcmV0"
NAMES = ["alice", 'quo"te', "back\\slash", "dot.ted", "ü mlaut", "a/b+#", "[x]", "'"]


def test_there_and_back(tmp_path: Path) -> None:
    """Does every name that is allowed survive the file?"""
    file = tmp_path / "users.toml"
    with update_users(file) as users:
        for name in NAMES:
            users[name] = User(name, HASH, {"t.1": "0" * 64})
        users["sensor"] = User("sensor")
    assert read_users(file) == {
        **{name: User(name, HASH, {"t.1": "0" * 64}) for name in NAMES},
        "sensor": User("sensor"),
    }
    assert list(read_users(file)) == [*NAMES, "sensor"]


def test_others_cannot_read_it(tmp_path: Path) -> None:
    """Is it 0600 from its first byte, whatever the umask, and also when it was not before?"""
    file = tmp_path / "users.toml"
    before = os.umask(0)
    try:
        with update_users(file) as users:
            users["a"] = User("a")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.chmod(0o644)
        with update_users(file) as users:
            users["b"] = User("b")
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["users.toml"]


def test_a_failed_change_leaves_it_alone(tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    with update_users(file) as users:
        users["a"] = User("a")

    def fail() -> None:
        with update_users(file) as users:
            users["b"] = User("b")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(read_users(file)) == ["a"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "users.toml"
    link.symlink_to(tmp_path / "there" / "real.toml")
    with update_users(link) as users:
        users["a"] = User("a")
    assert link.is_symlink()
    assert list(read_users(tmp_path / "there" / "real.toml")) == ["a"]


def test_what_is_no_file_is_left_as_it_is(tmp_path: Path) -> None:
    """A device would be replaced by a file, for everybody; who reads a pipe waits for ever."""
    os.mkfifo(tmp_path / "users.toml")
    with pytest.raises(ConfigError, match="is no file"), update_users(tmp_path / "users.toml") as users:
        users["a"] = User("a", None, {})
    assert (tmp_path / "users.toml").is_fifo()


def test_two_at_a_time_wait_for_each_other(tmp_path: Path) -> None:
    """Is no change lost when many happen at once?"""
    file = tmp_path / "users.toml"

    def add(number: int) -> None:
        with update_users(file) as users:
            users[f"u{number}"] = User(f"u{number}")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_users(file)) == 8


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[users.a", "the users file is not valid TOML"),
        ("x = 1", "x: "),
        ("[users.a]\npasswort = 's3cret'", "users.a.passwort: "),
        ("[users.a]\n\npassword = 's3cret'", "users.a.password: "),
        ("[users.a]\npassword = 5", "users.a.password: "),
        ("[users.a]\ntokens = ['s3cret']", "users.a.tokens: "),
        ("[users.anonymous]", "users.anonymous: "),
        ("[users.'a*']", "users.a*: "),
        ('[users."a\\n"]', "users.a\\n: "),
        ("[users.a]\ntokens = {'x y' = 's3cret'}", "users.a.tokens: "),
    ],
)
def test_what_is_wrong_is_named_and_no_secret(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "users.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_users(file)
    (shown,) = caught.value.lines()
    assert shown.startswith(line)
    assert f"{file}:" in shown
    assert "s3cret" not in shown


def test_the_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    file.write_text("[users.a]\n\n[users.b]\npassword = 'x'\n")
    with pytest.raises(ConfigError, match=f"{file}:4"):
        read_users(file)


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lapwing user add"):
        read_users(tmp_path / "users.toml")


def test_names() -> None:
    for name in ["", "anonymous", "a*", "a\n", "a\0", "x" * 257]:
        with pytest.raises(ValueError, match="name"):
            parse_user_name(name)


def test_a_user_shows_no_secret() -> None:
    user = User("a", HASH, {"t": "f" * 64})
    assert repr(user) == "User(name='a')"
    assert user.kinds == ["password", "token"]
    assert User("a").kinds == ["certificate"]


def test_tokens_are_new_and_long() -> None:
    tokens = {new_token() for _ in range(10)}
    assert len(tokens) == 10
    assert all(token.startswith("lapwing_") and len(token) >= 50 and len(digest) == 64 for token, digest in tokens)


def test_a_file_that_was_cut_off_is_no_file(tmp_path: Path) -> None:
    """Written by the command: at each byte. What is behind its last line counts, too: somebody may have added it."""
    file = tmp_path / "users.toml"
    with update_users(file) as users:
        users["alice"] = User("alice", "$argon2id$x")
        users["bob"] = User("bob", None, {"laptop": "0" * 64})
    whole = file.read_text()
    head = len(whole) - len(whole.split("\n", 1)[1])
    for end in range(head, len(whole) - 1):
        file.write_text(whole[:end])
        with pytest.raises(ConfigError, match=r"users\.toml"):
            read_users(file)
    more = '\n[users."carol"]\npassword = "$argon2id$y"\n'
    for text in (whole, whole.replace("\n", "\r\n"), "\ufeff" + whole, whole + more):
        file.write_bytes(text.encode())
        assert list(read_users(file))[:2] == ["alice", "bob"]
    assert list(read_users(file)) == ["alice", "bob", "carol"]


@pytest.mark.parametrize("text", ["\0" * 64, "a = " + "[" * 100_000, '[users."a"]\n[users."a"]\n'])
def test_whatever_lies_there_is_one_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "users.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"users\.toml"):
        read_users(file)


def test_a_link_to_itself_is_an_error_and_can_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    file.symlink_to(file)
    with pytest.raises(ConfigError, match=r"users\.toml"):
        read_users(file)
    with update_users(file) as users:
        users["alice"] = User("alice")
    assert list(read_users(file)) == ["alice"]


def test_a_large_file_is_told_with_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is it said to be too large, by how much and what to do, as `lapwingd` says it?"""
    monkeypatch.setattr(users_file, "BYTES_MAX", 2)
    file = tmp_path / "users.toml"
    file.write_text("# u")
    with pytest.raises(ConfigError) as raised:
        read_users(file)
    assert str(raised.value) == (
        f"the users file has 3 bytes, and 2 is the most ({file}): check that this is the right file, or take users that"
        " nobody needs out of it"
    )
