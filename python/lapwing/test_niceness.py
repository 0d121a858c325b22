"""Is a nice value that of the process and of its session?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lapwing.niceness import set_niceness


def test_a_session_gives_way_with_its_leader() -> None:
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        set_niceness(process.pid, 7)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 7
        group = Path(f"/proc/{process.pid}/autogroup")
        assert not group.exists() or group.read_text().split()[-1] == "7"
