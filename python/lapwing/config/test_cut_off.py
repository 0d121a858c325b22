"""Is a file that was cut off anywhere refused, or does it say all that a reload would take over of the whole one?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lapwing.config.access_change import AccessCounts, check_still_closed
from lapwing.config.load import load
from lapwing.config.model import Config
from lapwing.config.reread import Reread
from lapwing.config.restart import RELOADED
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

[topics."#"]
durability = "memory"

[topics."alarms/#"]
durability = "disk"

[groups.alarms]
filters = ["alarms/#"]
queue_messages_max = 5
"""


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


def told(config: Config) -> tuple[object, ...]:
    """What a reload takes over."""
    return tuple(getattr(config, table) for table in RELOADED)


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
        assert told(now) == told(before), WHOLE[:end]
    assert taken == 1, "all but the last line feed"


@pytest.mark.parametrize(
    ("behind", "named"),
    [
        ('\n[[rules]]\nidentity = "bob"', "auth|rules"),
        ('\n[topics."#"]', "groups, topics"),
        ('\n[topics."alarms/#"]', "groups, topics"),
        ("\n[groups.alarms]", "groups"),
        ("queue_messages_max", "groups"),
    ],
)
def test_what_is_meant_is_taken(file: Path, behind: str, named: str) -> None:
    """What is not there any more is named, and with one more line it is taken."""
    reread = read(file)
    beginning = WHOLE[: WHOLE.index(behind)]
    file.write_text(beginning)
    with pytest.raises(ConfigError, match=rf"beginning of the file in force.*lines about .*({named}).*lapwing\.toml"):
        reread.again()
    file.write_text(beginning + "# that is meant\n")
    assert told(reread.again()) != told(reread.in_force)
    reread.taken()
    file.write_text(WHOLE[:10])
    with pytest.raises(ConfigError):
        reread.again()


def test_without_users_and_rules_an_empty_file_ends_no_group(tmp_path: Path) -> None:
    """Nothing that needs a word is lost: it is a beginning as others are."""
    file = tmp_path / "lapwing.toml"
    file.write_text('[groups.alarms]\nfilters = ["alarms/#"]\n')
    reread = read(file)
    file.write_text("")
    with pytest.raises(ConfigError, match="lacks lines about groups"):
        reread.again()


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
