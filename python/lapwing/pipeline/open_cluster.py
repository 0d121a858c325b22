"""A cluster on which whoever reaches the ports of driver and executors is one of them: said once, and gone on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache

LOG = logging.getLogger("lapwing.pipeline")
_AUTHENTICATE = "spark.authenticate"
_DOCS = "docs/files.md"


def tell_if_open(master: str, setting: Callable[[str, str], str | None]) -> None:
    """A line of the log, the first time, where the master is another machine's and nobody has to authenticate.

    Args:
        master: Spark's master, as it is used.
        setting: Gives what a setting is in the session that runs, the cluster's defaults included; else the second.
    """
    value = setting(_AUTHENTICATE, "false") or "false"
    if not master.startswith("local") and value.strip().lower() != "true":
        _tell(master)


@cache
def _tell(master: str) -> None:
    LOG.warning(
        "%s is off with master %s: whoever reaches driver or executors over the network can run code in the job; "
        "set spark.authenticate=true and spark.network.crypto.enabled=true, by --conf or in spark-defaults.conf (%s)",
        _AUTHENTICATE,
        master.split("?")[0],
        _DOCS,
    )
