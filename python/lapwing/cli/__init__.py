"""The command line: ``lapwing COMMAND``, one file per command.

- ``lapwing.cli.NAME`` holds the command ``NAME``: a module with ``app = typer.Typer(...)``. One
  ``@app.command()`` makes ``lapwing NAME``; several (or a callback) make ``lapwing NAME SUBCOMMAND``. It is
  listed in ``lapwing.cli.app.COMMANDS`` and imported only when called, so that ``lapwing --help`` stays fast.
- Results go to standard output; everything else to standard error, errors as one line each:
  ``error: what (where): remedy``. Colours only on a terminal.
- Raise a ``LapwingError``; its ``exit_code`` becomes the process's: 0 done, 1 failed at run time, 2 wrong
  usage or configuration, 3 could not connect, 4 timed out, 130 interrupted.
- Each ``--help`` ends with examples: pass ``epilog=examples(...)`` to ``@app.command``.
"""

from lapwing.cli.app import main

__all__ = ["main"]
