"""The keyboard between two prompts, while a command runs."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

_LOCAL_MODES = 3
"""Where ``tcgetattr`` has the flags of echo, lines and signals."""


@contextmanager
def quiet_keyboard() -> Iterator[None]:
    """What is typed ahead waits for the next prompt, unseen and unedited; Ctrl-C stays a signal.

    Otherwise the terminal would echo it in front of the prompt, and keep a Ctrl-D for itself. Prompts set their
    own mode and come back to this one.
    """
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    quiet = termios.tcgetattr(keyboard)
    quiet[_LOCAL_MODES] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(keyboard, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
