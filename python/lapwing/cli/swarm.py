"""``lapwing swarm``: load a broker with many clients, and measure it; ``sink`` measures the swarm itself."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from lapwing.cli.common import echo_json, examples
from lapwing.cli.mqtt_options import URL_DEFAULT, ProtocolVersion, Qos, Url

app = typer.Typer(
    no_args_is_help=True,
    help="Load a broker with many clients, and measure it.\n\n"
    "Messages go by a schedule (open loop): a slow broker shows as latency, not as a lower rate. Serial "
    "numbers in the payload tell loss, repeats and order exactly.",
)
_PANEL_LOAD, _PANEL_RUN, _PANEL_SWARM = "Load", "Run", "The swarm itself"
_LOOK_S = 0.2
_MOST_16, _MOST_32 = 2**16 - 1, 2**32 - 1
_CLIENTS_MAX = 10_000_000

PATTERNS = {
    "p2p": "Pairs: each publisher to a subscriber of its own.",
    "fan-out": "Few to many: every subscriber hears every publisher (default: 1 to 100).",
    "fan-in": "Many to few: each message goes to one subscriber (default: 100 to 1).",
    "shared": "One shared group: each message goes to one member (default: 10 to 10).",
    "devices": "Devices that only publish, each to PREFIX/CLIENT/readings (default: 1000).",
}

_EXAMPLES = {
    "p2p": (
        "lapwing swarm p2p --publishers 100 --rate 20000 --seconds 30",
        "lapwing swarm p2p --publishers 100 --rate 0 --qos 1 --session-expiry 3600",
        "lapwing swarm p2p --publishers 10 --rate 0 --broker-pid $(pidof mosquitto) --pin 1",
        "lapwing swarm p2p --publishers 10 --loopback --rate 10000 --json",
        "lapwing swarm p2p --publishers 25 --rate 2500 --url sn://127.0.0.1:1884",
    ),
    "fan-out": (
        "lapwing swarm fan-out --subscribers 1000 --rate 100 --qos 1",
        "lapwing swarm fan-out --subscribers 5000 --rate 50 --seconds 2 --qos 2 --sleep 30 --url sn://127.0.0.1:1884",
    ),
    "fan-in": ("lapwing swarm fan-in --publishers 5000 --subscribers 5 --rate 20000",),
    "shared": ("lapwing swarm shared --publishers 50 --subscribers 20 --rate 10000 --qos 1 --strict",),
    "devices": (
        "lapwing swarm devices --publishers 10000 --rate 10000 --qos 1 --prefix spectrum",
        "lapwing swarm devices --publishers 60000 --processes 4 --rate 20000",
    ),
}


def _whole(panel: str, name: str, help_text: str, metavar: str = "N", least: int = 0, most: int | None = None) -> Any:
    return typer.Option(name, min=least, max=most, metavar=metavar, help=help_text, rich_help_panel=panel)


def _number(panel: str, name: str, help_text: str, metavar: str) -> Any:
    return typer.Option(name, min=0.0, metavar=metavar, help=help_text, rich_help_panel=panel)


def _command(pattern: str) -> Any:
    """The command of one pattern; all have the same options."""

    def command(
        url: Url = URL_DEFAULT,
        publishers: Annotated[
            int,
            _whole(_PANEL_LOAD, "--publishers", "Publishing clients; 0: the pattern's default.", most=_CLIENTS_MAX),
        ] = 0,
        subscribers: Annotated[
            int,
            _whole(_PANEL_LOAD, "--subscribers", "Subscribing clients; 0: the pattern's default.", most=_CLIENTS_MAX),
        ] = 0,
        topics: Annotated[int, _whole(_PANEL_LOAD, "--topics", "Topics; 0: the pattern's default.", most=_MOST_32)] = 0,
        groups: Annotated[
            int,
            _whole(
                _PANEL_LOAD,
                "--groups",
                "shared: groups that topics and subscribers are spread over.",
                least=1,
                most=_MOST_32,
            ),
        ] = 1,
        qos: Qos = 0,
        rate: Annotated[
            float,
            _number(
                _PANEL_LOAD,
                "--rate",
                "Messages a second over all publishers; 0: as fast as windows allow (closed loop).",
                "PER_S",
            ),
        ] = 1000.0,
        payload: Annotated[int, _whole(_PANEL_LOAD, "--payload", "Payload; at least 16.", "BYTES", 16, 64 << 20)] = 64,
        seconds: Annotated[float, _number(_PANEL_RUN, "--seconds", "How long to publish.", "S")] = 10.0,
        version: ProtocolVersion = None,
        window: Annotated[
            int,
            _whole(
                _PANEL_LOAD,
                "--window",
                "Messages unanswered per client; with --rate 0 at QoS 0, not arrived.",
                least=1,
                most=_MOST_16,
            ),
        ] = 100,
        loopback: Annotated[
            bool,
            typer.Option("--loopback", help="p2p: a pair is one client.", rich_help_panel=_PANEL_LOAD),
        ] = False,
        prefix: Annotated[
            str,
            typer.Option(
                "--prefix",
                metavar="TOPIC",
                help="First topic levels, and first part of client ids; default: new for each run.",
                rich_help_panel=_PANEL_LOAD,
            ),
        ] = "",
        keep_alive: Annotated[int, _whole(_PANEL_LOAD, "--keep-alive", "Keep alive.", "S", most=_MOST_16)] = 60,
        session_expiry: Annotated[
            int,
            _whole(
                _PANEL_LOAD,
                "--session-expiry",
                "How long subscribers' sessions outlive their connections: what waits for them is kept on disk.",
                "S",
                most=_MOST_32,
            ),
        ] = 0,
        sleep: Annotated[
            float,
            _number(
                _PANEL_LOAD,
                "--sleep",
                "Over sn://: each subscriber sleeps so long, awakes, takes what waits and sleeps again; 0: none does.",
                "S",
            ),
        ] = 0.0,
        drain: Annotated[
            float,
            _number(_PANEL_RUN, "--drain", "Silence after which what is missing counts as lost.", "S"),
        ] = 5.0,
        connect_timeout: Annotated[
            float, _number(_PANEL_RUN, "--connect-timeout", "For all clients together.", "S")
        ] = 60.0,
        seed: Annotated[int, _whole(_PANEL_RUN, "--seed", "Decides the order of the publishers.")] = 0,
        broker_pid: Annotated[
            int | None,
            _whole(_PANEL_RUN, "--broker-pid", "Count this process's CPU time as the broker's.", "PID", 1),
        ] = None,
        strict: Annotated[
            bool,
            typer.Option(
                "--strict",
                help="Exit code 1 when anything is lost, repeated, out of order, refused or unacknowledged.",
                rich_help_panel=_PANEL_RUN,
            ),
        ] = False,
        json: Annotated[
            bool, typer.Option("--json", help="Print the report as JSON.", rich_help_panel=_PANEL_RUN)
        ] = False,
        threads: Annotated[int, _whole(_PANEL_SWARM, "--threads", "Threads per process.", least=1, most=256)] = 1,
        processes: Annotated[
            int,
            _whole(
                _PANEL_SWARM,
                "--processes",
                "Processes: one holds as many clients as files; at most one per client.",
                least=1,
                most=_CLIENTS_MAX,
            ),
        ] = 1,
        pin: Annotated[list[int], _whole(_PANEL_SWARM, "--pin", "Pin threads to these CPUs; repeatable.", "CPU")] = [],  # noqa: B006 (typer copies it)
        spin: Annotated[
            bool,
            typer.Option(
                "--spin/--no-spin",
                help="Never sleep: exact to microseconds, a core busy. Else exact to a millisecond.",
                rich_help_panel=_PANEL_SWARM,
            ),
        ] = True,
    ) -> int:
        from lapwing.cli.swarm_run import run_swarm
        from lapwing.client.version import version_of

        profile: dict[str, Any] = {
            "pattern": pattern,
            "url": url,
            "publishers": publishers,
            "subscribers": subscribers,
            "topics": topics,
            "groups": groups,
            "qos": qos,
            "rate": rate,
            "payload_bytes": payload,
            "seconds": seconds,
            "version": version_of(url, version),
            "window": window,
            "loopback": loopback,
            "prefix": prefix or _prefix_of(url),
            "keep_alive_s": keep_alive,
            "session_expiry_s": session_expiry,
            "sleep_s": sleep,
            "drain_s": drain,
            "connect_timeout_s": connect_timeout,
            "seed": seed,
            "broker_pid": broker_pid,
            "threads": threads,
            "pin": pin,
            "spin": spin,
        }
        report, interrupted = run_swarm(profile, processes, quiet=json)
        return _finish(report, interrupted=interrupted, strict=strict, as_json=json)

    command.__doc__ = PATTERNS[pattern]
    return command


for _pattern in PATTERNS:
    app.command(_pattern, epilog=examples(*_EXAMPLES[_pattern]))(_command(_pattern))


def _prefix_of(url: str) -> str:
    """A prefix that no run had before; over MQTT-SN one that leaves client ids within its 23 characters."""
    return f"sn/{time.time_ns() // 1_000_000:x}" if "sn://" in url else f"swarm/{time.time_ns():x}"


def _finish(report: dict[str, Any], *, interrupted: bool, strict: bool, as_json: bool) -> int:
    """Prints the report; gives the exit code."""
    from lapwing.cli.swarm_report import is_clean, print_report

    if as_json:
        echo_json(report)
    else:
        print_report(report)
    if interrupted:
        return 130
    return 1 if strict and not is_clean(report) else 0


@app.command(
    epilog=examples(
        "lapwing swarm sink --port 1884 --pin 0 --spin",
        "lapwing swarm devices --url sn://127.0.0.1:1884 --publishers 25 --rate 2500",
        "lapwing swarm devices --url tcp://127.0.0.1:1884 --publishers 10 --rate 0 --pin 1",
        "lapwing swarm sink --port 1884 --echo    # then: lapwing swarm p2p --loopback",
    )
)
def sink(
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 0,
    echo: Annotated[bool, typer.Option("--echo", help="Send each QoS 0 message back to its sender.")] = False,
    spin: Annotated[bool, typer.Option("--spin", help="Never sleep.")] = False,
    pin: Annotated[int | None, typer.Option("--pin", min=0, metavar="CPU", help="Pin to this CPU.")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.0, metavar="S", help="End after; default: Ctrl-C.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print addresses and figures as JSON.")] = False,
) -> None:
    """Run a server that takes every message and keeps none: measures the swarm without a broker.

    Prints its address when it listens, and at the end what it took in.
    """
    from lapwing import _core
    from lapwing.client.failures import core_failures

    with core_failures(f"{host}:{port}"):
        server = _core.Sink(host, port, echo=echo, spin=spin, pin=pin)
    if json:
        echo_json({"url": server.url()})
    else:
        typer.echo(server.url())
    end = float("inf") if seconds is None else time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            time.sleep(min(_LOOK_S, max(0.0, end - time.monotonic())))
    except KeyboardInterrupt:
        pass  # this is how a sink without --seconds ends
    _print_figures(server.figures_json(), as_json=json)
    server.stop()


def _print_figures(figures_json: str, *, as_json: bool) -> None:
    import json

    figures = json.loads(figures_json)
    if as_json:
        echo_json(figures)
    else:
        typer.echo(f"{figures['publishes']:,} messages over {figures['connections']:,} connections")
