"""Who writes a job's tables: this process on one machine, the executors on a cluster."""

from __future__ import annotations

from lapwing.errors import ConfigError

AUTO = "auto"
DELTA_RS = "delta-rs"
DELTA_SPARK = "delta-spark"


def chosen_sink(wanted: str, master: str | None) -> str:
    """``delta-rs`` or ``delta-spark``.

    Args:
        wanted: One of them, or ``auto``: Spark's own where the master is a cluster's.
        master: Spark's, whoever has said it; None: this machine.

    Raises:
        ConfigError: There is no such sink.
    """
    if wanted not in (AUTO, DELTA_RS, DELTA_SPARK):
        remedy = f"give one of {AUTO}, {DELTA_RS}, {DELTA_SPARK}"
        raise ConfigError(f"option sink = {wanted!r} cannot be", where="--conf lapwing.sink", remedy=remedy)
    if wanted != AUTO:
        return wanted
    on_one_machine = master is None or master.startswith("local")
    return DELTA_RS if on_one_machine else DELTA_SPARK
