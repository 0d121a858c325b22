"""Is every pair of limits that contradict each other refused, at the bound taken, and are both named?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config import load
from lapwing.config.limit_bounds import keys_of
from lapwing.config.limit_pairs import PAIRS, pairs_of
from lapwing.config.problems import show_key
from lapwing.config.show import as_toml
from lapwing.config.test_entrance_pairs import CASES as ENTRANCE_CASES
from lapwing.config.test_memory_pairs import CASES as MEMORY_CASES
from lapwing.config.test_memory_pairs import problems, refused_and_taken
from lapwing.config.test_time_pairs import CASES as TIME_CASES

BRIDGE = '[[bridge.to_kafka]]\nname = "r"\nfilter = "a/#"\ntopic = "t"\n'
CASES = [
    # what is judged; the configuration with %s in its place; a value that is wrong, and the last that is in order; what
    # it is held against
    ("limits.output_high_bytes", "[limits]\noutput_high_bytes = %s", '"9MiB"', '"8MiB"', "output_bytes_max = 8MiB"),
    (
        "limits.filters_per_packet_max",
        "[limits]\nfilters_per_packet_max = %s",
        "9999",
        "10000",
        "subscriptions_per_session_max = 10000",
    ),
    (
        "limits.subscriptions_per_session_max",
        '[limits]\npacket_bytes_max = "64KiB"\nsubscriptions_per_session_max = %s',
        "16385",
        "16384",
        "packet_bytes_max = 64KiB",
    ),
    (
        "limits.groups_per_session_max",
        "[limits]\nsubscriptions_per_session_max = 10\ngroups_per_session_max = %s",
        "11",
        "10",
        "subscriptions_per_session_max = 10",
    ),
    (
        "limits.groups_per_session_max",
        "[dispatch]\ngroups_max = 10\n[limits]\ngroups_per_session_max = %s",
        "11",
        "10",
        "dispatch.groups_max = 10",
    ),
    (
        "limits.groups_per_identity_max",
        "[dispatch]\ngroups_max = 10\n[limits]\ngroups_per_identity_max = %s",
        "11",
        "10",
        "dispatch.groups_max = 10",
    ),
    (
        "limits.sessions_per_identity_max",
        "[limits]\nconnections_max = 10\nsessions_offline_max = 5\nsessions_per_identity_max = %s",
        "16",
        "15",
        "= 15",
    ),
    (
        "limits.retained_messages_per_identity_max",
        "[limits]\nretained_messages_max = 10\nretained_messages_per_identity_max = %s",
        "11",
        "10",
        "retained_messages_max = 10",
    ),
    (
        "limits.retained_bytes_per_identity_max",
        '[limits]\nretained_bytes_max = "2MiB"\nretained_bytes_per_identity_max = %s',
        '"3MiB"',
        '"2MiB"',
        "retained_bytes_max = 2MiB",
    ),
    ("dispatch.groups_max", '[groups.a]\nfilters = ["x", "y"]\n[dispatch]\ngroups_max = %s', "1", "2", "2 groups"),
    (
        "dispatch.members_per_group_max",
        "[limits]\nconnections_max = 10\nsessions_offline_max = 5\n[dispatch]\nmembers_per_group_max = %s",
        "16",
        "15",
        "= 15",
    ),
    (
        "limits.topic_levels_max",
        '[streams.s]\nfilter = "a/+/c/#"\n[limits]\ntopic_levels_max = %s',
        "2",
        "3",
        "3 levels of topics that match streams.s.filter",
    ),
    (
        "limits.topic_bytes_max",
        '[groups.g]\nfilters = ["b", "long/+/#"]\n[limits]\ntopic_bytes_max = %s',
        '"4B"',
        '"5B"',
        "5 bytes of topics that match groups.g.filters",
    ),
    (
        "limits.user_properties_max",
        '[limits]\npacket_bytes_max = "1100B"\nuser_properties_max = %s',
        "221",
        "220",
        "packet_bytes_max = 1100B",
    ),
    (
        "limits.user_properties_max",
        '[envelope]\nstamp = "always"\n[limits]\nuser_properties_max = %s',
        "0",
        "1",
        "envelope.stamp",
    ),
    (
        "limits.bridge_inflight_messages_max",
        "[limits]\ninflight_messages_max = 10\nbridge_inflight_messages_max = %s",
        "11",
        "10",
        "inflight_messages_max = 10",
    ),
    (
        "limits.client_id_bytes_max",
        '[limits]\npacket_bytes_max = "1016B"\nclient_id_bytes_max = %s',
        '"1001B"',
        '"1000B"',
        "packet_bytes_max = 1016B",
    ),
    (
        "limits.topic_bytes_max",
        '[limits]\npacket_bytes_max = "1010B"\ntopic_bytes_max = %s',
        '"1001B"',
        '"1000B"',
        "packet_bytes_max = 1010B",
    ),
    (
        "limits.topic_levels_max",
        '[limits]\ntopic_bytes_max = "99B"\ntopic_levels_max = %s',
        "101",
        "100",
        "topic_bytes_max = 99B",
    ),
    (
        "limits.retained_bytes_max",
        "[limits]\nretained_bytes_max = %s",
        '"1023KiB"',
        '"1MiB"',
        "packet_bytes_max = 1MiB",
    ),
    (
        "limits.retained_bytes_per_identity_max",
        '[limits]\npacket_bytes_max = "2MiB"\nretained_bytes_per_identity_max = %s',
        '"1MiB"',
        '"2MiB"',
        "packet_bytes_max = 2MiB",
    ),
    (
        "limits.topic_bytes_max",
        '[broker]\nresponse_information_prefix = "answers/"\n[limits]\nclient_id_bytes_max = "100B"\n'
        "topic_bytes_max = %s",
        '"107B"',
        '"108B"',
        "the 8 bytes of broker.response_information_prefix",
    ),
    (
        "bridge.mqtt.topic_levels_max",
        f"{BRIDGE}[limits]\ntopic_levels_max = 20\n[bridge.mqtt]\ntopic_levels_max = %s",
        "21",
        "20",
        "limits.topic_levels_max = 20",
    ),
    (
        "bridge.mqtt.user_properties_max",
        f"{BRIDGE}[limits]\nuser_properties_max = 20\n[bridge.mqtt]\nuser_properties_max = %s",
        "21",
        "20",
        "limits.user_properties_max = 20",
    ),
    (
        "bridge.members",
        f"{BRIDGE}[dispatch]\nmembers_per_group_max = 3\n[bridge]\nmembers = %s",
        "4",
        "3",
        "dispatch.members_per_group_max = 3",
    ),
    (
        "dispatch.group_metrics_max",
        "[dispatch]\ngroups_max = 10\ngroup_metrics_max = %s",
        "11",
        "10",
        "dispatch.groups_max = 10",
    ),
    (
        "groups.g.workers",
        "[limits]\ninflight_messages_max = 30\n[groups.g]\nworkers = %s",
        "31",
        "30",
        "limits.inflight_messages_max = 30",
    ),
    (
        "streams.s.retain_bytes",
        '[streams.s]\nfilter = "x"\nretain_bytes = %s',
        '"63MiB"',
        '"64MiB"',
        "streams.s.segment_bytes = 64MiB",
    ),
]


@pytest.mark.parametrize(("key", "text", "wrong", "right", "against"), CASES)
def test_a_pair(tmp_path: Path, key: str, text: str, wrong: str, right: str, against: str) -> None:
    refused_and_taken(tmp_path, key, text, wrong, right, against)


def test_every_pair_has_its_case(tmp_path: Path) -> None:
    """Has each row of the table, and each that a configuration adds to it, its cases?"""
    file = tmp_path / "lapwing.toml"
    listener = '[[listeners]]\nurl = "tcp://127.0.0.1:1"\npacket_bytes_max = "1MiB"\n'
    file.write_text(listener + '[streams.s]\nfilter = "x"\n[hold."a/#"]\n[groups.g]\n[topics.a]\ndurability = "disk"')
    rows = [show_key(keys_of(pair.key, entry)) for pair, entry in pairs_of(load(file, environment={}).config)]
    assert len(rows) > len(PAIRS)
    assert sorted(rows) == sorted(key for key, *_ in [*CASES, *ENTRANCE_CASES, *MEMORY_CASES, *TIME_CASES])


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('[[rules]]\nidentity = "*"\nmay = ["publish"]\ntopics = ["a/%c/c/#", "a/b/c/d"]', "rules[0].topics"),
        (
            '[groups.g]\nrules = [{ topics = ["x"], priority = "bulk" }, { topics = ["a/b/c/d"], priority = "bulk" }]',
            "groups.g.rules[1].topics",
        ),
        ('[groups.g]\ndead_letter_topic = "a/b/c/d"', "groups.g.dead_letter_topic"),
        ('[groups.g]\nmissed_topic = "a/b/c/d"', "groups.g.missed_topic"),
        ('[[listeners]]\nurl = "sn://127.0.0.1:0"\npredefined = [{ id = 1, topic = "a/b/c/d" }]', "[0].predefined"),
        (
            '[[listeners]]\nurl = "sn://127.0.0.1:0"\npublish_without_connect = ["a/+/+/d"]',
            "listeners[0].publish_without_connect",
        ),
        ('[[bridge.to_kafka]]\nname = "r"\nfilter = "a/+/+/d"\ntopic = "t"', "bridge.to_kafka[0].filter"),
    ],
)
def test_wherever_a_topic_is_named(tmp_path: Path, text: str, where: str) -> None:
    """Is each place with topics looked at, and one level more enough for it?"""
    (told,) = problems(tmp_path, f"{text}\n[limits]\ntopic_levels_max = 3")
    assert "the 4 levels of topics that match" in told
    assert where in told
    assert problems(tmp_path, f"{text}\n[limits]\ntopic_levels_max = 4") == []


def test_an_empty_list_of_listeners_takes_no_packets(tmp_path: Path) -> None:
    """Is what the only listener takes what counts, also where the plain ones are none in so many words?"""
    listener = '[broker]\nlisten = []\n[[listeners]]\nurl = "tcp://127.0.0.1:0"\npacket_bytes_max = "1016B"\n'
    told = problems(tmp_path, listener + '[limits]\nclient_id_bytes_max = "1001B"')
    assert any("packet_bytes_max = 1016B" in line for line in told), told


def test_all_are_told_at_once(tmp_path: Path) -> None:
    text = '[limits]\nfilters_per_packet_max = 1024\noutput_high_bytes = "9MiB"\n'
    assert len(problems(tmp_path, text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[limits]\nconnections_max = 10",
        '[limits]\nmemory_high_bytes = "8MiB"',
        '[limits]\npacket_bytes_max = "64MiB"',
        '[limits]\npacket_bytes_max = "1KiB"',
        '[limits]\noutput_bytes_max = "1MiB"\npacket_bytes_max = "64MiB"',
        '[limits]\nqueue_bytes_max = "64KiB"',
        "[limits]\nretained_messages_max = 0\nretained_bytes_max = 0",
        '[limits]\nmemory_max_bytes = "4MiB"\n[groups.g]\n[hold."a/#"]',
        f"{BRIDGE}[limits]\ntopic_levels_max = 20",
        f'{BRIDGE}[bridge.mqtt]\nurl = "tcp://elsewhere:1884"\ntopic_levels_max = 65',
        '[limits]\ntopic_levels_max = 3\n[[rules]]\nidentity = "*"\nmay = ["publish"]\ntopics = ["a/b/c/d"]\n'
        'effect = "deny"',
        "[limits]\nfilters_per_packet_max = 0\nsubscriptions_per_session_max = 100000",
    ],
)
def test_defaults_give_way(tmp_path: Path, text: str) -> None:
    """Is one limit that is set alone no contradiction, also when every default is written down beside it?"""
    assert problems(tmp_path, text) == []
    shown = as_toml(load(tmp_path / "lapwing.toml", environment={}))
    assert problems(tmp_path, shown) == []
