"""Who writes a job's tables: this process on one machine, the executors on a cluster."""

from __future__ import annotations

from lapwing.errors import ConfigError
from lapwing.pipeline.session import started_by_submit

AUTO = "auto"
DELTA_RS = "delta-rs"
DELTA_SPARK = "delta-spark"


def chosen_sink(wanted: str, master: str | None) -> str:
    """``delta-rs`` or ``delta-spark``.

    Args:
        wanted: One of them, or ``auto``: Spark's own where the master is a cluster's.
        master: Spark's; None: this machine, unless spark-submit has started us.

    Raises:
        ConfigError: There is no such sink.
    """
    if wanted not in (AUTO, DELTA_RS, DELTA_SPARK):
        remedy = f"give one of {AUTO}, {DELTA_RS}, {DELTA_SPARK}"
        raise ConfigError(f"option sink = {wanted!r} cannot be", where="--conf lapwing.sink", remedy=remedy)
    if wanted != AUTO:
        return wanted
    on_cluster = started_by_submit() if master is None else not master.startswith("local")
    return DELTA_SPARK if on_cluster else DELTA_RS
