"""Whether the audit trail can be gone on with: the node says so, as it opens it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lapwing._core import audit_trail_fault
from lapwing.errors import BrokerError, ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config import Config


def trail_faults(config: Config) -> Iterator[LapwingError]:
    """Of ``audit.file``: its folder, what lies there, who writes it, and its last line."""
    file = config.audit.file
    if file is None:
        return
    folder = file.absolute().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        remedy = "name a file in a folder that exists and that the broker may write"
        yield ConfigError("audit.file: its folder cannot be written", where=str(file), remedy=remedy)
    elif fault := audit_trail_fault(file, config.audit.chain):
        why, is_taken = fault
        kind = BrokerError if is_taken else ConfigError
        yield kind(f"audit.file: {why}", where=str(file), remedy="name another file, or move it away")
