"""Is all that is wrong told at once, and nothing that only comes of a value which is wrong already?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config.load import load
from lapwing.config.model import Config
from lapwing.errors import ConfigError

TLS = "[[listeners]]\nurl = 'tls://127.0.0.1:1'\n"


def told(tmp_path: Path, text: str, *settings: str) -> list[str]:
    file = tmp_path / "lapwing.toml"
    file.write_text(text)
    try:
        load(file, environment={}, settings=settings)
    except ConfigError as error:
        return error.lines()
    return []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TLS, ["certificate is missing", "key is missing"]),
        (
            "[[listeners]]\nurl = 'tcp://127.0.0.1:1'\ncertificate = 'c'\npath = '/x'",
            ["certificate has no meaning for tcp", "path has no meaning for tcp"],
        ),
        (
            "[auth.jwt]\nsecret_file = 's'\njwks_url = 'http://h/k'",
            ["keys come from one place", "name the algorithms", "is not encrypted"],
        ),
        (
            "[bridge.kafka]\nusername = 'u'\ncertificate = 'c'",
            ["give username", "are for TLS", "belong together"],
        ),
        (
            "[groups.g]\nuse = 'a:B'\nstrategy = 'lef'\nexpired = 'dead-letter'",
            ["strategy or use", "needs dead_letter_topic"],
        ),
        # One stage does not hide the next: keys, values, what is asked of the whole, limits against each other.
        (
            "[broker]\nshrads = 1\nhttp = '0.0.0.0:1'\ndurability = 'memory'\n[topics.'a/#']\ndurability = 'disk'\n"
            "[limits]\noutput_high_bytes = '9MiB'",
            [
                "unknown key broker.shrads",
                "no HTTP beyond loopback",
                "topics.a/#.durability",
                "output_high_bytes = 9MiB",
            ],
        ),
        # Of a table with a wrong value nothing is said that may come of it.
        (f"[limits]\nnonsense = 1\n{TLS}key = 3\n", ["limits.nonsense", "listeners[0].key = 3"]),
        ("[sys]\nx = 1\n[broker]\nlisten = 'tcp://0.0.0.0:1'", ["unknown key sys.x", "no open listener"]),
    ],
)
def test_all_at_once(tmp_path: Path, text: str, said: list[str]) -> None:
    lines = told(tmp_path, text)
    assert len(lines) == len(said), lines
    assert all(any(word in line for line in lines) for word in said), lines


@pytest.mark.parametrize(
    "text",
    [
        "[auth]\nuser = 'u.toml'\n[broker]\nlisten = 'tcp://0.0.0.0:1'",
        "[hook]\nuse = 'a:B'\n[broker]\nlisten = 'tcp://0.0.0.0:1'",
        "[limits]\npacket_byte_max = '2MiB'\nconnect_bytes_max = '2MiB'",
        f"{TLS}certificat = 'c'\nkey = 'k'",
        "[[rules]]\nidentity = 'a'\nmay = ['publish']\ntopics = ['a/#/b']",
        "[[listeners]]\nurll = 'tcp://0.0.0.0:1'",
        "[http]\ncertificat = 'c'\n[auth]\nusers = 'u'\n[broker]\nhttp = '0.0.0.0:1'",
        "[streams.s]\nsegment_bytes = 1\nfilter = 'x'\nretain_bytes = '1KiB'",
    ],
)
def test_what_only_comes_of_it_is_not_told(tmp_path: Path, text: str) -> None:
    lines = told(tmp_path, text)
    assert len(lines) == 1 or (len(lines) == 2 and "urll" in text), lines


def test_a_layer_is_cut_where_the_value_is(tmp_path: Path) -> None:
    """Does what a file says stay, beside a flag for the same table that is wrong?"""
    lines = told(tmp_path, "[limits]\noutput_high_bytes = '9MiB'", "limits.topic_levels_max=0")
    assert [line.partition(" = ")[0] for line in lines] == ["limits.topic_levels_max", "limits.output_high_bytes"]
    assert Config().limits.topic_levels_max == 64


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # A flag that sets one of its keys hid it, and the start went on without what the file says.
        ("broker = 3", ["broker = 3 (", "must be a table, as in [broker]"]),
        ("limits = [1]", ["limits = [1] (", "must be a table, as in [limits]"]),
        ("[broker]\nshards = true", ["broker.shards = true (", ":2): must be a number"]),
        ("[limits]\nqueue_bytes_max = true", ["limits.queue_bytes_max = true (", "must be a size"]),
        ("[streams]\nx = 3", ["streams.x = 3 (", "must be a table"]),
        ("[streams.x]\nfilter = 'a'\npartitions = false", ["streams.x.partitions = false (", "must be a number"]),
        ("[[listeners]]\nurl = 'unix:///s'\nconnections_max = true", ["listeners[0].connections_max = true (", ":3)"]),
    ],
)
def test_what_is_of_another_kind_is_not_taken(tmp_path: Path, text: str, said: list[str]) -> None:
    [line] = told(tmp_path, text, "broker.data=d", "limits.connections_max=10")
    assert all(part in line for part in said), line


def test_what_is_wrong_beside_another_kind_is_told(tmp_path: Path) -> None:
    lines = told(tmp_path, "broker = 3\nfoo = 1\n[limits]\nqueue_messages_max = -1")
    assert [line.split(" (")[0] for line in lines] == [
        "broker = 3",
        "limits.queue_messages_max = -1",
        "unknown key foo",
    ]
