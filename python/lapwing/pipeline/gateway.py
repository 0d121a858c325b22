"""Spark's JVM, started so that it minds its own business: its log in a file, its process group its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

from lapwing.niceness import set_niceness
from lapwing.pipeline.submitted import started_by_submit
from lapwing.pipeline.surroundings import launch_environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_GONE = (Py4JError, OSError)
"""Whatever a call into a JVM that has ended raises."""


def start_jvm(settings: Mapping[str, str], log: Path | None, held: int | None = None) -> None:
    """Starts the JVM of this process, unless there is one, or spark-submit has brought it.

    PySpark's own way prints the JVM's warnings and stack traces on the user's terminal, and a Ctrl-C or a SIGTERM to
    the process group would end it in the middle of a batch. It ends with this process: its standard input closes. It
    gives way as much as this process does (``nice``).

    Args:
        settings: Spark's settings that count at its start (memory, Java options).
        log: Gets what the JVM and Python's workers print; None: nobody.
        held: A file descriptor that the JVM inherits: a lock on it is there until the last of both has ended.
    """
    if SparkContext._gateway is not None or started_by_submit():
        return
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    with (log or Path(os.devnull)).open("ab") as file:
        kwargs = {"stderr": file, "stdout": file, "start_new_session": True, "pass_fds": [] if held is None else [held]}
        with launch_environment(local=settings.get("spark.master", "").startswith("local")):
            gateway = launch_gateway(conf, kwargs)  # type: ignore[no-untyped-call]
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness > 0:
        # It has inherited that, but a session of its own need not give way as ours does.
        set_niceness(gateway.proc.pid, niceness)
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


def end_callbacks(spark: SparkSession) -> None:
    """Ends the connections over which Spark handed batches to this process, unless a query still runs.

    The JVM keeps one for each thread that has ever called, and each query is a thread of its own: whoever begins query
    after query would have a socket on both sides, and a thread here, more each time. Raises ``SPARK_GONE``.
    """
    gateway: Any = spark.sparkContext._gateway
    if spark.streams.active or not hasattr(gateway, "_python_proxy_port"):
        return
    server = JavaObject("GATEWAY_SERVER", gateway._gateway_client)
    server.resetCallbackClient(server.getCallbackClient().getAddress(), gateway._python_proxy_port)
