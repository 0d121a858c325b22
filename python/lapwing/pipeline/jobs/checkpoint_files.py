"""How Spark writes the files of a job's checkpoint.

Spark's own choice for a folder of this machine, Hadoop's `FileContext`, starts the program `readlink` for each name
that a rename looks at, 17 processes a batch: two thirds of the time of a batch of a few rows (docs/decisions/0085).
"""

from __future__ import annotations

from collections.abc import Mapping

MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_RENAMES_BY_ITSELF = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


def checkpoint_settings(given: Mapping[str, str]) -> dict[str, str]:
    """The setting of Spark with which a rename is one system call; none where ``given`` says how.

    For queries that keep no state between batches, as the jobs here: their checkpoint is files that are written once.
    A file of state may be written again, and then a crash between its rename and that of its checksum is found as
    damage at the next start.
    """
    return {} if MANAGER in given else {MANAGER: _RENAMES_BY_ITSELF}
