"""Does lapwingd refuse limits that contradict each other, with the words, keys and places that the package has?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tools.lapwingd_model import model

from lapwing.config import load
from lapwing.config.limit_pairs import PAIRS
from lapwing.config.test_entrance_pairs import CASES as ENTRANCE_CASES
from lapwing.config.test_limit_pairs import CASES as OTHER_CASES
from lapwing.config.test_memory_pairs import ALONE
from lapwing.config.test_memory_pairs import CASES as MEMORY_CASES
from lapwing.config.test_time_pairs import CASES as TIME_CASES
from lapwing.errors import ConfigError

_TIMEOUT_S = 30
_ONLY_IN_PACKAGE = ("[bridge", "[[bridge", "[hooks]")
CASES = [
    text % wrong
    for _, text, wrong, *_ in [*OTHER_CASES, *ENTRANCE_CASES, *MEMORY_CASES, *TIME_CASES, *ALONE]
    if not any(section in text for section in _ONLY_IN_PACKAGE)
]
TOPICS = [
    '[[rules]]\nidentity = "*"\nmay = ["publish"]\ntopics = ["a/%c/c/#", "a/b/c/d"]',
    '[[rules]]\nidentity = "*"\nmay = ["publish"]\ntopics = ["a/b/c/d"]\neffect = "deny"\n[streams.s]\nfilter = "a/b"',
    '[groups.g]\nrules = [{ topics = ["x"], priority = "bulk" }, { topics = ["ä/b/c/d"], priority = "bulk" }]',
    '[groups."1"]\ndead_letter_topic = "a/b/c/d"\n[hold."{value}/+/#"]\n[topics."a/b/c/d"]\ndurability = "disk"',
    '[[listeners]]\nurl = "sn://127.0.0.1:0"\npredefined = [{ id = 1, topic = "a/b/c/d" }]',
    '[[listeners]]\nurl = "sn://127.0.0.1:0"\npublish_without_connect = ["a/+/+/d"]',
]
PLACES = [
    ('[limits]\noutput_bytes_max = "1MiB"', {"LAPWING_LIMITS__OUTPUT_HIGH_BYTES": "2MiB"}),
    ("limits.filters_per_packet_max = 5", {}),
    ('[broker]\nprofile = "edge"\n[limits]\nmemory_high_bytes = "100KiB"', {}),
    ('[broker]\nprofile = "edge"', {"LAPWING_LIMITS__MEMORY_HIGH_BYTES": "100KiB"}),
    ("", {"LAPWING_LIMITS__FILTERS_PER_PACKET_MAX": "5"}),
]


def of_pairs(lines: Iterator[str]) -> list[str]:
    return sorted(line for line in lines if line.endswith(("or lower the second", "or raise the second")))


def refused(file: Path, environment: dict[str, str]) -> list[str]:
    try:
        load(file, environment=environment)
    except ConfigError as error:
        return of_pairs(str(problem) for problem in error.problems)
    return []


def refused_by_daemon(program: Path, file: Path, environment: dict[str, str]) -> list[str]:
    command = [str(program), "--config", str(file), "--set", "broker.http=off", "--check"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, cwd=file.parent)
    found = of_pairs(line.removeprefix("error: ") for line in done.stderr.splitlines())
    assert not found or done.returncode == 2
    return found


def assert_same(program: Path, folder: Path, text: str, environment: dict[str, str] | None = None) -> list[str]:
    file = folder / "lapwing.toml"
    file.write_text(text)
    found = refused(file, environment or {})
    assert refused_by_daemon(program, file, environment or {}) == found, text
    return found


@pytest.mark.parametrize("part", range(4))
def test_each_pair(program: Path, tmp_path: Path, part: int) -> None:
    for text in CASES[part::4]:
        assert assert_same(program, tmp_path, text), text


def test_wherever_a_topic_is_named(program: Path, tmp_path: Path) -> None:
    for text in TOPICS:
        limits = '[limits]\ntopic_levels_max = 3\ntopic_bytes_max = "6B"\n'
        assert bool(assert_same(program, tmp_path, limits + text)) != ("deny" in text), text


def test_where_it_was_set(program: Path, tmp_path: Path) -> None:
    """Is the same layer named: file, environment, profile, and for a default the table that it would be in?"""
    for text, environment in PLACES:
        assert assert_same(program, tmp_path, text, environment), (text, environment)


NUMBERS = {"whole": "{}", "size": '"{}B"', "ms": '"{}ms"', "s": '"{}s"'}
TABLES = {
    "streams": ("streams.s", 'filter = "a/+/c"\n'),
    "hold": ('hold."b/#"', ""),
    "groups": ("groups.g", 'filters = ["x", "y/z"]\n'),
    "topics": ("topics.t", ""),
}


def random_text(random: Random, sections: dict[str, Any]) -> str:
    """Limits set to something near to what others have, so that most pairs are about to break."""
    held = {pair.key.partition(".")[0] for pair in PAIRS} & {"limits", "dispatch"}
    text = random.choice(["", '[broker]\nprofile = "edge"\n', '[broker]\ndurability = "memory"\n'])
    for section in [*sorted(held), *random.sample(sorted(TABLES), 2)]:
        name, needed = TABLES.get(section, (section, ""))
        kind = sections[section]
        keys = kind.get("keys") or kind["of"]["keys"]
        numbers = {key: found for key, found in keys.items() if found["kind"] in NUMBERS}
        text += f"[{name}]\n{needed}"
        for key in random.sample(sorted(numbers), min(10, len(numbers))):
            text += f"{key} = {value(random, numbers[key])}\n"
    return text


def value(random: Random, key: dict[str, Any]) -> str:
    near = random.choice([key["default"] or 0, 10, 1_000, 65_536, 1 << 20, 16 << 20])
    found = round(near * random.choice([0, 0.25, 0.5, 1, 1, 2, 8])) + random.choice([-1, 0, 1])
    found = min(max(found, key.get("least", 0)), key.get("most", 1 << 40))
    return NUMBERS[key["kind"]].format(found)


def test_any_limits(program: Path, tmp_path: Path) -> None:
    """Of many limits at once, some of them far off: the same are refused."""
    random, sections, told = Random(22), model()["sections"], 0
    for _ in range(16):
        told += len(assert_same(program, tmp_path, random_text(random, sections)))
    assert told > 40
