"""What the lab needs on this machine, what of it is missing, and how to get it.

``judged`` decides from ``Facts`` and touches nothing; ``gathered`` looks.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from lapwing.errors import LapwingError

State = Literal["ok", "weak", "missing"]
Need = Literal["extension", "files", "cores", "memory", "java", "kafka-jars", "spark-kafka-jar", "kafka-client"]

FILES_PER_DEVICE = 1
"""In the generator, and again in the broker: each is a process with a limit of its own."""

FILES_BESIDE = 200
"""What a process has open beside its phones."""

DEVICES_WANTED = 5000
CORES_WANTED = 2
MEMORY_WANTED_MIB = {"a1": 1024, "a3-single": 6144}
"""A3: Kafka's heap, Spark's driver of 3 GiB, and its workers."""

_EVERY: tuple[Need, ...] = ("extension", "files", "cores", "memory")
NEEDS: dict[str, tuple[Need, ...]] = {
    "a1": _EVERY,
    "a3-single": (*_EVERY, "java", "kafka-client", "kafka-jars", "spark-kafka-jar"),
}
"""What each architecture needs."""


@dataclass(frozen=True)
class Facts:
    """This machine, as far as the lab cares.

    Attributes:
        files_max: Open files that a process may have, at most.
        memory_mib: That could be used now.
        problems: By need: what was wrong, and the remedy.
    """

    files_max: int
    cores: int
    memory_mib: int
    problems: dict[Need, tuple[str, str]]


@dataclass(frozen=True)
class Finding:
    """One need.

    Attributes:
        found: What there is.
        remedy: What to do; empty where all is well.
        needed_by: Architectures.
    """

    need: Need
    state: State
    found: str
    remedy: str
    needed_by: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


def phones_max(facts: Facts) -> int:
    """As many as a process may have open files for."""
    return max(0, facts.files_max - FILES_BESIDE) // FILES_PER_DEVICE


def judged(facts: Facts, architectures: Sequence[str]) -> list[Finding]:
    """What these architectures need, and how it stands."""
    needs = list(dict.fromkeys(need for name in architectures for need in NEEDS[name]))
    return [_finding(need, facts, [name for name in architectures if need in NEEDS[name]]) for need in needs]


def _finding(need: Need, facts: Facts, needed_by: Sequence[str]) -> Finding:
    state, found, remedy = _judge(need, facts, needed_by)
    return Finding(need, state, found, remedy, tuple(needed_by))


def _judge(need: Need, facts: Facts, needed_by: Sequence[str]) -> tuple[State, str, str]:
    if need == "files":
        devices = phones_max(facts)
        found = f"{facts.files_max:,} open files a process: {devices:,} phones"
        if devices < DEVICES_WANTED:
            return "weak", found, files_remedy(DEVICES_WANTED)
        return "ok", found, ""
    if need == "cores":
        found = f"{facts.cores} cores"
        if facts.cores < CORES_WANTED:
            return "weak", found, f"take a machine with {CORES_WANTED} cores: the generator needs one of its own"
        return "ok", found, ""
    if need == "memory":
        wanted_mib = max(MEMORY_WANTED_MIB[name] for name in needed_by)
        found = f"{facts.memory_mib:,} MiB free"
        if facts.memory_mib < wanted_mib:
            return "weak", found, f"free some: {wanted_mib:,} MiB are wanted"
        return "ok", found, ""
    problem = facts.problems.get(need)
    return ("missing", *problem) if problem else ("ok", "found", "")


def files_remedy(devices: int) -> str:
    """How a process may open files for so many phones."""
    wanted = devices * FILES_PER_DEVICE + FILES_BESIDE
    return f"ulimit -Hn {wanted} (as root), or nofile in /etc/security/limits.conf"


def gathered() -> Facts:
    """This machine."""
    _, files_max = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files_max == resource.RLIM_INFINITY:
        files_max = 1 << 30
    checks: dict[Need, Callable[[], None]] = {
        "extension": _check_extension,
        "java": _check_java,
        "kafka-client": _check_kafka_client,
        "kafka-jars": _check_kafka_jars,
        "spark-kafka-jar": _check_spark_jar,
    }
    problems = {need: problem for need, check in checks.items() if (problem := _problem(check))}
    return Facts(files_max, len(os.sched_getaffinity(0)), _memory_mib(), problems)


def _problem(check: Callable[[], None]) -> tuple[str, str] | None:
    try:
        check()
    except LapwingError as error:
        return error.what, error.remedy
    return None


def _memory_mib() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) >> 10
    return 0


def _check_extension() -> None:
    if find_spec("lapwing._core") is None:
        raise LapwingError("the Rust extension is not built", remedy="make setup, or pip install lapwing")


def _check_java() -> None:
    from lapwing.pipeline.session import check_java, check_spark

    check_spark()
    check_java()


def _check_kafka_client() -> None:
    if find_spec("confluent_kafka") is None:
        raise LapwingError("confluent-kafka is not installed", remedy="pip install confluent-kafka")


def _check_kafka_jars() -> None:
    from lapwing.lab.kafka.jars import find_jars

    find_jars()


def _check_spark_jar() -> None:
    from lapwing.pipeline.source.spark_jars import JARS_REMEDY, KAFKA, find_jars

    if find_jars((KAFKA,)) is None:
        raise LapwingError(f"the jar of Spark's {KAFKA.what} is not here", remedy=JARS_REMEDY)
