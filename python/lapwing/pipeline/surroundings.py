"""What a shell's environment does to a Spark that we start ourselves: settings that were made for another Spark.

On a machine where Spark is installed, its variables point to that one, and to defaults for its cluster. Ours is the one
that pip has installed beside this package, and with a local master what counts is said on the command line.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lapwing.pipeline.errors import SparkUnusableError

LOG = logging.getLogger("lapwing.pipeline")
_PYTHON = "PYSPARK_PYTHON"
_OF_CLUSTERS = (
    "SPARK_CONF_DIR",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_SUBMIT_OPTS",
    "SPARK_DIST_CLASSPATH",
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
)
"""They name masters, jars, and file systems in which a path of this machine would be looked for."""
_OF_ITS_JVM = "SPARK_SUBMIT_OPTS"
"""Options of the JVM: of a cluster only where they set what Spark or Hadoop read."""
_SETTINGS = ("-Dspark.", "-Dhadoop.")
_OF_EVERY_JVM = ("_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
"""They also hold what a machine's Java needs, such as its proxy: only Spark's and Hadoop's settings are left out of
them. A job that had a foreign master in one of them did not end at SIGTERM."""
_SETTING = re.compile(r"(?:^|\s)['\"]?-D(?:spark|hadoop)\.\S*")
_ANSWER = "lapwing asks:"
_ASKED = f"""import sys
found = ["%s.%s" % sys.version_info[:2]]
if sys.version_info[0] > 2:
    from importlib.util import find_spec
    found += [name for name in ("pyspark", "lapwing", "pyarrow", "msgspec") if not find_spec(name)]
sys.stdout.write("\\n{_ANSWER} " + " ".join(found) + "\\n")
"""
"""Also for a Python 2, and for one that prints other things at its start."""
_PATIENCE_S = 30.0


def launch_changes(environ: Mapping[str, str], spark_home: Path, *, local: bool) -> dict[str, str | None]:
    """What has to be otherwise in the environment of the JVM; None: left out.

    Args:
        environ: The environment as it is.
        spark_home: Of the PySpark that is imported; one without jars belongs to a Spark that is installed apart.
        local: Whether the master is on this machine.
    """
    changes: dict[str, str | None] = {}
    if (spark_home / "jars").is_dir():
        changes["SPARK_HOME"] = str(spark_home)
    if local:
        changes |= dict.fromkeys(_named(environ))
        changes |= {name: rest or None for name, rest in _without_settings(environ).items()}
        # No spark-defaults.conf, no spark-env.sh: a folder that is not there. Spark puts it before its jars, and Java
        # shares no classes behind a folder that has files.
        changes["SPARK_CONF_DIR"] = str(Path(__file__).parent / "no-conf")
    # As the C library looks it up. Java names files as its locale has it: without UTF-8, ``ü`` would be ``?``.
    said = next(filter(None, (environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    if "utf" not in said.lower():
        changes["LC_ALL"] = "C.UTF-8"
    return changes


@contextmanager
def launch_environment(*, local: bool) -> Iterator[None]:
    """Meanwhile a JVM that is started is one of ours; says in the log what of this shell is left out."""
    import pyspark

    changes = launch_changes(os.environ, Path(pyspark.__file__).parent, local=local)
    if local and (ignored := [*_named(os.environ), *(f"-D settings of {n}" for n in _without_settings(os.environ))]):
        LOG.warning("%s of this shell left out: with a local master --conf says what counts", ", ".join(ignored))
    kept = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(kept)


def _named(environ: Mapping[str, str]) -> list[str]:
    """The variables that are there, and say something that is of a cluster."""
    there = [name for name in _OF_CLUSTERS if environ.get(name)]
    options = environ.get(_OF_ITS_JVM, "")
    return (
        there if any(setting in options for setting in _SETTINGS) else [name for name in there if name != _OF_ITS_JVM]
    )


def _without_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of every JVM that set what Spark or Hadoop read, and what is left of each without that."""
    found = {name: _SETTING.sub("", environ.get(name, "")).strip() for name in _OF_EVERY_JVM}
    return {name: rest for name, rest in found.items() if rest != environ.get(name, "").strip()}


def choose_python(conf: Mapping[str, str], *, local: bool) -> None:
    """Sees to it that Spark's workers are started with a Python that has this package.

    Args:
        conf: Spark's settings: ``spark.pyspark.python`` counts before the variable.
        local: Whether the workers run on this machine: elsewhere nobody can look from here.

    Raises:
        SparkUnusableError: The one that is named has it not, or is of another version.
    """
    if not os.environ.get(_PYTHON):
        os.environ[_PYTHON] = sys.executable
    setting = "spark.pyspark.python"
    named, python = (setting, conf[setting]) if conf.get(setting) else (_PYTHON, os.environ[_PYTHON])
    if local and python != sys.executable:
        _check_python(named, python)


def _check_python(named: str, python: str) -> None:
    where = f"{named} = {python}"
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    remedy = f"unset it, or name a Python {version} that has lapwing, such as {sys.executable}"
    try:
        asked = subprocess.run(  # noqa: S603  (the user's own choice)
            [python, "-c", _ASKED],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SparkUnusableError(f"Spark's Python cannot be started: {error}", where=where, remedy=remedy) from None
    answers = [line.split() for line in asked.stdout.splitlines() if line.startswith(_ANSWER)]
    if asked.returncode or not answers:
        told = (asked.stderr.strip().splitlines() or [f"exit code {asked.returncode}, and no answer"])[-1]
        raise SparkUnusableError(f"Spark's Python does not run: {told}", where=where, remedy=remedy)
    found, *missing = answers[-1][len(_ANSWER.split()) :]
    if found != version:
        raise SparkUnusableError(f"Spark's Python is {found}, and this is {version}", where=where, remedy=remedy)
    if missing:
        raise SparkUnusableError(f"Spark's Python has no {', '.join(missing)}", where=where, remedy=remedy)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
