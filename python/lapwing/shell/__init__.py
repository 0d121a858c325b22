"""The interactive shell: verbs on one or several clients, by hand or from a script.

Rules:

- A line becomes a ``Command`` (``parse``: pure, no client, no terminal), and a ``Shell`` carries it out. Every
  verb is one entry in the table of ``verbs``: parsing, help and completion read the same table.
- A ``Link`` is one client with its thread: only that thread touches the client, others ask it.
- Messages go out through a ``Screen``, whichever thread they come on; what the screen is (a terminal whose
  prompt stays whole, or a pipe) is known only to ``terminal`` and ``script``.
- Wrong input is a ``ConfigError`` that names the word and the remedy. A shell goes on after an error; a script
  stops there, unless it is told to keep going.
"""

from __future__ import annotations

from lapwing.shell.parse import parse
from lapwing.shell.shell import Shell

__all__ = ["Shell", "parse"]
