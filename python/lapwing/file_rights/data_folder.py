"""Whether others may write the data folder, or look into it: what lies there is believed at the next start.

The folder itself is judged and not the way to it: who may write one of those above can put another in its place, but
none that is ours. One that is missing is made by the start, and its owner's.
"""

from __future__ import annotations

import shlex
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from lapwing.errors import LapwingError
from lapwing.file_rights.look import facts_behind
from lapwing.file_rights.verdict import Facts, Trusted, remedy, strange_writer

if TYPE_CHECKING:
    from lapwing.config import Config


def written_by_others(config: Config, trusted: Trusted) -> LapwingError | None:
    """What is wrong with it, and what to do; None: nothing, or nothing is kept."""
    facts = _facts(config)
    # The sticky bit keeps others from what lies in a folder, and not from putting something there.
    if facts is None or not (who := strange_writer(replace(facts, mode=facts.mode & ~stat.S_ISVTX), trusted)):
        return None
    mended = remedy(replace(facts, mode=facts.mode & ~stat.S_ISVTX), trusted, str(config.broker.data))
    return LapwingError(
        f"{config.broker.data} holds what this broker keeps, and {who}",
        where="broker.data",
        remedy=f'{mended}, name a new folder in it, or allow it with broker.files = "warn"',
    )


def seen_by_others(config: Config) -> str:
    """What is to be told of it; empty: nothing. The folders of the first versions were open to all."""
    facts = _facts(config)
    if facts is None or not facts.mode & (stat.S_IROTH | stat.S_IXOTH):
        return ""
    mended = f"chmod o-rwx {shlex.quote(str(config.broker.data))}"
    what = "holds what clients have sent, and every user of this machine may look into it"
    return f"{config.broker.data} (broker.data) {what}: {mended}"


def _facts(config: Config) -> Facts | None:
    """Of the folder where something is kept; None: there is none, or it is to be made, or is no folder."""
    if config.broker.durability != "disk" and not config.streams:
        return None
    facts = facts_behind(config.broker.data)
    return facts if facts is not None and stat.S_ISDIR(facts.mode) else None
