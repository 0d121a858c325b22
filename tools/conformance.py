"""Makes docs/conformance.md: every normative statement of MQTT 3.1.1 and 5.0, and the tests that show it.

`python tools/conformance.py` writes the page, `--check` compares it with what would be written, `--strict` fails
as long as a statement that binds a server has no test, and `--table` prints each statement's line.

A test names its statements itself. In Python: `@pytest.mark.statement(5, "MQTT-3.1.2-4", ...)`; a test marked `xfail`
shows a known defect and counts as none, one that is skipped does not count at all. In Rust, in the comment of a
`#[test]`: `/// Shows 5.0: MQTT-3.2.2-12, MQTT-3.2.2-13.` (or 3.1.1), for what a broker over its sockets cannot show.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "conformance"
FOLDERS = (TESTS, ROOT / "tests" / "groups")
PAGE = ROOT / "docs" / "conformance.md"
CRATES = ("codec", "session", "router", "node", "transport")
sys.path.insert(0, str(TESTS))

from statements import VERSIONS, Statement, load  # noqa: E402

Key = tuple[int, str]
Statements = dict[Key, Statement]

HEAD = """\
# Conformance

What the specifications [MQTT 3.1.1](https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html) and
[MQTT 5.0](https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html) ask for under a number, and the tests that
would fail if Lapwing did not do it. The words are ours; the specifications' own are behind the links. This page is
made by `make conformance`.

*Shown*: a test passes that a breach would fail. *Does not arise*: Lapwing cannot break it, for the reason given.
*Known defect*: a test fails as expected until it is mended. *Not shown yet*: no test.
Statements that bind clients alone are listed too; their tests show what Lapwing does about a client that breaks one."""


@dataclass(frozen=True)
class Test:
    """One test: where it is, and whether it is known to fail."""

    name: str
    file: Path
    is_defect: bool = False

    def link(self) -> str:
        """Its name as a link to its file, from the page."""
        target = Path("..") / self.file.relative_to(ROOT)
        return f"[{self.name}]({target.as_posix()})" + (" (known defect)" if self.is_defect else "")


Shown = dict[Key, list[Test]]


def python_tests() -> Iterator[tuple[Test, list[Key]]]:
    """The tests of the folders with the statements in their marks."""
    for file in (file for folder in FOLDERS for file in sorted(folder.glob("test_*.py"))):
        for node in ast.parse(file.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            marks = [mark for decorator in node.decorator_list if (mark := _mark(decorator)) is not None]
            names = [name for name, _ in marks]
            if "skip" in names or "skipif" in names:
                continue
            keys = [(args[0], key) for name, args in marks if name == "statement" for key in args[1:]]
            yield Test(node.name, file, "xfail" in names), keys


def _mark(decorator: ast.expr) -> tuple[str, list[object]] | None:
    call = decorator if isinstance(decorator, ast.Call) else None
    target = call.func if call else decorator
    if not isinstance(target, ast.Attribute) or ast.unparse(target.value) != "pytest.mark":
        return None
    args = [ast.literal_eval(arg) for arg in call.args] if call and target.attr == "statement" else []
    return target.attr, args


_RUST_TEST = re.compile(
    r"((?:^[ \t]*///.*\n)+)(?:^[ \t]*#\[.*\]\n)*?^[ \t]*#\[test\]\n(?:^[ \t]*#\[.*\]\n)*^[ \t]*fn (\w+)", re.M
)
_RUST_SHOWS = re.compile(r"Shows (3\.1\.1|5\.0): ((?:MQTT[\w.-]*\w(?:,\s*)?)+)")


def rust_tests() -> Iterator[tuple[Test, list[Key]]]:
    """The tests of the Rust rooms whose comments say that they show statements."""
    levels = {name: version for version, name in VERSIONS.items()}
    for crate in CRATES:
        for file in sorted((ROOT / "crates" / crate).rglob("*.rs")):
            for comment, name in _RUST_TEST.findall(file.read_text()):
                words = " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
                keys = [
                    (levels[version], key)
                    for version, listed in _RUST_SHOWS.findall(words)
                    for key in re.split(r",\s*", listed.strip(", "))
                ]
                if keys:
                    yield Test(name, file), keys


def shown(statements: Statements) -> Shown:
    """The tests of each statement.

    Raises:
        SystemExit: a test names a statement that does not exist.
    """
    found: Shown = {key: [] for key in statements}
    for test, keys in [*python_tests(), *rust_tests()]:
        for key in keys:
            if key not in found:
                sys.exit(
                    f"{test.file.relative_to(ROOT)}: {test.name} names {key[1]}, which is not in {VERSIONS[key[0]]}"
                )
            found[key].append(test)
    return found


def state(statement: Statement, tests: list[Test]) -> str:
    """In which of the page's four cases the statement is."""
    if any(test.is_defect for test in tests):
        return "known defect"
    if tests:
        return "shown"
    return "does not arise" if statement.moot else "not shown yet"


