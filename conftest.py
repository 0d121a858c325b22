"""What the tests of `python` and `tests` have in common: how Hypothesis looks for examples, which files a phase of the
suite reads, which tests go to one worker, and a record of a run."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tools.suite.by_phase import has_none_of

# How long an example takes says nothing here: other tests, and other work, share the machine.
settings.register_profile("lapwing", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lapwing")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--record FILE`: for `tools/suite`, which counts what ran and runs again what failed."""
    parser.addoption("--record", metavar="FILE", help="writes one line of JSON for each report of a test")


def pytest_configure(config: pytest.Config) -> None:
    """Records in the process that hears of all tests: with pytest-xdist the one that has the workers."""
    if config.getoption("record") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(config.getoption("record"))), "recorder")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file without a test of the suite's phase is not read; None: others decide."""
    is_tests = collection_path.match("test_*.py")
    return True if is_tests and has_none_of(config.option.markexpr, collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is read now stays until the end: nobody looks for garbage in it, neither meanwhile nor in each test (a sixth
    of the time of reading, in each worker)."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Spreads tests as `tools/suite` asks; None: pytest-xdist does."""
    if config.getoption("dist") != "loadfile":
        return None
    from tools.suite.spread import ByFile

    return ByFile(config, log)


class Recorder:
    """Writes what each test reports, as it comes."""

    def __init__(self, file: Path) -> None:
        self._lines = file.open("a", buffering=1)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One line: ``name``, ``when`` (setup, call, teardown), ``outcome``, ``seconds``."""
        line = {
            "name": report.nodeid,
            "when": report.when,
            "outcome": report.outcome,
            "seconds": report.duration,
        }
        self._lines.write(f"{json.dumps(line)}\n")
