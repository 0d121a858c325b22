"""Is a limit that memory has no room for refused, at the bound taken, and are both named?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config import load
from lapwing.errors import ConfigError

CASES = [
    # what is judged; the configuration with %s in its place; a value that is wrong, and the last that is in order; what
    # it is held against
    (
        "limits.output_bytes_max",
        '[limits]\nmemory_high_bytes = "16MiB"\noutput_bytes_max = %s',
        '"17MiB"',
        '"16MiB"',
        "memory_high_bytes = 16MiB",
    ),
    (
        "limits.memory_high_bytes",
        '[limits]\nmemory_max_bytes = "1GiB"\nmemory_high_bytes = %s',
        '"2GiB"',
        '"1GiB"',
        "memory_max_bytes = 1GiB",
    ),
    (
        "limits.packet_bytes_max",
        '[limits]\nmemory_high_bytes = "16MiB"\npacket_bytes_max = %s',
        '"9MiB"',
        '"8MiB"',
        "half of limits.memory_high_bytes = 16MiB",
    ),
    (
        "limits.queue_bytes_max",
        '[broker]\ndurability = "memory"\n[limits]\nmemory_high_bytes = "16MiB"\nqueue_bytes_max = %s',
        '"17MiB"',
        '"16MiB"',
        "memory_high_bytes = 16MiB",
    ),
    (
        "limits.log_lane_bytes",
        '[limits]\nmemory_high_bytes = "16MiB"\nlog_lane_bytes = %s',
        '"17MiB"',
        '"16MiB"',
        "memory_high_bytes = 16MiB",
    ),
    (
        "groups.g.queue_bytes_max",
        '[limits]\nmemory_high_bytes = "8MiB"\n[groups.g]\nqueue_bytes_max = %s',
        '"9MiB"',
        '"8MiB"',
        "memory_high_bytes = 8MiB",
    ),
    (
        "hold.a/#.bytes",
        '[limits]\nmemory_high_bytes = "8MiB"\n[hold."a/#"]\ndurability = "disk"\nbytes = %s',
        '"9MiB"',
        '"8MiB"',
        "memory_high_bytes = 8MiB",
    ),
    (
        "limits.retained_bytes_max",
        '[limits]\nmemory_high_bytes = "16MiB"\nretained_bytes_max = %s',
        '"9MiB"',
        '"8MiB"',
        "half of limits.memory_high_bytes = 16MiB",
    ),
    (
        "limits.queue_memory_bytes",
        '[limits]\nmemory_high_bytes = "16MiB"\nqueue_memory_bytes = %s',
        '"17MiB"',
        '"16MiB"',
        "memory_high_bytes = 16MiB",
    ),
    (
        "limits.strangers_bytes_max",
        '[limits]\nmemory_high_bytes = "16MiB"\nstrangers_bytes_max = %s',
        '"5MiB"',
        '"4MiB"',
        "a quarter of limits.memory_high_bytes = 16MiB",
    ),
    (
        "limits.connect_bytes_max",
        '[limits]\nmemory_high_bytes = "4MiB"\npacket_bytes_max = "2MiB"\nconnect_bytes_max = %s',
        '"1025KiB"',
        '"1MiB"',
        "a quarter of limits.memory_high_bytes = 4MiB",
    ),
    (
        "listeners[0].packet_bytes_max",
        '[limits]\nmemory_high_bytes = "2MiB"\n[[listeners]]\nurl = "tcp://127.0.0.1:1"\npacket_bytes_max = %s',
        '"1025KiB"',
        '"1MiB"',
        "half of limits.memory_high_bytes = 2MiB",
    ),
]


ALONE = [
    # The same where only the upper mark is set: the lower one is never above it.
    ("limits.packet_bytes_max", '[limits]\nmemory_max_bytes = "4MiB"\npacket_bytes_max = %s', '"64MiB"', '"2MiB"'),
    ("limits.output_bytes_max", '[limits]\nmemory_max_bytes = "4MiB"\noutput_bytes_max = %s', '"5MiB"', '"4MiB"'),
    ("limits.retained_bytes_max", '[limits]\nmemory_max_bytes = "4MiB"\nretained_bytes_max = %s', '"3MiB"', '"2MiB"'),
    (
        "groups.g.queue_bytes_max",
        '[limits]\nmemory_max_bytes = "4MiB"\n[groups.g]\nqueue_bytes_max = %s',
        '"5MiB"',
        '"4MiB"',
    ),
]


def problems(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "lapwing.toml"
    file.write_text(text)
    try:
        load(file, environment={})
    except ConfigError as error:
        return [f"{problem}: {problem.where}: {problem.remedy}" for problem in error.problems]
    return []


def refused_and_taken(tmp_path: Path, key: str, text: str, wrong: str, right: str, against: str) -> None:
    found = problems(tmp_path, text % wrong)
    assert any(line.startswith(f"{key} = ") and against in line and "lapwing.toml:" in line for line in found), found
    assert not any(against in line for line in problems(tmp_path, text % right))


@pytest.mark.parametrize(("key", "text", "wrong", "right", "against"), CASES)
def test_a_pair(tmp_path: Path, key: str, text: str, wrong: str, right: str, against: str) -> None:
    refused_and_taken(tmp_path, key, text, wrong, right, against)


@pytest.mark.parametrize(("key", "text", "wrong", "right"), ALONE)
def test_the_upper_mark_alone(tmp_path: Path, key: str, text: str, wrong: str, right: str) -> None:
    refused_and_taken(tmp_path, key, text, wrong, right, "memory_max_bytes = 4MiB")
