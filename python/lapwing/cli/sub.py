"""``lapwing sub``: prints messages as they arrive."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lapwing.cli.again import Again
from lapwing.cli.common import echo_json, examples
from lapwing.cli.messages import payload_fields, property_list
from lapwing.cli.mqtt_options import (
    URL_DEFAULT,
    Ca,
    ClientId,
    PasswordFile,
    ProtocolVersion,
    Qos,
    Url,
    Username,
    identity_of,
)
from lapwing.cli.standard_streams import check_reader
from lapwing.cli.tls_options import Certificate, Key
from lapwing.client_url import without_user
from lapwing.errors import LapwingError, TimedOutError
from lapwing.text import one_line, payload_text

if TYPE_CHECKING:
    from lapwing.client import Client, Message

app = typer.Typer()
_WAIT_S = 0.5  # Ctrl-C is heard between waits: the wait itself is in Rust


@app.command(
    epilog=examples(
        "lapwing sub 'spectrum/#'",
        "lapwing sub 'spectrum/+/readings' --json --count 10 --timeout 60",
        "lapwing sub '$share/workers/jobs/#' --qos 1",
        "lapwing sub t --url wss://broker.example/mqtt --username d1",
        "lapwing sub 'sensors/#' --url sn://127.0.0.1:1884",
        "lapwing sub lamps/kitchen --count 1 --timeout 5 || echo 'nobody has set it'",
    )
)
def sub(
    filters: Annotated[list[str], typer.Argument(metavar="FILTER...", help="Topic filters.")],
    url: Url = URL_DEFAULT,
    qos: Qos = 0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, metavar="N", help="Stop after N messages.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", "-t", min=0, metavar="SECONDS", help="Stop after; code 4 if --count is not reached."),
    ] = None,
    client_id: ClientId = "",
    version: ProtocolVersion = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    username: Username = None,
    password_file: PasswordFile = None,
    ca: Ca = None,
    cert: Certificate = None,
    key: Key = None,
) -> None:
    """Subscribe, and print "topic payload" for each message as it arrives.

    Without --count it goes on until --timeout (exit code 0) or Ctrl-C (130). With both, fewer than --count
    messages within --timeout are exit code 4. A connection that is lost is made again, with a growing pause, and
    standard error says so; what is published meanwhile is missed.
    """
    from lapwing.client import Client
    from lapwing.client.topics import check_filter

    for each in filters:
        check_filter(each)
    who = identity_of(url, username, password_file, ca, cert, key).at(url)
    client = Client(
        url,
        client_id=client_id,
        version=version,
        username=who.username,
        password=who.password,
        ca=who.ca,
        certificate=who.certificate,
        key=who.key,
    )
    received = _Receiver(client, filters, qos, as_json=json).run(count, timeout)
    if count is not None and received < count:
        remedy = "check the filter, or wait longer"
        raise TimedOutError(
            f"{received} of {count} messages within {timeout:g} s", where=without_user(url), remedy=remedy
        )


class _Receiver:
    """Prints what comes, over lost connections too."""

    def __init__(self, client: Client, filters: list[str], qos: int, *, as_json: bool) -> None:
        self._client, self._filters, self._qos, self._as_json = client, filters, qos, as_json
        self._received = 0

    def run(self, count: int | None, timeout: float | None) -> int:
        """Until there are ``count``, or ``timeout`` is over; returns how many came."""
        until = None if timeout is None else time.monotonic() + timeout
        missed = "; what was published meanwhile is missed"
        again = Again(f"the broker at {without_user(self._client.url)}", until=until, missed=missed)
        self._connect()
        while True:
            try:
                self._connect()
                again.found()
                self._receive(count, until)
                self._client.disconnect()
                return self._received
            except LapwingError as error:
                self._client.abort()
                if not again.lost(error):
                    return self._received
            except KeyboardInterrupt:
                with suppress(LapwingError):
                    self._client.disconnect()
                raise

    def _connect(self) -> None:
        """Subscribes anew where the connection is one; a lost one had its session with it."""
        if not self._client.is_connected:
            self._client.connect()
            self._client.subscribe(self._filters, qos=self._qos)

    def _receive(self, count: int | None, until: float | None) -> None:
        while count is None or self._received < count:
            left = _WAIT_S if until is None else min(_WAIT_S, until - time.monotonic())
            message = self._client.receive(max(0.0, left))
            if message is not None:
                self._received += 1
                _print(message, as_json=self._as_json)
            else:
                check_reader()
            if until is not None and time.monotonic() >= until:
                return


def _print(message: Message, *, as_json: bool) -> None:
    if as_json:
        echo_json(_json_row(message))
    else:
        typer.echo(f"{one_line(message.topic)} {payload_text(message.payload)}")


def _json_row(message: Message) -> dict[str, Any]:
    row: dict[str, Any] = {"topic": message.topic, "qos": message.qos, "retain": message.retain}
    row.update(payload_fields(message.payload))
    if message.user_properties:
        row["user_properties"] = property_list(message.user_properties)
    return row
