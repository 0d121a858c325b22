"""Does the suite run what failed once more, alone, and say who was flaky?"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from tools.suite import nightly, pytest_phase, rust_phase
from tools.suite.__main__ import main
from tools.suite.by_phase import has_none_of
from tools.suite.outcome import Outcome
from tools.suite.verdict import FLAKY_MAX, judge

ROOT = Path(__file__).resolve().parents[2]
MARKERS = '[tool.pytest.ini_options]\nmarkers = ["jvm: ", "slow: ", "nightly: "]\n'
FAILS = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("at", ["a@b", "[x]"])
def test_it(at):
    tries = Path(__file__).with_name("tries")
    count = len(tries.read_text()) if tries.exists() else 0
    tries.write_text("." * (count + 1))
    assert count >= {times} or at != "a@b"
"""

WITH_SPARK = """
import os
from pathlib import Path
import pytest

pytestmark = [pytest.mark.jvm, pytest.mark.usefixtures("spark")]

@pytest.fixture
def spark(): pass

@pytest.mark.parametrize("at", range(2))
def test_it(at):
    Path(__file__).with_name(f"worker-{os.environ.get('PYTEST_XDIST_WORKER')}").touch()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tests with this project's `conftest.py`, in place of this project."""
    for name in ("conftest.py", "tools/suite/__init__.py", "tools/suite/by_phase.py", "tools/suite/spread.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "pyproject.toml").write_text(MARKERS)
    (tmp_path / "tests").mkdir()
    monkeypatch.setattr(pytest_phase, "ROOT", tmp_path)
    # Of all that is installed these tests need one; a run begins in two thirds of the time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")
    return tmp_path


def run(project: Path, capfd: pytest.CaptureFixture[str], jvm_workers: int = 0) -> tuple[int, list[str]]:
    code = main(["--no-rust", "--workers", "0", "--jvm-workers", str(jvm_workers), str(project / "tests")])
    return code, capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("by_workers", [False, True])
def test_who_fails_once_is_flaky_and_the_run_passes(
    by_workers: bool, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """In either phase, with and without workers, and whatever stands in the test's name."""
    marks = "import pytest\npytestmark = pytest.mark.jvm\n" if by_workers else ""
    (project / "tests" / "test_weak.py").write_text(marks + FAILS.format(times=1))
    code, lines = run(project, capfd, jvm_workers=int(by_workers))
    assert code == 0
    assert "FLAKY tests/test_weak.py::test_it[a@b]" in lines
    assert lines[-2:] == ["flaky: 1", "2 passed, 0 failed, 0 skipped"]


def test_who_fails_twice_has_failed(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "tests" / "test_weak.py").write_text(FAILS.format(times=9))
    code, lines = run(project, capfd)
    assert code == 1
    assert "FAILED tests/test_weak.py::test_it[a@b]" in lines
    assert lines[-2:] == ["flaky: 0", "1 passed, 1 failed, 0 skipped"]


def test_a_run_without_a_test_has_failed(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = run(project, capfd)
    assert (code, lines[-3:]) == (1, ["ERROR no test has run", "flaky: 0", "0 passed, 1 failed, 0 skipped"])


@pytest.mark.parametrize("workers", [0, 2])
def test_all_tests_are_run_where_none_are_named(workers: int, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In both phases, with workers too, who get the arguments of their own; a phase without a test is an error.

    And do tests with a Spark, of two files, go to one worker?
    """
    for name in ("test_jvm.py", "test_more.py"):
        (project / "tests" / name).write_text(WITH_SPARK)
    arguments = ["--no-rust", "--workers", str(workers), "--jvm-workers", str(workers)]
    if not workers:
        assert main(arguments) == 1
        assert "ERROR waiting: no test has passed" in capfd.readouterr().out.splitlines()
    (project / "tests" / "test_waiting.py").write_text("def test_it(): pass\n")
    assert main(arguments) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "5 passed, 0 failed, 0 skipped"
    assert len(list((project / "tests").glob("worker-*"))) == 1


def test_a_file_that_cannot_be_read_fails_the_run(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "tests" / "test_broken.py").write_text("import a_module_that_nobody_has\n")
    code, lines = run(project, capfd)
    assert code == 1
    assert any(line.startswith("ERROR ") for line in lines)


@pytest.mark.parametrize(("count", "passes"), [(0, True), (FLAKY_MAX, True), (FLAKY_MAX + 1, False)])
def test_many_flaky_tests_are_no_accident(count: int, passes: bool) -> None:
    names = [f"test_{n}" for n in range(count)]
    asked: list[str] = []

    def passes_alone(phase: str, name: str) -> bool:
        assert phase == "waiting"
        asked.append(name)
        return True

    verdict = judge([Outcome("waiting", failed=names)], passes_alone)
    assert verdict.passes is passes
    assert asked == (names if passes else [])


CARGO = """\
     Running unittests src/lib.rs (target/debug/deps/lapwing_access-0a1b2c)

running 2 tests
test rules::good ... ok
test rules::bad ... FAILED

failures:

---- rules::bad stdout ----
    indented, and no name of a test

failures:
    rules::bad

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.25s

error: test failed, to rerun pass `-p lapwing-access --lib`
   Doc-tests lapwing_codec

running 1 test
test crates/codec/src/lib.rs - (line 12) ... ok

test result: ok. 1 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 1.50s
"""


def test_what_cargo_says_is_counted_by_package() -> None:
    outcome = rust_phase.read(CARGO)
    assert (outcome.passed, outcome.skipped, outcome.failed) == (2, 3, ["rules::bad"])
    assert dict(outcome.tests) == {"access": 2, "codec": 1}
    assert dict(outcome.busy_s) == {"access": 0.25, "codec": 1.5}
    assert rust_phase.excerpt(CARGO).startswith("failures:\n\n---- rules::bad stdout")


def test_each_proof_of_a_night_has_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the proofs, whichever is run first; the one before is replaced."""
    page = f"before\n\n{nightly.HEAD}\nafter\n"
    for run in (
        nightly.Run("crash", "2026-11-25", "0123abc", "41", "passed"),
        nightly.Run("tests", "2026-11-26", "4567def", "20", "passed"),
        nightly.Run("crash", "2026-11-26", "4567def", "40", "FAILED"),
    ):
        page = nightly.with_run(page, run)
    rows = "| tests | 2026-11-26 | `4567def` | 20 | passed |\n| crash | 2026-11-26 | `4567def` | 40 | FAILED |\n"
    assert page == f"before\n\n{nightly.HEAD}{rows}\nafter\n"
    file = tmp_path / "page.md"
    file.write_text(page)
    monkeypatch.setattr(nightly, "PAGE", file)
    monkeypatch.setattr(nightly, "commits_since", {"4567def": "7"}.get)
    assert "tests passed 7, crash FAILED 7, cluster-crash never" in nightly.since()


def test_a_page_without_the_table_is_not_written() -> None:
    with pytest.raises(ValueError, match=r"reliability\.md"):
        nightly.with_run("no table", nightly.Run("crash", "2026-11-25", "0123abc", "41", "passed"))


def test_a_phase_reads_the_files_that_may_have_its_tests(tmp_path: Path) -> None:
    """And is not kept from those that have both."""
    texts = {"tests/pipeline/test_a.py": "", "tests/docs/test_b.py": "pytest.mark.jvm", "tests/docs/test_c.py": ""}
    texts["python/lapwing/pipeline/test_d.py"] = ""
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    left_out = {
        phase.name: [name[-4] for name in texts if has_none_of(phase.which, tmp_path / name)]
        for phase in pytest_phase.phases("not nightly", 1, 1)
    }
    assert left_out == {"with a JVM": ["c", "d"], "waiting": ["a"]}
    assert not any(has_none_of(which, tmp_path / name) for which in ("", "slow") for name in texts)


def test_files_are_read_ahead(project: Path) -> None:
    """Once, and what pytest made of them is kept."""
    (project / "tests" / "test_it.py").write_text("def test_it():\n    assert 1\n")
    phase = pytest_phase.Phase("waiting", "not jvm", workers=2)
    deadline = time.monotonic() + 30
    with pytest_phase.read_ahead(phase, []):
        while not list((project / "tests" / "__pycache__").glob("test_it.*-pytest-*.pyc")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
