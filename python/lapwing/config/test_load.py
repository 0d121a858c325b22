"""Layers and problems: what wins, what is refused, and what each problem names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from lapwing.config import Loaded, load, node_json
from lapwing.config.show import as_json, as_toml
from lapwing.errors import ConfigError

FILE = """\
[broker]
shards = 2
drain = "5s"

[streams.readings]
filter = "spectrum/+/readings"
retain_age = "48h"
"""


def loaded(
    folder: Path,
    text: str = FILE,
    environment: Mapping[str, str] | None = None,
    settings: Sequence[str] = (),
    flags: Mapping[str, tuple[str, object]] | None = None,
) -> Loaded:
    """Loads ``text`` as a file under the layers given."""
    file = folder / "lapwing.toml"
    file.write_text(text)
    return load(file, environment=environment or {}, settings=settings, flags=flags)


def test_flags_win_over_environment_over_file(tmp_path: Path) -> None:
    """Does the strongest layer win, key by key, and does each value remember where it came from?"""
    result = loaded(
        tmp_path,
        environment={
            "LAPWING_BROKER__SHARDS": "3",
            "LAPWING_STREAMS__READINGS__PARTITIONS": "4",
            "OTHER__X": "1",
        },
        settings=["broker.shards=4", "limits.topic_levels_max=8"],
        flags={"broker.listen": ("--listen", ["tcp://127.0.0.1:0"])},
    )
    config = result.config
    assert (config.broker.shards, config.broker.drain, config.broker.listen) == (
        4,
        5_000,
        ["tcp://127.0.0.1:0"],
    )
    assert (config.streams["readings"].partitions, config.streams["readings"].retain_age) == (4, 172_800_000)
    assert result.place(("broker", "shards")) == "flag --set broker.shards=4"
    assert result.place(("broker", "listen")) == "flag --listen"
    assert result.place(("broker", "drain")) == f"{tmp_path}/lapwing.toml:3"
    assert result.place(("streams", "readings", "partitions")) == "environment LAPWING_STREAMS__READINGS__PARTITIONS"
    assert result.place(("broker", "http")) == "default"


def test_a_key_of_a_flag_may_have_quotes() -> None:
    """Is a name in quotes one part of the key, as in a file, whatever is in it?"""
    settings = ['hold."alarms/fire".expiry=2h', "topics.'a.b=c/#'.durability=memory", "groups.alarm-*.workers=2"]
    config = load(settings=settings, environment={}).config
    assert (list(config.hold), list(config.topics), list(config.groups)) == (["alarms/fire"], ["a.b=c/#"], ["alarm-*"])
    for wrong in ('hold."alarms.expiry=2h', 'hold."".expiry=2h', 'hold."a"b.expiry=2h', "hold. .expiry=2h"):
        with pytest.raises(ConfigError, match="is not KEY=VALUE"):
            load(settings=[wrong], environment={})


def values(shown: Loaded) -> dict[str, object]:
    """Every value as it is shown: a path is a whole one there."""
    return {key: each["value"] for key, each in json.loads(as_json(shown)).items()}


def test_shown_toml_is_read_back(tmp_path: Path) -> None:
    """Is the configuration the same after ``config show`` and ``--config``?"""
    first = loaded(tmp_path)
    second = loaded(tmp_path, as_toml(first))
    assert values(second) == values(first)
    assert '"broker.shards": {"value": 2' in as_json(first).replace("\n    ", "").replace("{ ", "{")


TLS = "certificate = 'c'\nkey = 'k'\n"
LISTENER_PROBLEMS: list[tuple[str, dict[str, str], list[str], str]] = [
    ("[[listeners]]\nurl = 'tls://h:1'\nkey = 'k'", {}, [], "certificate is missing: tls needs certificate and key"),
    ("[[listeners]]\nurl = 'wss://h:1'\ncertificate = 'c'", {}, [], "key is missing: wss needs certificate and key"),
    (
        "[[listeners]]\nurl = 'ws://127.0.0.1:1'\ncertificate = 'c'",
        {},
        [],
        "certificate has no meaning for ws: remove it",
    ),
    ("[[listeners]]\nurl = 'tcp://127.0.0.1:1'\npath = '/x'", {}, [], "path has no meaning for tcp"),
    ("[[listeners]]\nurl = 'tcp://127.0.0.1:1'\nmode = '0660'", {}, [], "mode has no meaning for tcp"),
    ("[[listeners]]\nurl = 'unix:///x'\nproxy_protocol_from = ['::1']", {}, [], "proxy_protocol_from has no meaning"),
    (
        "[[listeners]]\nurl = 'unix:///x'\nmode = 'rw'",
        {},
        [],
        'listeners[0].mode = "rw" (FILE:3): must be permission bits',
    ),
    ("[[listeners]]\nurl = 'tls://h:1'\nclient_certificate = 'required'\n" + TLS, {}, [], "client_ca is missing: name"),
    (
        "[[listeners]]\nurl = 'tls://h:1'\nclient_ca = 'a'\n" + TLS,
        {},
        [],
        "client_ca is set but no certificate is asked",
    ),
    ("[[listeners]]\nurl = 'tls://h:1'\ncrl = 'a'\n" + TLS, {}, [], "crl is set but no certificate is asked"),
    ("[[listeners]]\nurl = 'tcp://127.0.0.1:1'\ncrl = ['a']", {}, [], "crl has no meaning for tcp"),
    ("[[listeners]]\nurl = 'tls://h:1'\nidentity = 'certificate-cn'\n" + TLS, {}, [], "needs client_certificate = "),
    (
        "[[listeners]]\nurl = 'tls://h:1'\nidentity = 'dns'\n" + TLS,
        {},
        [],
        'listeners[0].identity = "dns" (FILE:3): must be',
    ),
    (
        "[[listeners]]\nurl = 'unix:///x'\n[[listeners]]\nurl = 'ws://127.0.0.1:1'\norigins = ['dash']",
        {},
        [],
        'listeners[1].origins[0] = "dash" (FILE:5): must be an origin without a path',
    ),
    ("[[listeners]]\nurl = 'ws://127.0.0.1:1'\npath = 'x'", {}, [], 'must begin with "/"'),
    ("[broker]\ndata = ''", {}, [], 'broker.data = "" (FILE:2): must name a folder'),
    ("[[listeners]]\nurl = 'tcp://127.0.0.1:1'\nproxy_protocol_from = ['x/8']", {}, [], "must be a network such as"),
    ("[[listeners]]\nurl = 'tcp://127.0.0.1:1'\nsertificate = 'x'", {}, [], "did you mean listeners[0].certificate?"),
    ("[[listeners]]\nmode = '0660'", {}, [], "listeners[0].url is missing (FILE:1): add url = ... there"),
    (
        "[[listeners]]\nurl = 'tcp://0.0.0.0:1'",
        {},
        [],
        'listeners[0].url = "tcp://0.0.0.0:1" (FILE:2): no open listener',
    ),
    ("[[listeners]]\nurl = 'unix:///x'\nanonymous = false", {}, [], "nobody could connect: anonymous is false"),
]
PROBLEMS = [
    # text of the file, environment, --set; what the one line must be (FILE stands for the file's name)
    ("[broker]\nshard = 2", {}, [], "unknown key broker.shard (FILE:2): did you mean broker.shards?"),
    ("[borker]\nshards = 2", {}, [], "unknown key borker (FILE:1): did you mean broker?"),
    ("shards = 2", {}, [], "unknown key shards (FILE:1): did you mean broker.shards?"),
    ("[broker]\nshards = 'two'", {}, [], 'broker.shards = "two" (FILE:2): must be a valid integer'),
    ("[broker]\nshards = 65", {}, [], "broker.shards = 65 (FILE:2): must be less than or equal to 64"),
    ('[limits]\npacket_bytes_max = "256MiB"', {}, [], "must be less than or equal to 255MiB"),
    ('[[listeners]]\nurl = "tcp://127.0.0.1:0"\npacket_bytes_max = 1', {}, [], "must be greater than or equal to 64B"),
    ('[limits]\nconnect_timeout = "0s"', {}, [], "must be greater than or equal to 1ms"),
    ("[broker]\ndrain = 10", {}, [], "broker.drain = 10 (FILE:2): must be a duration with its unit"),
    ('[limits]\npacket_bytes_max = "1M"', {}, [], 'limits.packet_bytes_max = "1M" (FILE:2): must be a size'),
    ("[limits]\ntopic_levels_max = 0", {}, [], "limits.topic_levels_max = 0 (FILE:2): must be greater"),
    (
        "[limits]\noutput_high_bytes = '9MiB'",
        {},
        [],
        "limits.output_high_bytes = 9MiB (FILE:2): is above limits.output_bytes_max = 8MiB",
    ),
    ("[streams.r]\nkey = 'topic'", {}, [], "streams.r.filter is missing (FILE:1): add filter = ... there"),
    (
        "[streams.r]\nfilter = 'a/#/b'",
        {},
        [],
        'streams.r.filter = "a/#/b" (FILE:2): is not a topic filter: # must be the whole last',
    ),
    ("[streams.r]\nfilter = 'a/b+'", {}, [], "is not a topic filter: + must be a whole level, as in a/+/b"),
    ("[streams.r]\nfilter = '$share/g/a'", {}, [], "must be a plain topic filter"),
    (
        "[topics.'a/#/b']\ndurability = 'disk'",
        {},
        [],
        "topics.a/#/b: bad name (FILE:1): is not a topic filter: # must be the whole last",
    ),
    ("[topics.'a/#']\ndurability = 'tape'", {}, [], 'topics.a/#.durability = "tape" (FILE:2): must be'),
    ("[topics.'a/#']", {}, [], "says nothing: set durability, message_expiry_default or message_expiry_max"),
    (
        "[topics.'a/#']\nmessage_expiry_max = 5",
        {},
        [],
        "topics.a/#.message_expiry_max = 5 (FILE:2): must be a duration with its unit",
    ),
    (
        "[limits]\nmessage_expiry_default = '2h'\nmessage_expiry_max = '1h'",
        {},
        [],
        "limits.message_expiry_default = 2h (FILE:2): is above limits.message_expiry_max = 1h",
    ),
    (
        "[broker]\ndurability = 'memory'\n[topics.'a/#']\ndurability = 'disk'",
        {},
        [],
        'topics.a/#.durability = "disk" (FILE:4): broker.durability is "memory": set that',
    ),
    ("[streams.r]\nfilter = ''", {}, [], "is not a topic filter: it is empty"),
    ("[hold.'$SYS/#']", {}, [], "hold.$SYS/#: bad name (FILE:1): must be a topic filter without $"),
    ("[hold.'a/#/b']", {}, [], "hold.a/#/b: bad name (FILE:1): is not a topic filter: # must be the whole last"),
    ("[hold.'a/#']\nmessages = 0", {}, [], "hold.a/#.messages = 0 (FILE:2): must be greater"),
    ("[hold.'a/#']\nexpiry = 5", {}, [], "hold.a/#.expiry = 5 (FILE:2): must be a duration with its unit"),
    ("[hold.'a/#']\noverflow = 'block'", {}, [], "must be 'drop-oldest' or 'drop-newest'"),
    (
        "[broker]\ndurability = 'memory'\n[hold.'a/#']\ndurability = 'disk'",
        {},
        [],
        'hold.a/#.durability = "disk" (FILE:4): broker.durability is "memory": set that',
    ),
    ("[streams.'a/b']\nfilter = 'x'", {}, [], "streams.a/b: bad name (FILE:1): use 1 to 64 of letters"),
    ("[streams.r]\nfilter = 'a'\nkey = 'device'", {}, [], "must be 'client' or 'topic'"),
    ("streams.r = 3", {}, [], "streams.r = 3 (FILE:1): "),
    (
        "[broker]\nlisten = ['tcp://127.0.0.1:1', 'tcp://0.0.0.0:2']",
        {},
        [],
        'broker.listen[1] = "tcp://0.0.0.0:2" (FI',
    ),
    (
        "[broker]\nlisten = 'ws://10.0.0.1:2'",
        {},
        [],
        "no open listener beyond loopback without authentication",
    ),
    ("[broker]\nlisten = 'udp://127.0.0.1:2'", {}, [], "must be a URL of the form"),
    ("[broker]\nlisten = []", {}, [], "broker.listen = [] (FILE:2): name an address, or add a [[listeners]] table"),
    ("[broker]\nlisten = 'tls://127.0.0.1:2'", {}, [], "write it as a [[listeners]] table: TLS needs certificate"),
    ("[broker]\nlisten = 'unix://x.sock'", {}, [], "must name the whole path of the socket"),
    ("[broker]\nlisten = 'tcp://127.0.0.1:2/x'", {}, [], "only ws and wss have a path"),
    *LISTENER_PROBLEMS,
    ("[broker]\nhttp = '0.0.0.0:80'", {}, [], "no HTTP beyond loopback without users"),
    ("[broker]\nhttp = '127.0.0.1'", {}, [], "must be HOST:PORT"),
    ("[broker]\nhttp = '127.0.0.1:99999'", {}, [], "must be HOST:PORT"),
    ('[broker]\ndata = "a\\u0000b"', {}, [], "must be a path without U+0000"),
    ('[auth.jwt]\nkey_files = "a\\u0000b"', {}, [], "must be a path without U+0000"),
    ("[groups.g]\nparameters = { window = true }", {}, [], "parameters.window = true (FILE:2): must be a number"),
    ("[broker\n", {}, [], "not valid TOML: "),
    ("a = 1\na = 2", {}, [], "(FILE:2): correct this line"),
    (
        "",
        {"LAPWING_BROKER__SHARDS": "x"},
        [],
        'broker.shards = "x" (environment LAPWING_BROKER__SHARDS): must be',
    ),
    (
        "",
        {"LAPWING_BROKER__SHRADS": "1"},
        [],
        "unknown key broker.shrads (environment LAPWING_BROKER__SHRADS): did",
    ),
    ("", {"LAPWING_BROKER__LISTEN": "[1"}, [], "'[1' is not a TOML list or table"),
    ("", {}, ["broker.shards"], "--set 'broker.shards' is not KEY=VALUE: write --set broker.shards=2"),
    ("", {}, ["broker.shards=-1"], 'broker.shards = "-1" (flag --set broker.shards=-1): must be greater'),
    ("", {}, ["=1"], "is not KEY=VALUE"),
    (
        "",
        {},
        ["nothing.at.all=1"],
        "unknown key nothing (flag --set nothing.at.all=1): remove it; known here: audit, auth, bridge, broker",
    ),
    ("", {}, ["broker=1"], 'broker = "1" (flag --set broker=1): '),
]


@pytest.mark.parametrize(("text", "environment", "settings", "line"), PROBLEMS)
def test_problem(tmp_path: Path, text: str, environment: dict[str, str], settings: list[str], line: str) -> None:
    """Is there exactly one line, and does it name key, value, place and remedy?"""
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text, environment, settings)
    assert len(caught.value.lines()) == 1
    assert line in caught.value.lines()[0].replace(f"{tmp_path}/lapwing.toml", "FILE")
    assert caught.value.exit_code == 2


def test_every_problem_is_reported(tmp_path: Path) -> None:
    """Are problems of all layers reported at once, rather than one per attempt?"""
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, "[broker]\nshard = 1\npin = 'x'", {"LAPWING_HTTP__READS_MAX": "0"}, ["limits.x=1"])
    assert len(caught.value.lines()) == 4


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "cannot read the configuration file: No such file or directory"),
        (b"a = '\xff'", "the file is not UTF-8 (FILE:1)"),
        (b"#" * (1 << 21), "the configuration file is larger than"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, line: str) -> None:
    """Does a file that is no configuration at all name itself and the remedy?"""
    file = tmp_path / "lapwing.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(file, environment={})
    assert line in str(caught.value).replace(str(file), "FILE")


@pytest.mark.parametrize("url", ["tcp://127.0.0.1:0", "tcp://127.9.9.9:1", "tcp://[::1]:1883", "tcp://localhost:1883"])
def test_loopback_is_accepted(tmp_path: Path, url: str) -> None:
    """Is every address of loopback accepted as it was written?"""
    assert loaded(tmp_path, f"[broker]\nlisten = '{url}'").config.broker.listen == [url]


def test_listeners_take_the_place_of_the_default(tmp_path: Path) -> None:
    """Does the default of `listen` go where there are listeners, and what was said stay?"""
    table = "[[listeners]]\nurl = 'mqtts://127.0.0.1:1'\nanonymous = true\n" + TLS
    alone, beside = (
        loaded(tmp_path, table).config,
        loaded(tmp_path, "[broker]\nlisten='tcp://[::1]:2'\n" + table).config,
    )
    assert (alone.broker.listen, beside.broker.listen) == ([], ["tcp://[::1]:2"])
    assert json.loads(node_json(alone))["listeners"][0]["url"] == "tls://127.0.0.1:1"
    assert loaded(tmp_path).config.broker.listen == ["tcp://127.0.0.1:1883"]


def test_shown_listeners_are_read_back(tmp_path: Path) -> None:
    """Is the configuration the same after ``config show`` and ``--config``, and has each key its place?"""
    text = "[[listeners]]\nurl = 'unix:///x'\n[[listeners]]\nurl = 'ws://127.0.0.1:1'\norigins = ['*']\n"
    first = loaded(tmp_path, text + "packet_bytes_max = '2KiB'")
    shown = as_toml(first)
    assert shown.count("[[listeners]]") == 2
    (line,) = [line for line in shown.splitlines() if line.startswith('packet_bytes_max = "2KiB"')]
    assert line.endswith("lapwing.toml:6")
    assert values(loaded(tmp_path, shown)) == values(first)


@pytest.mark.parametrize("off", ["off", ""])
def test_http_off(tmp_path: Path, off: str) -> None:
    """Does "off" mean no HTTP, an empty variable of the environment too, and is it shown as it is written?"""
    result = loaded(tmp_path, "", {"LAPWING_BROKER__HTTP": off}, [])
    assert result.config.broker.http is None
    assert 'http = "off"' in as_toml(result)
