"""``lapwing pub``: publishes one message, or one per line of standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from lapwing.cli.common import examples
from lapwing.cli.mqtt_options import (
    URL_DEFAULT,
    Ca,
    ClientId,
    PasswordFile,
    ProtocolVersion,
    Qos,
    Timeout,
    Url,
    Username,
    identity_of,
)
from lapwing.cli.tls_options import Certificate, Key
from lapwing.errors import ConfigError

app = typer.Typer()
_READ_BYTES = 64 << 10
_PACKET_BYTES_MAX = 268_435_455


@app.command(
    epilog=examples(
        'lapwing pub spectrum/d1/readings \'{"hello": "world"}\' --qos 1',
        "lapwing pub firmware/d1 --file image.bin --qos 2 --url tcp://127.0.0.1:1883",
        "lapwing pub lamps/kitchen on --retain",
        "seq 1000 | lapwing pub numbers --stdin-lines --qos 1",
        "lapwing pub alarms fire --property floor=3 --property room=12",
        "lapwing pub sensors/hall/t 20.5 --qos 1 --url sn://127.0.0.1:1884",
        "lapwing pub t hello --url tls://broker.example --ca ca.pem --username d1 --password-file d1.secret",
    )
)
def pub(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Where to.")],
    message: Annotated[str | None, typer.Argument(metavar="[MESSAGE]", help="The payload, as UTF-8.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="The payload.")] = None,
    stdin_lines: Annotated[
        bool, typer.Option("--stdin-lines", "-l", help="One message per line of standard input.")
    ] = False,
    url: Url = URL_DEFAULT,
    qos: Qos = 0,
    retain: Annotated[bool, typer.Option("--retain", "-r", help="The broker keeps it for later subscribers.")] = False,
    client_id: ClientId = "",
    properties: Annotated[
        list[str], typer.Option("--property", "-p", metavar="NAME=VALUE", help="User property; repeatable.")
    ] = [],  # noqa: B006 (typer copies it)
    version: ProtocolVersion = None,
    timeout: Timeout = 30.0,
    username: Username = None,
    password_file: PasswordFile = None,
    ca: Ca = None,
    cert: Certificate = None,
    key: Key = None,
) -> None:
    """Publish MESSAGE, a file, or each line of standard input.

    Returns when the broker has taken everything: sent at QoS 0, acknowledged at QoS 1, completed at QoS 2.
    """
    from lapwing.client import Client
    from lapwing.client.topics import check_topic

    check_topic(topic)
    batches = _payloads(message, file, stdin_lines=stdin_lines)
    user_properties = [_property(text, url, version) for text in properties]
    who = identity_of(url, username, password_file, ca, cert, key).at(url)
    # No keep alive: standard input may be silent for longer, and nothing is received in the meantime.
    with Client(
        url,
        client_id=client_id,
        version=version,
        keep_alive_s=0,
        username=who.username,
        password=who.password,
        ca=who.ca,
        certificate=who.certificate,
        key=who.key,
        timeout_s=timeout,
    ) as client:
        for batch in batches:
            for payload in batch:
                client.publish(topic, payload, qos=qos, retain=retain, user_properties=user_properties, hold=True)
            client.flush()


def _payloads(message: str | None, file: Path | None, *, stdin_lines: bool) -> Iterable[list[bytes]]:
    """The one source that was given, as batches to be sent at once.

    Raises:
        ConfigError: none or several were given, or the file cannot be read.
    """
    if [message is not None, file is not None, stdin_lines].count(True) != 1:
        remedy = 'give MESSAGE ("" for an empty one), --file or --stdin-lines'
        raise ConfigError("exactly one payload is needed", where="lapwing pub", remedy=remedy)
    if message is not None:
        return [[message.encode(errors="surrogateescape")]]
    if file is None:
        return _lines(sys.stdin.buffer)
    return [[_contents(file)]]


def _contents(file: Path) -> bytes:
    """A whole file; of a device or a pipe without an end no more than a packet could carry."""
    try:
        with file.open("rb") as source:
            read = source.read(_PACKET_BYTES_MAX + 1)
    except OSError as error:
        what = f"cannot read the payload: {error.strerror}"
        raise ConfigError(what, where=str(file), remedy="give --file a file that you may read") from error
    if len(read) > _PACKET_BYTES_MAX:
        what = f"the payload is longer than {_PACKET_BYTES_MAX} bytes"
        raise ConfigError(what, where=str(file), remedy="no MQTT packet carries more: publish it in parts")
    return read


def _lines(source: BinaryIO) -> Iterator[list[bytes]]:
    """Lines as they come: those of one read are a batch, so that a slow writer's lines leave at once.

    Raises:
        ConfigError: a line is longer than any MQTT packet.
    """
    rest = b""
    while chunk := source.read1(_READ_BYTES):  # type: ignore[attr-defined]  # a BufferedReader has it
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield lines
        if len(rest) > _PACKET_BYTES_MAX:
            what = f"a line is longer than {_PACKET_BYTES_MAX} bytes"
            raise ConfigError(what, where="standard input", remedy="use --file, or shorter lines")
    if rest:
        yield [rest]


def _property(text: str, url: str, version: int | None) -> tuple[str, str]:
    from lapwing.client.version import version_of

    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--property {text!r} is not NAME=VALUE", remedy="write --property floor=3")
    if version_of(url, version) < 5:
        remedy = "use --version 5; over sn:// there is none: leave it out, or use tcp://"
        raise ConfigError("MQTT 3.1.1 has no user properties", where="--property", remedy=remedy)
    return name, value
