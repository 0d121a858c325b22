"""Makes docs/mqtt-sn-rules.md: what MQTT-SN 1.2 asks for, rule by rule, and the tests that show it.

`python tools/sn_rules.py` writes the page, `--check` compares it with what would be written and fails where a rule
names a test that is not there, `--run` runs the tests of all rules and prints what came of each: `make sn`.

The rules are in tests/conformance/statements/mqtt-sn-1.2, one file a section, in our words. A test is named there by
its file, under crates/ or tests/, and its function; a rule that cannot be broken here says why (`moot`) and has none.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "tests" / "conformance" / "statements" / "mqtt-sn-1.2"
PAGE = ROOT / "docs" / "mqtt-sn-rules.md"
BINDS = ("gateway", "client", "both")

SPECIFICATION = "https://groups.oasis-open.org/higherlogic/ws/public/document?document_id=66091"
HEAD = f"""\
# MQTT-SN 1.2, rule by rule

What the [specification]({SPECIFICATION}) asks for, by section,
and the tests that would fail if Lapwing did not do it. The words are ours, and so are the numbers behind a section: it
has none. This page is made by `python tools/sn_rules.py`; `make sn` runs the tests and says what came of each.

Lapwing is the gateway, behind an `sn://` listener, and a client, with `--url sn://...`; what binds both is shown of
both, or of what both have in common. *Does not arise*: it cannot be broken here, for the reason given."""


@dataclass(frozen=True)
class Test:
    """One test, by its file under the root and its function."""

    file: str
    name: str

    def is_there(self) -> bool:
        """Whether the file has such a test."""
        file = ROOT / self.file
        if not file.is_file():
            return False
        before = r"^def " if file.suffix == ".py" else r"#\[test\]\n(?:[ \t]*(?:#\[|///).*\n)*[ \t]*fn "
        return re.search(before + re.escape(self.name) + r"\(", file.read_text(), re.MULTILINE) is not None

    def link(self) -> str:
        """Its name as a link to its file, from the page."""
        return f"[{self.name}](../{self.file})"


@dataclass(frozen=True)
class Rule:
    """One rule: whom it binds, what it asks, what shows it; `moot`: why it cannot be broken here."""

    id: str
    section: str
    binds: str
    text: str
    tests: tuple[Test, ...]
    moot: str = ""


def load() -> list[Rule]:
    """All rules, in the order of the specification.

    Raises:
        SystemExit: a rule has neither a test nor a reason, or both.
    """
    rules = []
    for file in sorted(RULES.glob("*.toml"), key=lambda file: int(file.name.partition("-")[0])):
        for key, row in tomllib.loads(file.read_text()).items():
            tests = tuple(_test(name) for name in row.pop("tests", ()))
            rule = Rule(key, file.stem, tests=tests, **row)
            if rule.binds not in BINDS or bool(tests) == bool(rule.moot):
                sys.exit(f"{file.relative_to(ROOT)}: {key} binds {' or '.join(BINDS)}, and has tests or says why none")
            rules.append(rule)
    return rules


def _test(name: str) -> Test:
    file, _, function = name.partition("::")
    return Test(file if file.startswith("tests/") else f"crates/{file}", function)


def page(rules: list[Rule]) -> str:
    """The whole page."""
    moot = sum(bool(rule.moot) for rule in rules)
    parts = [HEAD, f"{len(rules)} rules: {len(rules) - moot} are shown, {moot} do not arise."]
    for section in dict.fromkeys(rule.section for rule in rules):
        number, _, title = section.partition("-")
        table = ["| rule | binds | what it asks | tests |", "|---|---|---|---|"]
        table += [_row(rule) for rule in rules if rule.section == section]
        parts.append("\n".join([f"## Section {number}: {title}", "", *table]))
    return "\n\n".join(parts) + "\n"


def _row(rule: Rule) -> str:
    return f"| {rule.id} | {rule.binds} | {rule.text} | {_shown_by(rule)} |"


def _shown_by(rule: Rule) -> str:
    return ", ".join(test.link() for test in rule.tests) or f"does not arise: {rule.moot}"


Outcomes = dict[Test, str]
PASSED = "passed"
MISSING = "NOT THERE"


def run(tests: set[Test]) -> Outcomes:
    """What came of each: `passed`, or in capitals why not."""
    outcomes = dict.fromkeys(tests, MISSING)
    crates = sorted({test.file.split("/")[1] for test in tests if test.file.startswith("crates/")})
    ran = [*(found for crate in crates for found in _cargo(crate)), *_pytest(tests)]
    for test, outcome in ran:
        if test in outcomes and outcomes[test] in (MISSING, PASSED):
            outcomes[test] = outcome
    return outcomes


_RUNNING = re.compile(r"^\s*Running (?:unittests )?(\S+)\.rs ")
_RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (\w+)")


def _cargo(crate: str) -> Iterator[tuple[Test, str]]:
    """Runs the tests of MQTT-SN of one crate; those of its own crate are all of that."""
    only = [] if crate == "sn" else ["sn::"]
    command = ["cargo", "test", "--locked", "--no-fail-fast", "-p", f"lapwing-{crate}", "--lib", "--tests", "--", *only]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    folder = None
    for line in done.stdout.splitlines():
        if match := _RUNNING.match(line):
            folder = Path("crates", crate, match[1]).parent
        elif folder and (match := _RESULT.match(line)):
            test = rust_test(folder, match[1].split("::"))
            yield test, PASSED if match[2] == "ok" else match[2].upper()
    if done.returncode:
        print(done.stdout, file=sys.stderr)


def rust_test(folder: Path, path: list[str]) -> Test:
    """The test that cargo calls so: its module is a file, or a folder's `mod.rs`, or stands in one of these."""
    *modules, name = path
    for end in range(len(modules), 0, -1):
        stem = folder.joinpath(*modules[:end])
        for file in (stem.with_suffix(".rs"), stem / "mod.rs"):
            if (ROOT / file).is_file():
                return Test(file.as_posix(), name)
    return Test((folder / "main.rs").as_posix(), name)


