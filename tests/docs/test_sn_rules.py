"""Can the table of `make sn` say that a rule is shown whose test is not there, fails or is skipped?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.sn_rules import MISSING, PASSED, Rule, load, missing, report, rust_test
from tools.sn_rules import Test as Named

THERE = Named("crates/sn/src/header.rs", "section_5_2_1_a_length_of_one_byte_counts_itself")


def rule(*tests: Named, moot: str = "") -> Rule:
    return Rule("5.2.1-1", "5-formats", "both", "A length.", tests, moot)


@pytest.mark.parametrize("outcome", [MISSING, "FAILED", "SKIPPED", "IGNORED"])
def test_one_that_has_not_passed_is_enough(outcome: str) -> None:
    other = Named("tests/x.py", "test_x")
    lines, not_shown = report([rule(THERE, other)], {THERE: PASSED, other: outcome})
    assert not_shown == 1
    assert "NOT SHOWN" in lines
    assert outcome in lines
    assert report([rule(THERE)], {THERE: PASSED})[1] == 0
    assert report([rule(moot="it cannot be")], {})[1] == 0


def test_what_is_not_there_is_named() -> None:
    gone = Named(THERE.file, "section_5_2_1")
    assert missing([rule(THERE)]) == []
    assert missing([rule(THERE, gone)]) == ["5.2.1-1: there is no section_5_2_1 in crates/sn/src/header.rs"]
    assert not Named("crates/sn/src/no.rs", THERE.name).is_there()


@pytest.mark.parametrize(
    ("folder", "path", "file"),
    [
        ("crates/sn/src", ["header", "tests", "x"], "crates/sn/src/header.rs"),
        ("crates/sn/src", ["peer", "life", "tests", "x"], "crates/sn/src/peer/life.rs"),
        ("crates/node/src", ["sn", "tunnels", "tests", "x"], "crates/node/src/sn/tunnels/tests.rs"),
        ("crates/node/tests/node", ["sn", "wills", "x"], "crates/node/tests/node/sn/wills.rs"),
    ],
)
def test_cargo_calls_tests_by_their_modules(folder: str, path: list[str], file: str) -> None:
    assert rust_test(Path(folder), path) == Named(file, "x")


def test_all_tests_of_rules_are_there() -> None:
    assert missing(load()) == []