def page(statements: Statements, tests: Shown) -> str:
    """The whole page."""
    parts = [HEAD, summary(statements, tests), missing(statements, tests)]
    for version, name in VERSIONS.items():
        chapters = list(dict.fromkeys(s.chapter for s in statements.values() if s.version == version))
        for chapter in chapters:
            rows = [s for s in statements.values() if (s.version, s.chapter) == (version, chapter)]
            number, _, title = chapter.partition("-")
            table = "\n".join(row(statement, tests[version, statement.id]) for statement in rows)
            parts.append(
                f"## MQTT {name}, chapter {number}: {title.replace('-', ' ')}\n\n"
                f"| statement | binds | what it asks | tests |\n|---|---|---|---|\n{table}"
            )
    return "\n\n".join(parts) + "\n"


def summary(statements: Statements, tests: Shown) -> str:
    """How many of each kind."""
    rows = []
    for version, name in VERSIONS.items():
        of_version = [s for s in statements.values() if s.version == version]
        server = [s for s in of_version if s.binds_server]
        counts = [
            sum(state(s, tests[version, s.id]) == case for s in server)
            for case in ("shown", "does not arise", "known defect", "not shown yet")
        ]
        cells = [name, len(of_version), len(server), *counts, len(of_version) - len(server)]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    head = "| version | statements | bind a server | shown | do not arise | known defect | not shown yet |"
    return "\n".join([f"{head} bind clients alone |", "|---" * 8 + "|", *rows])


def missing(statements: Statements, tests: Shown) -> str:
    """What is still to be done, by name."""
    lines = []
    for case in ("known defect", "not shown yet"):
        for version, name in VERSIONS.items():
            ids = [s.id for s in statements.values() if s.version == version and is_open(s, tests, case)]
            if ids:
                lines.append(f"- {case.capitalize()}, {name}: {', '.join(ids)}.")
    return "\n".join(lines) or "Every statement that binds a server is shown."


def is_open(statement: Statement, tests: Shown, case: str) -> bool:
    """Whether the statement binds a server and is in this case."""
    return statement.binds_server and state(statement, tests[statement.version, statement.id]) == case


def row(statement: Statement, tests: list[Test]) -> str:
    """A statement's line of its table."""
    if tests:
        last = ", ".join(test.link() for test in dict.fromkeys(tests))
    elif statement.moot:
        last = f"does not arise: {statement.moot}"
    else:
        last = "**not shown yet**" if statement.binds_server else "client only"
    who = {"server": "server", "client": "client", "both": "both"}[statement.binds]
    return f"| {statement.id} | {who} | {statement.text} | {last} |"


def table(statements: Statements, tests: Shown) -> str:
    """Every statement on a line of its own, with what shows it: for a terminal."""
    lines = []
    for key, statement in statements.items():
        case = state(statement, tests[key]) if statement.binds_server else "client only"
        shown_by = ", ".join(dict.fromkeys(test.name for test in tests[key])) or statement.moot or ""
        lines.append(f"{VERSIONS[statement.version]:<6} {statement.id:<16} {case:<15} {shown_by}".rstrip())
    return "\n".join(lines)


def main() -> int:
    """Writes or checks the page; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not up to date")
    parser.add_argument("--strict", action="store_true", help="fail if a server's statement is not shown")
    parser.add_argument("--table", action="store_true", help="print each statement and its tests")
    options = parser.parse_args()
    statements = load()
    tests = shown(statements)
    text = page(statements, tests)
    if options.check and (not PAGE.exists() or PAGE.read_text() != text):
        print(f"{PAGE.relative_to(ROOT)} is not up to date: run python tools/conformance.py")
        return 1
    if not options.check:
        PAGE.write_text(text)
    if options.table:
        print(table(statements, tests))
    print(summary(statements, tests))
    still_open = missing(statements, tests)
    print(still_open)
    return 1 if options.strict and still_open.startswith("-") else 0


if __name__ == "__main__":
    sys.exit(main())
