"""``lapwing bridge run``: members that carry messages between a broker and Apache Kafka."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from lapwing.cli.common import ConfigFile, Settings, echo_json, examples, notice
from lapwing.cli.signals import taken

if TYPE_CHECKING:
    from lapwing.bridge.run import Bridge
    from lapwing.bridge.stopping import Say

app = typer.Typer(help="Carry messages between a broker and Apache Kafka.", no_args_is_help=True)

_LOOK_S = 0.5
_STARTED = 0
"""No signal has this number."""
_RULE = '\'bridge.to_kafka=[{name = "readings", filter = "spectrum/+/readings", topic = "readings"}]\''


@app.callback()
def _bridge() -> None:
    """Carry messages between a broker and Apache Kafka."""


@app.command(
    epilog=examples(
        "lapwing bridge run --config lapwing.toml",
        "lapwing bridge run --config lapwing.toml --set bridge.members=2 --set bridge.metrics=127.0.0.1:9180 --json",
        f"lapwing bridge run --set bridge.kafka.bootstrap=127.0.0.1:9092 --set {_RULE}",
        "LAPWING_KAFKA_PASSWORD=$(cat password) lapwing bridge run --config lapwing.toml",
    )
)
def run(
    config: ConfigFile = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> int:
    """Carry messages by the rules of the configuration until SIGTERM or Ctrl-C.

    Prints where /metrics is, then "ready". A message is acknowledged when Kafka has it; what Kafka cannot take
    now waits in the broker, and standard error says so. The first SIGTERM or Ctrl-C takes nothing new and waits
    for what is in hand (bridge.drain at most), exit code 0. A second one, or one after a lane has failed, stops at
    once. To have more members, run it once more: they share the messages.
    """
    from lapwing.bridge.run import Bridge
    from lapwing.config import load

    def say(line: str) -> None:
        if json:
            echo_json({"event": "notice", "notice": line})
        else:
            notice(line)

    bridge = Bridge(load(config, settings=settings).config.bridge, say)
    with _signals() as received:
        if not _has_started(bridge, received):
            return _exit_now(0)
        _announce(bridge, as_json=json)
        try:
            _wait(bridge, received)
        except BaseException:
            say("draining the other lanes; a signal stops at once")
            _stop_at_next(received)
            bridge.stop()
            raise
        return _drain(bridge, received, say)


def _has_started(bridge: Bridge, received: queue.SimpleQueue[int]) -> bool:
    """Starts it; false where a signal came before: nothing was in hand then.

    The start has a thread of its own: Python takes signals in this one, between calls, and a connection to a broker
    that says nothing is one long call.
    """
    failures: list[BaseException] = []

    def start() -> None:
        try:
            bridge.start()
        except BaseException as failure:
            failures.append(failure)
        received.put(_STARTED)

    threading.Thread(target=start, name="bridge-start", daemon=True).start()
    if received.get() != _STARTED:
        return False
    if failures:
        raise failures[0]
    return True


def _announce(bridge: Bridge, *, as_json: bool) -> None:
    rules = list(dict.fromkeys(counts.rule for counts in bridge.all_counts()))
    if as_json:
        echo_json({"event": "ready", "rules": rules, "metrics": bridge.metrics_url or None})
        return
    if bridge.metrics_url:
        typer.echo(f"metrics {bridge.metrics_url}/metrics")
    typer.echo("ready")


def _wait(bridge: Bridge, received: queue.SimpleQueue[int]) -> None:
    """Until a signal, or until a lane ends by itself, which raises why."""
    while not bridge.wait(0.0):
        try:
            received.get(timeout=_LOOK_S)
        except queue.Empty:
            continue
        return


def _drain(bridge: Bridge, received: queue.SimpleQueue[int], say: Say) -> int:
    say("draining; a second signal stops at once")
    _stop_at_next(received)
    if not bridge.stop():
        say("the time to drain is over: what was not confirmed stays with the broker, or with Kafka")
    return 0


def _stop_at_next(received: queue.SimpleQueue[int]) -> None:
    """From now on the next signal ends the process."""
    threading.Thread(target=lambda: _exit_now(128 + received.get()), daemon=True).start()


def _exit_now(code: int) -> NoReturn:
    """Without waiting for threads: one may be in a call that nothing ends."""
    os._exit(code)


@contextmanager
def _signals() -> Iterator[queue.SimpleQueue[int]]:
    """Signals by number, as they come; the handlers before are put back at the end."""
    received: queue.SimpleQueue[int] = queue.SimpleQueue()
    with taken((signal.SIGTERM, signal.SIGINT), received.put):
        yield received
