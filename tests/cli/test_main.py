"""`lapwing` itself: help, version, wrong usage, and that a command costs nothing until it is called."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from commands import call, lapwing, one_error

from lapwing import Broker, __version__
from lapwing.cli.app import COMMANDS

SLOW_TO_LOAD = {
    "asyncio",
    "confluent_kafka",
    "deltalake",
    "lapwing._core",
    "matplotlib",
    "numpy",
    "pandas",
    "prompt_toolkit",
    "pyarrow",
    "pydantic",
    "pyspark",
    "starlette",
    "uvicorn",
}

SUBCOMMANDS = ["stream list", "stream info", "stream read", "config show", "config check"]


def test_version() -> None:
    assert lapwing("--version").stdout == f"lapwing {__version__}\n"


def test_help_loads_nothing_that_takes_long() -> None:
    """Does the list of commands come without what only commands need? Typer and Rich are a quarter of a second."""
    result = lapwing("--help", PYTHONPROFILEIMPORTTIME="1")
    assert result.returncode == 0
    loaded = {line.split("|")[2].strip() for line in result.stderr.splitlines() if line.startswith("import time:")}
    assert "lapwing.cli.app" in loaded
    assert not loaded & SLOW_TO_LOAD
    listed = {word for line in result.stdout.splitlines() for word in line.strip("\u2502 ").split()[:1]}
    for name in COMMANDS:
        assert (name in listed) == (find_spec(f"lapwing.cli.{name}") is not None)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e300"])
def test_no_number_of_an_option_is_endless(value: str) -> None:
    """One that says nothing else has a bound too: what is reckoned with it would fail somewhere inside."""
    assert "--seconds" in one_error(call("demo", "--seconds", value, "--out", "nowhere"))


@pytest.mark.parametrize("command", [*COMMANDS, *SUBCOMMANDS])
def test_each_command_explains_itself(command: str) -> None:
    """Has each command help, and examples of itself? A group's are in its subcommands."""
    result = call(*command.split(), "--help")
    assert result.returncode == 0, result.stderr
    assert "\x1b[" not in result.stdout, "colours only on a terminal"
    assert "--install-completion" not in result.stdout
    if "COMMAND [ARGS]" not in result.stdout:
        assert f"lapwing {command}" in result.stdout.split("Examples:")[1]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["brker"], "No such command 'brker'. Did you mean 'broker'? (lapwing): see lapwing --help"),
        (["broker", "--shards", "2"], "No such option"),
        (["stream", "read", "readings"], "Missing argument"),
        (["stream", "read", "readings", "zero"], "Invalid value"),
        (["stream", "read", "readings", "0", "--from", "-1"], "Invalid value"),
        (["config", "check"], "Missing argument"),
    ],
)
def test_wrong_usage(arguments: list[str], what: str) -> None:
    """Is wrong usage one line with the way to the help, and exit code 2?"""
    result = call(*arguments)
    assert result.returncode == 2
    assert what in one_error(result)
    assert "--help" in one_error(result)


LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["user", "remove", "a", "--users", LONG],
        ["user", "list", "--users", LONG],
        ["audit", "verify", LONG],
        ["config", "check", LONG],
        ["stream", "list", "--token-file", LONG],
        ["pub", "t", "--file", LONG],
        ["demo", "--out", LONG],
        ["pipeline", "maintain", "--out", LONG],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_path_that_the_system_refuses_is_one_line(arguments: list[str]) -> None:
    result = call(*arguments)
    assert result.returncode == 2
    assert "too long" in one_error(result) or "300 bytes in one name" in one_error(result)


@pytest.mark.parametrize(
    "arguments",
    [["pub", "a\udcff", "x"], ["pub", "a", "x", "--id", "\udcff"], ["sub", "a/\udcff"]],
)
def test_an_argument_that_is_no_text_is_one_line(arguments: list[str], lapwing_broker: Broker) -> None:
    result = call(*arguments, "--url", lapwing_broker.url)
    assert result.returncode == 2
    assert "is not UTF-8" in one_error(result)


@pytest.mark.parametrize("host", ["a b", "a..b", ".", "x" * 64])
def test_a_host_that_is_none_is_one_line(host: str) -> None:
    """Who looks such a name up does not say that it is unknown, but fails in another way: it was a traceback."""
    assert "is not the URL" in one_error(call("groups", "--url", f"http://{host}:1"))
    assert "must be HOST:PORT" in one_error(call("config", "show", "--set", f"broker.listen=tcp://{host}:1"))
    assert "must be a URL" in one_error(call("config", "show", "--set", f"auth.http.url=http://{host}:1"))


def test_two_configurations_are_none() -> None:
    """Who expects them to be put together is told so; the first one was not even looked for."""
    for second in (["--config", "b"], ["--config=b"]):
        assert "--config is given twice" in one_error(call("config", "show", "--config", "a", *second))


def test_no_command_is_help() -> None:
    result = lapwing()
    assert result.returncode == 2
    assert "Usage: lapwing" in result.stdout + result.stderr
