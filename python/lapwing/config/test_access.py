"""``[auth]`` and ``[[rules]]``: what is refused, how it is named, and what the Rust side gets."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from lapwing._core import Authority, hash_password
from lapwing.auth import User, new_token, update_users
from lapwing.config import Config, Loaded, access_json, load
from lapwing.config.show import as_json, as_toml
from lapwing.errors import ConfigError

RULES = """\
[[rules]]
identity = "device-*"
may = ["publish"]
topics = ["spectrum/%c/readings", "100%%"]

[[rules]]
identity = "spark"
may = ["stream"]
streams = ["read*"]
effect = "allow"

[[rules]]
identity = "*"
may = ["connect", "subscribe"]
client_ids = ["%u", "%u/*"]
topics = ["jobs/#"]
groups = ["team-*"]

[[rules]]
identity = "*"
may = ["subscribe"]
topics = ["alone/#"]
groups = []
"""

SUBSCRIBE = "[[rules]]\nidentity = 'a'\nmay = ['subscribe']\ntopics = ['a']"


def load_text(folder: Path, text: str) -> Config:
    file = folder / "lapwing.toml"
    file.write_text(text)
    return load(file, environment={}).config


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[auth]\nuser = 'x'", "unknown key auth.user (FILE:2): did you mean auth.users?"),
        ("[auth]\ncertificates = 'all'", 'auth.certificates = "all" (FILE:2): must be'),
        ("[[rules]]\nidentity = 'a'", "rules[0].may is missing (FILE:1): add may = ... there"),
        ("[[rules]]\nmay = ['admin']", "rules[0].identity is missing (FILE:1)"),
        ("[[rules]]\nidentity = 'a'\nmay = ['admin']\neffect = 'x'", 'rules[0].effect = "x" (FILE:4): must be'),
        ("[[rules]]\nidentity = 'a'\nmay = ['write']", 'rules[0].may[0] = "write" (FILE:3): must be'),
        ("[[rules]]\nidentity = 'a'\nmay = []", "rules[0].may = [] (FILE:3)"),
        ("[[rules]]\nidentity = ''\nmay = ['admin']", 'rules[0].identity = "" (FILE:2)'),
        ("[[rules]]\nidentity = 'a'\nmay = ['publish']", "give topics with"),
        ("[[rules]]\nidentity = 'a'\nmay = ['admin']\ntopics = ['a']", "give topics with"),
        ("[[rules]]\nidentity = 'a'\nmay = ['stream']", "give streams with"),
        ("[[rules]]\nidentity = 'a'\nmay = ['publish']\ntopics = ['a/#/b']", 'rules[0].topics[0] = "a/#/b" (FILE:4)'),
        ("[[rules]]\nidentity = 'a'\nmay = ['publish']\ntopics = ['%d']", "% stands before c"),
        ("[[rules]]\nidentity = 'a'\nmay = ['publish']\ntopics = ['%c+']", "+ must be a whole level"),
        ("[[rules]]\nidentity = 'anonymous'\nmay = ['publish']\ntopics = ['%u']", "the anonymous have no user name"),
        ("[[rules]]\nidentity = 'a'\nmay = ['stream']\nstreams = ['a b']", "must be the name of a stream"),
        (f"{SUBSCRIBE}\ngroups = ['ok', 'a/b']", 'rules[0].groups[1] = "a/b" (FILE:5): must be the GROUP'),
        (f"{SUBSCRIBE}\ngroups = ['']", 'rules[0].groups[0] = "" (FILE:5): must be the GROUP'),
        (f"{SUBSCRIBE}\ngroups = ['%g']", "% stands before c"),
        (f"{SUBSCRIBE}\ngroups = []\neffect = 'deny'", "forbids nothing"),
        ("[[rules]]\nidentity = 'a'\nmay = ['publish']\ntopics = ['a']\ngroups = ['g']", "give groups with"),
        (
            "[[rules]]\nidentity='a'\nmay=['publish', 'subscribe']\ntopics=['a']\ngroups=['g']\neffect='deny'",
            "knows no publishing",
        ),
        ("[[rules]]\nidentity = 'a'\nmay = ['connect']", "give client_ids with"),
        ("[[rules]]\nidentity = 'a'\nmay = ['admin']\nclient_ids = ['a']", "give client_ids with"),
        ("[[rules]]\nidentity = 'a'\nmay = ['connect']\nclient_ids = ['x', '%c']", 'rules[0].client_ids[1] = "%c"'),
        ("[[rules]]\nidentity = 'anonymous'\nmay = ['connect']\nclient_ids = ['%u']", "no user name"),
        (f"{RULES}\n[[rules]]\nidentity = 'x'\nmay = ['no']", 'rules[4].may[0] = "no" (FILE:27)'),
    ],
)
def test_problem(tmp_path: Path, text: str, line: str) -> None:
    """Is there one line, and does it name key, value, place and remedy?"""
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, text)
    (shown,) = caught.value.lines()
    assert line in shown.replace(str(tmp_path / "lapwing.toml"), "FILE")


def values(shown: Loaded) -> dict[str, object]:
    """Every value as it is shown: a path is a whole one there."""
    return {key: each["value"] for key, each in json.loads(as_json(shown)).items()}


def test_shown_as_it_is_written(tmp_path: Path) -> None:
    """Does ``config show`` print rules that ``--config`` reads back, each line with its place?"""
    file = tmp_path / "lapwing.toml"
    file.write_text(RULES)
    loaded = load(file, environment={})
    again = tmp_path / "again.toml"
    again.write_text(as_toml(loaded))
    assert values(load(again, environment={})) == values(loaded)
    shown_rules = tomllib.loads(as_toml(loaded))["rules"]
    assert shown_rules[1]["streams"] == ["read*"]
    assert ["groups" in rule for rule in shown_rules] == [False, False, True, True], "none is not the same as no key"
    shown = json.loads(as_json(loaded))
    assert shown["rules[1].identity"] == {"value": "spark", "from": f"{file}:7"}
    assert shown["rules[0].effect"]["from"] == "default"


def test_no_secret_is_shown(tmp_path: Path) -> None:
    """Neither ``config show`` nor a repr has anything of what the users file holds."""
    users = tmp_path / "users.toml"
    with update_users(users) as known:
        known["alice"] = User("alice", hash_password(b"pw"), {})
    file = tmp_path / "lapwing.toml"
    file.write_text(f"[auth]\nusers = '{users}'\n")
    loaded = load(file, environment={})
    for shown in (as_toml(loaded), as_json(loaded), repr(loaded.config)):
        assert "argon2id" not in shown
    assert "argon2id" in access_json(loaded.config)


def test_a_missing_users_file_is_an_error(tmp_path: Path) -> None:
    config = load_text(tmp_path, f"[auth]\nusers = '{tmp_path}/none.toml'")
    with pytest.raises(ConfigError, match="cannot read the users file"):
        access_json(config)


def test_authority(tmp_path: Path) -> None:
    """Does the Rust side know the users and rules of the files, and other ones after a reload?"""
    users = tmp_path / "users.toml"
    token, digest = new_token()
    with update_users(users) as known:
        known["alice"] = User("alice", hash_password("pässword".encode()), {})
        known["spark"] = User("spark", None, {"t": digest})
    config = load_text(tmp_path, f"{RULES}\n[auth]\nusers = '{users}'")
    authority = Authority(access_json(config))
    assert authority.has_users()
    assert authority.check_password("alice", "pässword".encode()) == "alice"
    assert authority.check_password("alice", b"password") is None
    assert authority.check_password("spark", token.encode()) == "spark"
    assert authority.check_token(token) == "spark"
    assert authority.check_token(token + "x") is None
    assert authority.may("spark", "stream", "readings")
    assert not authority.may("spark", "stream", "other")
    assert not authority.may(None, "stream", "readings")
    assert not authority.may("device-1", "publish", "spectrum/x/readings"), "no client id here"
    authority.reload(access_json(load_text(tmp_path, "")))
    assert not authority.has_users()
    assert authority.check_token(token) is None
    assert authority.may(None, "admin", "")
    assert not authority.is_permitted(None, "admin", ""), "what HTTP asks: nobody may anything where there are no rules"
    assert "argon2" not in repr(authority)
