"""Is a file that was cut off anywhere refused, or does it permit nothing that the whole one does not?"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lapwing._core import Authority
from lapwing.config.access_change import AccessCounts, check_still_closed
from lapwing.config.load import load
from lapwing.config.model import Config
from lapwing.config.reread import Reread
from lapwing.errors import ConfigError

WHOLE = """\
[auth]
users = "users.toml"

[auth.jwt]
algorithms = ["RS256"]
jwks_file = "jwks.json"
issuer = "https://issuer.example"
audience = "broker"

[[rules]]
identity = "*"
may = ["publish", "subscribe"]
topics = ["open/#"]

[[rules]]
identity = "alice"
may = ["connect"]
client_ids = ["alice-*"]

[[rules]]
identity = "*"
may = ["publish", "subscribe"]
topics = ["open/secret/#", "open/more/#"]
effect = "deny"

[[rules]]
identity = "bob"
may = ["publish"]
topics = ["bob"]
"""
BEHIND_BOB = WHOLE.index('\n[[rules]]\nidentity = "bob"')
ASKED = [
    (name, right, what)
    for name in ("alice", "bob", None)
    for right, what in [
        *((right, topic) for right in ("publish", "subscribe") for topic in ("open/a", "open/secret/x", "bob", "else")),
        ("connect", "alice-1"),
        ("connect", "c"),
        ("stream", "s"),
        ("admin", "*"),
    ]
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "lapwing.toml").write_text(WHOLE)
    return tmp_path / "lapwing.toml"


def read(file: Path) -> Reread:
    return Reread(file, lambda: load(file, environment={}))


def counted(config: Config) -> AccessCounts:
    """Without the files that it names."""
    return AccessCounts(
        2 if config.auth.users else None, len(config.rules), ("tokens",) if config.auth.jwt.is_on else ()
    )


def permitted(config: Config) -> set[tuple[str | None, str, str]]:
    authority = Authority(json.dumps({"auth": {}, "rules": [rule.model_dump() for rule in config.rules]}))
    return {asked for asked in ASKED if authority.may(*asked)}


def test_every_beginning(file: Path) -> None:
    reread = read(file)
    before, taken = reread.in_force, 0
    for end in range(len(WHOLE)):
        file.write_text(WHOLE[:end])
        try:
            now = reread.again()
            check_still_closed(counted(before), counted(now), now.auth)
        except ConfigError:
            continue
        taken += 1
        assert permitted(now) <= permitted(before), WHOLE[:end]
        assert now.auth == before.auth, WHOLE[:end]
    assert 0 < taken < 10, "the last rule may go"


def test_what_is_meant_is_taken(file: Path) -> None:
    """The last rule taken out; one that forbids, with another line; and a beginning of what was there before that."""
    reread = read(file)
    file.write_text(WHOLE[:BEHIND_BOB])
    assert len(reread.again().rules) == 3
    reread.taken()
    two = WHOLE[: WHOLE.index('\n[[rules]]\nidentity = "*"', WHOLE.index("alice-"))]
    file.write_text(two)
    with pytest.raises(ConfigError, match=r"beginning of the file in force.*lapwing\.toml"):
        reread.again()
    file.write_text(two + "# nothing is forbidden\n")
    assert len(reread.again().rules) == 2
    reread.taken()
    assert len(reread.in_force.rules) == 2


def test_a_pipe_is_not_opened(file: Path) -> None:
    """Nobody writes to it: who opened it would wait for ever, and hear no signal meanwhile."""
    reread = read(file)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ConfigError, match=r"is a pipe.*lapwing\.toml"):
        reread.again()


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "1" * 5_000, "\0" * 100, "\ufeff\ufeff"])
def test_whatever_lies_there_is_one_error(file: Path, text: str) -> None:
    reread = read(file)
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"lapwing\.toml"):
        reread.again()


def test_what_is_no_file_of_this_size(file: Path) -> None:
    reread = read(file)
    with file.open("wb") as sparse:
        sparse.truncate(1 << 30)
    with pytest.raises(ConfigError, match="larger than"):
        reread.again()
    file.unlink()
    with pytest.raises(ConfigError, match="cannot read"):
        reread.again()
    file.mkdir()
    with pytest.raises(ConfigError, match="cannot read"):
        reread.again()
    file.rmdir()
    file.symlink_to(file)
    with pytest.raises(ConfigError, match="cannot read"):
        reread.again()
