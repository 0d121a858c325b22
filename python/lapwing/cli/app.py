"""The main command: a table of commands, loaded when called; here errors become exit codes."""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from lapwing import __version__
from lapwing.cli.standard_streams import escape_what_does_not_fit, give_up, open_closed
from lapwing.cli.system_refusal import about_a_path
from lapwing.errors import ConfigError, LapwingError
from lapwing.text import LogFormatter, one_line

COMMANDS = {
    "broker": "Run a broker until SIGTERM or Ctrl-C.",
    "pub": "Publish messages.",
    "sub": "Subscribe, and print messages as they arrive.",
    "shell": "Connect clients, publish and subscribe, by hand or from a script.",
    "stream": "List streams, and read their messages.",
    "groups": "See consumer groups and their members; declare and change them.",
    "clients": "See who is connected, and send clients away.",
    "sessions": "See clients' sessions, and end them.",
    "queues": "See what waits for clients, the most first, and drop it.",
    "bans": "See who is kept out for wrong passwords, and let them in.",
    "cluster": "Make a cluster of brokers, and see how it is.",
    "store": "Look after a data folder: check, dump, repair, back up, restore.",
    "demo": "The whole path on this machine: devices, broker, stream, Spark, tables, pictures.",
    "bridge": "Carry messages between a broker and Apache Kafka.",
    "pipeline": "Run Spark jobs over a stream.",
    "swarm": "Load a broker with many clients, and measure it.",
    "lab": "Experiments, on real processes of this machine.",
    "audit": "Check an audit trail.",
    "user": "Add, remove and list users, and give them tokens.",
    "service": "Run the broker as a service of systemd.",
    "config": "Show or check a configuration.",
}
"""Name -> one line of help. The command itself is ``lapwing.cli.NAME.app``."""

NUMBER_MAX = 1e9
"""Of an option with a fraction that says nothing else: thirty years in seconds."""
INTERRUPTED = 130
_BROKEN_PIPE = 141
_SHOWN_CHARACTERS_MAX = 80
_COMPLETION = (
    "install_completion",
    "show_completion",
)  # typer adds them to each app; they are no one's need here


class LazyGroup(TyperGroup):
    """Lists commands from the table above, and imports one only to run it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, help_text in COMMANDS.items():
            if find_spec(f"lapwing.cli.{name}") is not None:
                self.commands[name] = TyperCommand(name, help=help_text)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command to run, imported now; unknown names get the base's suggestion."""
        name, stub, rest = super().resolve_command(ctx, args)
        return (name, load_command(name), rest) if name in COMMANDS else (name, stub, rest)


def load_command(name: str) -> Any:
    """Imports one command."""
    command = typer.main.get_command(import_module(f"lapwing.cli.{name}").app)
    command.name = name
    command.params = [option for option in command.params if option.name not in _COMPLETION]
    _bound_numbers(command)
    return command


def _bound_numbers(command: Any) -> None:
    """No number of any option is infinite, nor so large that nothing can be reckoned with it."""
    for option in command.params:
        told = getattr(option, "type_descriptor", None)
        if told is not None and "float" in str(told.annotation) and option.max is None:
            option.max = told.parameter_info.max = NUMBER_MAX
    for below in getattr(command, "commands", {}).values():
        _bound_numbers(below)


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A latency-sensitive MQTT broker with its data pipeline.",
    epilog="Each command explains itself, with examples: lapwing COMMAND --help",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lapwing {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Options of ``lapwing`` itself."""


# typer keeps click inside and exports only this class of it; its base is click's UsageError.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def main(arguments: list[str] | None = None) -> None:
    """Runs one command and exits with its code. What it writes, tables and reports too, is nothing for others."""
    open_closed()
    escape_what_does_not_fit(sys.stdout, sys.stderr)
    os.umask(os.umask(0o077) | 0o007)
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Runs one command; returns its exit code, errors printed."""
    if logging.lastResort is not None:
        # Who has not said where logs go gets them on standard error: on one line there too.
        logging.lastResort.setFormatter(LogFormatter())
    try:
        _check_one_config(arguments)
        result = typer.main.get_command(app)(arguments, prog_name="lapwing", standalone_mode=False)
        sys.stdout.flush()
    except LapwingError as error:
        print_error(error)
        return error.exit_code
    except _UsageError as error:
        return _usage_error(error)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except UnicodeEncodeError as error:
        print_error(no_text := _no_utf8(error))
        return no_text.exit_code
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as end:
        # Typer's own answer to the same, with a code that says nothing.
        if isinstance(end.__context__, BrokenPipeError):
            return _reader_left()
        raise
    except OSError as error:
        told = about_a_path(error)
        if told is None:
            raise
        print_error(told)
        return told.exit_code
    return result if isinstance(result, int) else 0


def _no_utf8(error: UnicodeEncodeError) -> LapwingError:
    """The error for an argument (a variable, a file's name) whose bytes are no text, where only text will do.

    Raises:
        UnicodeEncodeError: it is something else.
    """
    if not any("\udc80" <= character <= "\udcff" for character in error.object):
        raise error
    shown = one_line(error.object[:_SHOWN_CHARACTERS_MAX])
    return ConfigError(f'"{shown}" is not UTF-8', remedy="write it so, or set the terminal to it")


def _check_one_config(arguments: list[str]) -> None:
    """Raises `ConfigError` where two configurations are named: the first one would be read by nobody."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if sum(option == "--config" or option.startswith("--config=") for option in options) > 1:
        raise ConfigError("--config is given twice", remedy="put it all into one file; --set changes single keys")


def _reader_left() -> int:
    """Whoever read our output (`lapwing sub ... | head`): nobody to say it to."""
    give_up(1)
    return _BROKEN_PIPE


def print_error(error: LapwingError) -> None:
    """One line per problem on standard error; where that takes none, the exit code says it alone."""
    label = typer.style("error:", fg="red", bold=True)
    try:
        for line in error.lines():
            typer.echo(f"{label} {one_line(line)}", err=True)
    except OSError:
        give_up(sys.stderr.fileno())


def _usage_error(error: Any) -> int:
    """Click's message as one line, with the command whose ``--help`` explains it."""
    context = getattr(error, "ctx", None)
    if type(error).__name__.startswith("NoArgsIsHelp"):
        return 2  # making the error has printed the help already
    path = context.command_path if context else "lapwing"
    what = " ".join(error.format_message().rstrip(".").split())
    print_error(LapwingError(what, where=path, remedy=f"see {path} --help"))
    return int(getattr(error, "exit_code", 2))
