"""Does a command that takes signals give them back, however it ends?"""

from __future__ import annotations

import signal

import pytest

from lapwing.cli.app import run
from lapwing.cli.signals import ended_as_by_ctrl_c


def test_a_sigterm_is_a_ctrl_c_meanwhile() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), ended_as_by_ctrl_c():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_who_runs_a_command_in_his_own_process_has_his_handler_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert run(["lab", "run", "dispatch", "--policies", ""]) == 2
    assert signal.getsignal(signal.SIGTERM) == before