_LINE = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL) (?:\[\d+\] )?(tests/\S+?\.py)(?:::(\w+)|:)", re.MULTILINE)


def _pytest(tests: set[Test]) -> Iterator[tuple[Test, str]]:
    """Runs those in Python; one with parameters has passed when all have, and one that is skipped has not."""
    named = sorted(f"{test.file}::{test.name}" for test in tests if test.file.startswith("tests/") and test.is_there())
    if not named:
        return
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *named]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    for outcome, file, name in _LINE.findall(done.stdout):
        if name:
            yield Test(file, name), PASSED if outcome == "PASSED" else outcome


def report(rules: list[Rule], outcomes: Outcomes) -> tuple[str, int]:
    """A line for each rule and each of its tests, and how many rules are not shown."""
    lines, open_rules = [], 0
    for rule in rules:
        came = [outcomes[test] for test in rule.tests]
        is_shown = all(outcome == PASSED for outcome in came)
        open_rules += not is_shown
        state = "does not arise" if rule.moot else "shown" if is_shown else "NOT SHOWN"
        lines.append(f"{rule.id:<9} {state:<15} {rule.binds:<8} {rule.text}")
        lines += [f"{'':<26}{outcomes[test]:<10} {test.file}::{test.name}" for test in rule.tests]
        lines += [f"{'':<26}{rule.moot}"] if rule.moot else []
    return "\n".join(lines), open_rules


def missing(rules: list[Rule]) -> list[str]:
    """Names of tests that are not where a rule says."""
    return [
        f"{rule.id}: there is no {test.name} in {test.file}"
        for rule in rules
        for test in rule.tests
        if not test.is_there()
    ]


def main() -> int:
    """Writes or checks the page, or runs the tests; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not up to date")
    parser.add_argument("--run", action="store_true", help="write nothing; run the tests and print what came of each")
    options = parser.parse_args()
    rules = load()
    if options.run:
        lines, open_rules = report(rules, run({test for rule in rules for test in rule.tests}))
        print(lines)
        print(f"{len(rules)} rules, {open_rules} not shown")
        return 1 if open_rules else 0
    wrong = missing(rules)
    text = page(rules)
    if options.check and (not PAGE.exists() or PAGE.read_text() != text):
        wrong.append(f"{PAGE.relative_to(ROOT)} is not up to date: run python tools/sn_rules.py")
    if not options.check:
        PAGE.write_text(text)
    print("\n".join(wrong) or f"{len(rules)} rules of MQTT-SN, each with its test")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
