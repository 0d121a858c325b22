"""How much a process gives way to others: nice values that count between sessions too."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TRIES, _PAUSE_S = 10, 0.1


def set_niceness(pid: int, niceness: int) -> None:
    """Gives the leader of a session, and all that it will start, a nice value.

    Linux may divide processor time among sessions before it looks at processes (``sched_autogroup_enabled``, see
    sched(7)): nice values of two processes of different sessions then say nothing to each other, those of the sessions
    do. Both are set, so others of the session are meant, too.

    Args:
        pid: Of the leader.
        niceness: From -20, who goes first, to 19, who gives way to all.

    Raises:
        PermissionError: it is less than the process has, and whoever asks may not give that.
        ProcessLookupError: it is gone.
    """
    os.setpriority(os.PRIO_PROCESS, pid, niceness)
    group = Path(f"/proc/{pid}/autogroup")
    for left in reversed(range(_TRIES)):
        try:
            group.write_text(str(niceness))
        except FileNotFoundError:
            return  # a kernel without such groups
        except BlockingIOError:
            # The kernel takes ten such changes a second, from all of us together.
            if not left:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
