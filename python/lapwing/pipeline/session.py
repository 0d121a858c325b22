"""A Spark session that suits the pipeline: checked, quiet, UTC, and with the source registered."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.pipeline.connect import leave_connect
from lapwing.pipeline.errors import SparkUnusableError
from lapwing.pipeline.open_cluster import tell_if_open
from lapwing.pipeline.source.spark_jars import JARS_REMEDY
from lapwing.pipeline.submitted import started_by_submit, submitted_settings
from lapwing.pipeline.surroundings import choose_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_VERSION = "4.2.0"
JAVA_MIN = 17
TASK_FAILURES = 4
_JAVA_S = 60.0
_LOG_CONFIG = Path(__file__).with_name("log4j2.properties")

_OF_OUR_JVM: Mapping[str, str] = {
    "spark.driver.memory": "3g",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOG_CONFIG.as_uri()}",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Over TCP each answer to Python comes from a port that serves whoever connects first. A client that looks for a
    # broker which is gone may be that one, and then the job ends.
    "spark.python.unix.domain.socket.enabled": "true",
}
"""Of the one that we start; log and pages of spark-submit's are whoever's who has called that."""
_OF_ONE_MACHINE: Mapping[str, str] = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
"""With a local master only this machine has to reach driver and block manager, and they ask nobody for a password."""
_ZONE = "spark.sql.session.timeZone"
_ALWAYS: Mapping[str, str] = {_ZONE: "UTC"}
"""Whatever files of defaults say: days and times of tables are UTC."""
_OF_QUERIES: Mapping[str, str] = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    # A batch is planned in milliseconds this way; it has no skew that re-planning could mend.
    "spark.sql.adaptive.enabled": "false",
    # `repartition("who")` serves every join and window on device and more.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # Whoever rewrites a file of a table: INT96, which Spark would write, is naive to other readers.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # As our tables are. With musl beside glibc, Spark's Snappy loads the library that is made for musl, and fails.
    "spark.sql.parquet.compression.codec": "zstd",
}


def session(
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    app: str = "lapwing",
    log: Path | None = None,
    held: int | None = None,
    checked: bool = False,
) -> SparkSession:
    """The session of this process, started if there is none; ``format("lapwing")`` is registered with it.

    Args:
        master: Spark's master; None: spark-submit's if that has started this process, else this machine, all cores.
            ``local[N]`` becomes ``local[N,4]``, for with
            ``local[N]`` a task has a single attempt.
        conf: Spark settings, over those of spark-submit, which are over the defaults given here. The time zone is UTC
            always.
        app: The application's name.
        log: Gets Spark's log if this starts the JVM (None: nobody gets it), and what PySpark's threads say when
            that has ended (None: standard error).
        held: A file descriptor that stays open until the JVM has ended, if this starts it.
        checked: `check_machine` has been called.

    Raises:
        SparkUnusableError: No Java, one that is too old, another PySpark than ``SPARK_VERSION``, a Python for the
            workers that has not this package, or another time zone in ``conf``.
    """
    if not checked:
        check_machine(master, conf or {})
    from pyspark.sql import SparkSession

    from lapwing.pipeline.gateway import start_jvm
    from lapwing.pipeline.last_words import keep_last_words
    from lapwing.pipeline.source.datasource import LapwingDataSource

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    submitted = submitted_settings()
    settings = _settings(app, submitted, conf or {})
    settings["spark.master"] = with_attempts(master or submitted.get("spark.master"))
    if _is_local(settings["spark.master"]):
        settings = {**_OF_ONE_MACHINE, **settings}
    try:
        start_jvm(settings, log, held)
        builder = SparkSession.builder
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        remedy = f"check --master and --conf; {log} tells more" if log else "check --master and --conf"
        if "spark.jars.packages" in settings:
            remedy += f". It was to fetch {settings['spark.jars.packages']}: without a network, {JARS_REMEDY}"
        raise SparkUnusableError(
            f"Spark does not start: {lines[0]}", where=f"master {settings.get('spark.master', '')}", remedy=remedy
        ) from None
    if log:
        keep_last_words(spark, log)
    tell_if_open(settings["spark.master"], spark.sparkContext.getConf().get)
    spark.dataSource.register(LapwingDataSource)
    return spark


def check_machine(master: str | None, conf: Mapping[str, str]) -> None:
    """Looks at what `session` needs, before anything is begun; the same arguments and errors."""
    _check_zone(conf)
    check_spark()
    if not started_by_submit():
        check_java()
    submitted = submitted_settings()
    local = _is_local(with_attempts(master or submitted.get("spark.master")))
    leave_connect({**submitted, **conf}, local=local)
    choose_python({**submitted, **conf}, local=local)


def _is_local(master: str) -> bool:
    return master.startswith("local")


def with_attempts(master: str | None) -> str:
    """``local[N]`` as ``local[N,4]``; other masters as they are."""
    match = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master or f"local[{_cores()}]")
    return f"local[{match[1] or 1},{TASK_FAILURES}]" if match else str(master)


def check_spark() -> None:
    """Raises `SparkUnusableError` unless PySpark is the version that the pipeline is built for.

    What is imported counts, not what pip has installed: spark-submit of a Spark apart brings its own.
    """
    remedy = f"pip install pyspark=={SPARK_VERSION}"
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SparkUnusableError("PySpark is not installed", where=sys.prefix, remedy=remedy)
    place = Path(spec.origin).parent
    remedy = _without(place.parent) or remedy
    try:
        from pyspark import __version__ as found
    except Exception as error:  # An old one on a new Python fails with whatever that has become.
        told = next(iter(str(error).splitlines()), type(error).__name__)
        raise SparkUnusableError(f"PySpark cannot be imported: {told}", where=str(place), remedy=remedy) from None
    if found != SPARK_VERSION:
        raise SparkUnusableError(f"pyspark = {found}, needed is {SPARK_VERSION}", where=str(place), remedy=remedy)


def _without(folder: Path) -> str:
    """What to do where modules come from ``folder`` because the environment says so; empty where it does not."""
    if started_by_submit():
        return f"use the spark-submit of Spark {SPARK_VERSION}"
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    entry = next((entry for entry in named if Path(entry).absolute() == folder.absolute()), None)
    if entry is None:
        return ""
    return f"take {entry} out of PYTHONPATH; pip install pyspark=={SPARK_VERSION} where none is left then"


def check_java() -> None:
    """Raises `SparkUnusableError` unless there is a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    where = f"JAVA_HOME = {home}" if home else "PATH"
    remedy = f"install Java {JAVA_MIN} or later (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME"
    if not java:
        raise SparkUnusableError("no Java found", where=where, remedy=remedy)
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=_JAVA_S)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SparkUnusableError(f"java cannot be started: {error}", where=java, remedy=remedy) from None
    if told.returncode:
        said = (told.stderr.strip().splitlines() or [f"exit code {told.returncode}"])[-1]
        raise SparkUnusableError(f"java does not start: {said}", where=java, remedy=remedy)
    match = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if not match or int(match[1]) < JAVA_MIN:
        found = match[1] if match else "of unknown version"
        raise SparkUnusableError(f"java {found} is too old for Spark {SPARK_VERSION}", where=java, remedy=remedy)


def _check_zone(conf: Mapping[str, str]) -> None:
    for name, zone in _ALWAYS.items():
        if conf.get(name, zone) != zone:
            raise SparkUnusableError(
                f"{name} = {conf[name]}: days and times of the tables are {zone}", where="--conf", remedy="leave it out"
            )


def _settings(app: str, submitted: Mapping[str, str], conf: Mapping[str, str]) -> dict[str, str]:
    """Those of a session; see `session`."""
    return {**_defaults(app, submitted), **conf, **_ALWAYS}


def _defaults(app: str, submitted: Mapping[str, str]) -> dict[str, str]:
    """What suits the pipeline, where spark-submit has not said otherwise."""
    wanted = {"spark.app.name": app, "spark.sql.shuffle.partitions": str(_cores()), **_OF_QUERIES}
    if not started_by_submit():
        wanted |= _OF_OUR_JVM
    return {key: value for key, value in wanted.items() if key not in submitted}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
