"""Whether a start that failed would fail again for as long as nobody changes a setting or what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapwing._core import data_folder_holder
from lapwing.errors import BrokerError, ConfigError, DataFolderError, WrongFolderError, WrongPathError
from lapwing.rehearsal.folders import file_faults, wrong_folder
from lapwing.rehearsal.ports import unix_faults
from lapwing.rehearsal.trail import trail_faults

if TYPE_CHECKING:
    from lapwing.config import Config


def lasting_kind(error: BrokerError, config: Config) -> type[BrokerError] | None:
    """What such an error is; None: it may pass, as a folder or a port that another process has yet."""
    if isinstance(error, DataFolderError):
        folder = config.broker.data
        lasts = any(wrong_folder(folder)) or (
            data_folder_holder(folder) is None
            and any(isinstance(fault, WrongFolderError) for fault in file_faults(config))
        )
        return WrongFolderError if lasts else None
    if type(error) is not BrokerError:
        return None
    faults = [*unix_faults(config), *trail_faults(config)]
    return WrongPathError if any(isinstance(fault, ConfigError) for fault in faults) else None
