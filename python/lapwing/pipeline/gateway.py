"""Spark's JVM, started so that it minds its own business: its log in a file, its process group its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway


def start_jvm(settings: Mapping[str, str], log: Path | None) -> None:
    """Starts the JVM of this process, unless there is one, or spark-submit has brought it.

    PySpark's own way prints the JVM's warnings and stack traces on the user's terminal, and a Ctrl-C or a SIGTERM to
    the process group would end it in the middle of a batch. It ends with this process: its standard input closes.

    Args:
        settings: Spark's settings that count at its start (memory, Java options).
        log: Gets what the JVM and Python's workers print; None: nobody.
    """
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    with (log or Path(os.devnull)).open("ab") as file:
        kwargs = {"stderr": file, "stdout": file, "start_new_session": True}
        gateway = launch_gateway(conf, kwargs)  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)
