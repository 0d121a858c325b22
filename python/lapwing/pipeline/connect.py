"""Spark Connect, which others have set up in this shell: the pipeline has a JVM of its own and cannot use it."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from lapwing.pipeline.errors import SparkUnusableError

LOG = logging.getLogger("lapwing.pipeline")
_BY_BEING_THERE = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
_BY_VALUE: Mapping[str, str] = {"SPARK_API_MODE": "connect", "SPARK_CONNECT_MODE": "1"}
_SETTINGS: Mapping[str, str | None] = {"spark.remote": None, "spark.api.mode": "connect"}
"""The same as Spark's settings; None: whatever its value."""


def connect_variables(environ: Mapping[str, str]) -> list[str]:
    """The variables that make PySpark speak Spark Connect."""
    by_value = [name for name, value in _BY_VALUE.items() if environ.get(name, "").lower() == value]
    return [name for name in _BY_BEING_THERE if name in environ] + by_value


def leave_connect(conf: Mapping[str, str], *, local: bool) -> None:
    """Sees to it that PySpark starts a JVM: with a local master those variables go, and a line of the log says so.

    Args:
        conf: Spark's settings.
        local: Whether the master is on this machine: elsewhere the shell may be set up for the cluster that is meant.

    Raises:
        SparkUnusableError: Another master's shell, or a setting, asks for Spark Connect. No value is shown: a URL of
            Spark Connect may hold a token.
    """
    asked = [name for name, value in _SETTINGS.items() if name in conf and value in (None, conf[name].lower())]
    found = connect_variables(os.environ)
    if asked or (found and not local):
        name = (asked or found)[0]
        raise SparkUnusableError(
            f"{name} asks for Spark Connect, and the pipeline needs a Spark of its own",
            where="--conf" if asked else "the environment",
            remedy=f"leave {name} out" if asked else f"unset {', '.join(found)}",
        )
    if found:
        LOG.warning("%s of this shell left out: Spark Connect is not for a local master", ", ".join(found))
    for name in found:
        del os.environ[name]
