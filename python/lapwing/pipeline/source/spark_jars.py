"""Where Spark gets the jars from that PySpark does not bring: its Kafka source, and Delta for a cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lapwing.errors import ConfigError
from lapwing.pipeline.errors import SparkUnusableError
from lapwing.pipeline.submitted import started_by_submit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JARS_VARIABLE = "LAPWING_SPARK_JARS"
"""Names a folder of jars; before all others."""
JARS_REMEDY = (
    "let Spark fetch them (it does unless told otherwise), give --conf spark.jars.packages=..., or run make spark-jars"
    f" and name the folder in {JARS_VARIABLE}"
)

EARLIER_REMEDY = (
    "Spark was running in this process already, started without it: run the job in a process of its own, or before"
    " what starts Spark there"
)


@dataclass(frozen=True, slots=True)
class Package:
    """A part of Spark that is fetched apart."""

    what: str
    coordinates: str
    """As Maven and ``spark.jars.packages`` name it."""
    jar: str
    """Its file name, as a pattern."""
    known_by: str
    """A class in it."""


KAFKA = Package(
    "Kafka source",
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "spark-sql-kafka-0-10_2.13-*.jar",
    "org.apache.spark.sql.kafka010.KafkaSourceProvider",
)
DELTA = Package(
    "Delta sink",
    "io.delta:delta-spark_4.2_2.13:4.4.0",
    "delta-spark_4.2_2.13-*.jar",
    "io.delta.sql.DeltaSparkSessionExtension",
)

_USERS_OWN = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
_TREE = Path(".cache") / "spark-jars"


def jar_settings(conf: Mapping[str, str], packages: tuple[Package, ...]) -> dict[str, str]:
    """Spark's settings that bring ``packages``.

    The user's own settings win, as does spark-submit, which has started Spark already. Then a folder of jars: named by
    `JARS_VARIABLE`, or ``.cache/spark-jars`` of the source tree. Else Spark fetches them from Maven Central, once.

    Raises:
        ConfigError: The folder that the variable names has them not.
    """
    if any(name in conf for name in _USERS_OWN) or started_by_submit():
        return {}
    folder = find_jars(packages)
    if folder:
        return {"spark.jars": ",".join(_told(jar) for jar in sorted(folder.glob("*.jar")))}
    return {"spark.jars.packages": ",".join(package.coordinates for package in packages)}


def require_jar(spark: SparkSession, package: Package, where: str) -> None:
    """Raises `SparkUnusableError`, naming ``where``, unless the driver has ``package``: else the first batch fails."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    jvm: Any = spark.sparkContext._jvm
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(package.known_by)
    except Py4JJavaError as error:
        what = f"Spark cannot load its {package.what}: {error.java_exception}"
        remedy = jar_remedy(package, dict(spark.sparkContext.getConf().getAll()))
        raise SparkUnusableError(what, where=where, remedy=remedy) from None


def jar_remedy(package: Package, running: Mapping[str, str]) -> str:
    """What to do about a ``package`` that Spark cannot load; ``running``: the settings that it runs with."""
    for jar in map(_path, running.get("spark.jars", "").split(",")):
        if jar.match(package.jar):
            # Java says only that there is no such class, whatever kept it from opening the file.
            return f"Spark was given {jar}: see that it is there, and that Spark may open more files (ulimit -n)"
    if started_by_submit():
        return f"give spark-submit --packages {package.coordinates}"
    if not any(running.get(name) for name in _USERS_OWN):
        # A job gives Spark its jars when it starts it; it did not start this one.
        return EARLIER_REMEDY
    return JARS_REMEDY


def _told(jar: Path) -> str:
    """As Spark takes it: it reads a path as a URI, and a comma ends it."""
    return str(jar) if re.fullmatch(r"[\w./-]+", str(jar), re.ASCII) else jar.as_uri()


def _path(jar: str) -> Path:
    """Of a jar that Spark was given: a path, or a URI, in which a comma or a space of the path is encoded."""
    return Path(unquote(jar.removeprefix("file://"))) if jar.startswith("file:///") else Path(jar)


def find_jars(packages: tuple[Package, ...]) -> Path | None:
    """The folder that holds all ``packages``; None: there is none. Errors as for `jar_settings`."""
    named = os.environ.get(JARS_VARIABLE)
    for folder in _folders(named):
        missing = [package.what for package in packages if not any(folder.glob(package.jar))]
        if not missing:
            return folder.absolute()
        if named:
            raise ConfigError(
                f"no jar of Spark's {missing[0]} there", where=f"{JARS_VARIABLE}={named}", remedy="run make spark-jars"
            )
    return None


def _folders(named: str | None) -> Iterator[Path]:
    if named:
        yield Path(named)
        return
    for above in (Path.cwd(), *Path(__file__).parents):
        yield above / _TREE
