"""``lapwing broker``: a broker in this process until a signal ends it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from lapwing.cli.common import ConfigFile, Settings, echo_json, examples
from lapwing.cli.standard_streams import give_up

if TYPE_CHECKING:
    from lapwing.broker import Broker

app = typer.Typer()


@app.command(
    epilog=examples(
        "lapwing broker",
        "lapwing broker --listen tcp://127.0.0.1:0 --http off --json",
        "lapwing broker --config lapwing.toml --data /var/lib/lapwing --set broker.shards=2",
        "lapwing broker --set streams.readings.filter=spectrum/+/readings --set broker.drain=30s",
        "lapwing broker --profile edge --data /var/lib/lapwing",
        "lapwing broker --accept-loss-of log/00000000000000000002.log",
    )
)
def broker(
    config: ConfigFile = None,
    listen: Annotated[
        list[str] | None,
        typer.Option("--listen", metavar="URL", help="MQTT listener, as tcp://127.0.0.1:1883; repeatable."),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help='Streams, health, metrics; "off" for none.'),
    ] = None,
    http_open: Annotated[
        bool,
        typer.Option(
            "--http-open", help="HTTP does everything for everybody, though hooks or certificates guard MQTT."
        ),
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help='"edge": defaults for little memory, flash and few clients.'),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DIR", help="Folder of the log; made if missing.")
    ] = None,
    accept_loss_of: Annotated[
        list[str] | None,
        typer.Option(
            "--accept-loss-of",
            metavar="SEGMENT",
            help="Give up what is damaged in this segment of the log, and say what it was; repeatable.",
        ),
    ] = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    log_format: Annotated[
        str | None,
        typer.Option("--log-format", metavar="FORMAT", help="Of standard error: text, json, journald, auto."),
    ] = None,
) -> int:
    """Run a broker until SIGTERM or Ctrl-C.

    Prints each listener's address, then "ready"; a member of a cluster says on standard error when it serves, and
    where. A start that takes longer than a second says how much of the log it
    has read. The first SIGTERM or Ctrl-C drains: no new connections,
    clients are let go in order, what waits is committed (broker.drain at most), exit code 0. A second one
    stops at once. SIGHUP reads users, rules, topics, groups and certificates again.
    """
    from lapwing import Broker
    from lapwing.cli.broker_loop import serve
    from lapwing.cli.failures import Failures
    from lapwing.config import load
    from lapwing.config.reread import Reread
    from lapwing.config.variables import no_settings
    from lapwing.log.printer import printer_of

    flags = _flags(
        {
            "--listen": ("listen", listen),
            "--http": ("http", http),
            "--profile": ("profile", profile),
            "--data": ("data", data),
        }
    )
    if http_open:
        flags["http.open"] = "--http-open", True
    if log_format is not None:
        flags["log.format"] = "--log-format", log_format

    with Failures(log_format) as failures:
        read = Reread(config, lambda: load(config, settings=settings, flags=flags))
        given = read.in_force
        failures.form = given.log.format
        if accept_loss_of:
            from lapwing.cli.store_loss import give_up as give_up_segments
            from lapwing.privileges import acting_as, wanted_account

            with acting_as(wanted_account(given.broker.user, uid=os.geteuid())):
                give_up_segments(given.broker.data, accept_loss_of)
        running = Broker.from_config(given, config)
        log = printer_of(given.log)
        for line in no_settings(os.environ):
            log.warning(line, subject="start")

        def on_ready() -> None:
            failures.subject = "end"
            try:
                _announce(running, as_json=json)
            except OSError as error:
                # Whoever waits for these lines has left, or has no room for them: clients can connect all the same.
                give_up(sys.stdout.fileno())
                places = ", ".join(url for _, url in _listeners(running))
                log.warning(f"standard output takes nothing: {error.strerror}; listens at {places}")

        return serve(running, on_ready, config=read, log=log)


def _flags(given: Mapping[str, tuple[str, object]]) -> dict[str, tuple[str, object]]:
    """Flags that were given, as ``load`` wants them: key -> (flag, value)."""
    return {f"broker.{key}": (flag, value) for flag, (key, value) in given.items() if value not in (None, [])}


def _listeners(running: Broker) -> list[tuple[str, str]]:
    """Who can connect where. A member of a cluster opens its listeners for clients when it serves, and says so then."""
    at = running.peer_address
    places = [("mqtt", url) for url in running.urls] if at is None else [("cluster", at)]
    return places + ([("http", running.http_url)] if running.config.broker.http is not None else [])


def _announce(running: Broker, *, as_json: bool) -> None:
    for protocol, url in _listeners(running):
        if as_json:
            echo_json({"event": "listening", "protocol": protocol, "url": url})
        else:
            typer.echo(f"{protocol} {url}")
    if as_json:
        echo_json({"event": "ready"})
    else:
        typer.echo("ready")
