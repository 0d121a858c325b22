"""What machine this is: the line that every figure is quoted with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from lapwing import _core


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def describe() -> str:
    """Cores, processor, memory, kernel, versions, and how busy the machine is as the run begins."""
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    build = " (DEV BUILD: shapes, no figures)" if _core.IS_DEV_BUILD else ""
    return (
        f"{len(os.sched_getaffinity(0))} cores of {_cpu_model()}, {memory_gib:.0f} GiB, "
        f"Linux {platform.release()}, Python {platform.python_version()}, "
        f"lapwing {version('lapwing')}{build}, pyspark {version('pyspark')}; load {load}"
    )
