"""``lapwing lab run NAME``: experiments, on real processes of this machine."""

from __future__ import annotations

import typer

from lapwing.cli import lab_dispatch, lab_surveillance

app = typer.Typer(help="Experiments, on real processes of this machine.", no_args_is_help=True)
_run = typer.Typer(help="Run an experiment.", no_args_is_help=True)
app.add_typer(_run, name="run", epilog=lab_dispatch.EPILOG)
_run.command("dispatch", epilog=lab_dispatch.EPILOG)(lab_dispatch.dispatch)
_run.command("surveillance", epilog=lab_surveillance.EPILOG)(lab_surveillance.surveillance)
