"""The tests of the Rust rooms: `cargo test`, which may run beside something else."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from types import TracebackType

from tools.suite.outcome import Outcome

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / ".cache" / "rust-tests.log"
THREADS = 4
"""Tests of brokers wait most of their time; more of them at once than there are cores."""

RUNNING = re.compile(r"^\s+(?:Running \S.*\(.*/deps/(\w+)-\w+\)|Doc-tests (\w+))$")
RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;.* finished in ([\d.]+)s$")
FAILED = re.compile(r"^    (\S.*)$")


class RustPhase:
    """`cargo test` of the whole workspace, begun on entry; ended, whatever happens, on exit."""

    def __enter__(self) -> RustPhase:
        LOG.parent.mkdir(exist_ok=True)
        self._begun = time.monotonic()
        with LOG.open("wb") as log:
            self._process = subprocess.Popen(
                ["cargo", "test", "--locked", "--workspace", "--no-fail-fast"],
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | {"RUST_TEST_THREADS": str(THREADS), "CARGO_TERM_COLOR": "never"},
            )
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def wait(self) -> Outcome:
        """Until all have run; what failed is printed as the tests said it."""
        code = self._process.wait()
        text = LOG.read_text(errors="replace")
        outcome = read(text)
        outcome.seconds = time.monotonic() - self._begun
        if code != 0 and not outcome.failed:
            outcome.broken = f"cargo test ended with {code} and named no test"
        if code != 0:
            print(excerpt(text), flush=True)
        return outcome


def read(text: str) -> Outcome:
    """What `cargo test` printed, counted by package or program."""
    outcome = Outcome("Rust")
    group, in_list = "", False
    for line in text.splitlines():
        if found := RUNNING.match(line):
            group = (found[1] or found[2]).removeprefix("lapwing_")
        elif found := RESULT.match(line):
            outcome.passed += int(found[1])
            outcome.skipped += int(found[3])
            outcome.tests[group] += int(found[1]) + int(found[2])
            outcome.busy_s[group] += float(found[4])
        # Twice in a program's output: before what the tests printed, and, as a list of names, behind it.
        in_list = line == "failures:" or (in_list and bool(FAILED.match(line)))
        if in_list and (found := FAILED.match(line)) and found[1] not in outcome.failed:
            outcome.failed.append(found[1])
    return outcome


def excerpt(text: str, *, characters: int = 20_000) -> str:
    """What is worth reading of a failed run: from the first failure or error on."""
    starts = [found.start() for found in re.finditer(r"(?m)^(failures:|error(\[|:))", text)]
    return text[starts[0] :][:characters] if starts else text[-characters:]


def passes_alone(name: str) -> bool:
    """Runs one test of whichever program has it, with nothing beside it."""
    command = ["cargo", "test", "--locked", "--workspace", "--quiet", "--", "--exact", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    ran = sum(int(count) for count in re.findall(r"(?m)^running (\d+) tests?$", done.stdout))
    return done.returncode == 0 and ran > 0
