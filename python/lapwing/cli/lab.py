"""``lapwing lab run NAME``: experiments, on real processes of this machine; ``lapwing lab doctor``: what they need."""

from __future__ import annotations

import typer

from lapwing.cli import lab_commands, lab_crowdsourcing, lab_dispatch, lab_doctor, lab_surveillance

app = typer.Typer(help="Experiments, on real processes of this machine.", no_args_is_help=True)
_run = typer.Typer(help="Run an experiment.", no_args_is_help=True)
app.add_typer(_run, name="run", epilog=lab_dispatch.EPILOG)
_run.command("dispatch", epilog=lab_dispatch.EPILOG)(lab_dispatch.dispatch)
_run.command("surveillance", epilog=lab_surveillance.EPILOG)(lab_surveillance.surveillance)
_run.command("commands", epilog=lab_commands.EPILOG)(lab_commands.commands)
_run.command("crowdsourcing", epilog=lab_crowdsourcing.EPILOG)(lab_crowdsourcing.crowdsourcing)
app.command("doctor", epilog=lab_doctor.EPILOG)(lab_doctor.doctor)
