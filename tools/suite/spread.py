"""Which tests go to one worker: those of a file, so that what a file prepares is prepared once, and those that share a
Spark."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

SPARK_FILES = ("test_source.py", "test_coverage_job.py", "test_deadlines_job.py", "test_broker_killed_tables.py")
"""About half of the time of what asks for the fixture `spark`."""
ASKS = re.compile(r'usefixtures\("spark"\)|\bspark: SparkSession\b')
"""How a file asks for it: the process that spreads the tests has their names only."""


@functools.cache
def asks_for_spark(file: Path) -> bool:
    """Whether tests of this file have the fixture `spark`, which is made once for each worker that has some of them."""
    return ASKS.search(file.read_text()) is not None


class ByFile(LoadScopeScheduling):
    """One worker for each file; all files with Spark go to two, which start it once each.

    `xdist_group` would say the same, but pytest-xdist 3.8 writes it where pytest 9.2 does not look: each test of a file
    goes to whoever is free, and four workers start a Spark.
    """

    def _split_scope(self, nodeid: str) -> str:
        name = nodeid.split("::", 1)[0]
        file = self.config.rootpath / name
        if not asks_for_spark(file):
            return name
        return f"spark-{1 if file.name in SPARK_FILES else 2}"
