"""``lapwing stream list|info|read|forget``: a broker's streams from the outside, over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lapwing.cli.again import Again
from lapwing.cli.common import echo_json, examples, notice, table
from lapwing.cli.http_options import Asked, asks_broker
from lapwing.cli.messages import payload_fields, property_list
from lapwing.cli.standard_streams import check_reader
from lapwing.cli.stream_api import MadeAnewError, StreamApi
from lapwing.errors import LapwingError
from lapwing.text import one_line, payload_text

if TYPE_CHECKING:
    from datetime import datetime

app = typer.Typer(help="List streams, and read their messages.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
_PAGE_MESSAGES = 10_000
_FOLLOW_INTERVAL_S = 0.2


@app.command(
    "list",
    epilog=examples(
        "lapwing stream list",
        "lapwing stream list --json | jq -r .name",
        "lapwing stream list --url https://edge:8443 --token-file token",
    ),
)
@asks_broker
def list_(
    asked: Asked,
    json: Json = False,
) -> None:
    """List streams."""
    streams = StreamApi(*asked).streams()
    if json:
        for stream in streams:
            echo_json(stream)
        return
    rows = [(s["name"], s["filter"], s["key"], len(s["partitions"]), *_totals(s)) for s in streams]
    typer.echo(table(rows, ("NAME", "FILTER", "KEY", "PARTITIONS", "MESSAGES", "BYTES")))


def _totals(stream: dict[str, Any]) -> tuple[int, int]:
    partitions = stream["partitions"]
    return sum(p["next_offset"] - p["first_offset"] for p in partitions), sum(p["bytes"] for p in partitions)


@app.command(epilog=examples("lapwing stream info readings", "lapwing stream info readings --json"))
@asks_broker
def info(
    asked: Asked,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The stream's name.")],
    json: Json = False,
) -> None:
    """Print one stream's identity, and where each of its partitions begins and ends."""
    stream = StreamApi(*asked).stream(name)
    if json:
        echo_json(stream)
        return
    for key in ("name", "uuid", "filter", "key"):
        typer.echo(f"{key:8} {one_line(str(stream[key]))}")
    rows = [(p["partition"], p["first_offset"], p["next_offset"], p["bytes"]) for p in stream["partitions"]]
    typer.echo(table(rows, ("PARTITION", "FIRST", "NEXT", "BYTES")))
    if stream["readers"]:
        places = [
            (reader["name"], reader["seen_at"], place["partition"], place["next_offset"])
            for reader in stream["readers"]
            for place in reader["partitions"]
        ]
        typer.echo(table(places, ("READER", "SEEN", "PARTITION", "NEXT")))


@app.command(epilog=examples("lapwing stream forget readings spark"))
@asks_broker
def forget(
    asked: Asked,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The stream's name.")],
    reader: Annotated[str, typer.Argument(metavar="READER", help="As it reads: --reader READER.")],
) -> None:
    """Forget a named reader: no alarm for what it has not read, and room for another."""
    StreamApi(*asked).forget(name, reader)


@app.command(
    epilog=examples(
        "lapwing stream read readings 0",
        "lapwing stream read readings 0 --from 1000 --limit 10 --json",
        "lapwing stream read readings 0 --follow --json | jq -r .topic",
    )
)
@asks_broker
def read(
    asked: Asked,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The stream's name.")],
    partition: Annotated[int, typer.Argument(metavar="PARTITION", min=0, help="Number, from 0.")],
    offset: Annotated[
        int | None,
        typer.Option("--from", metavar="OFFSET", min=0, help="Default: the oldest kept."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Stop after N; default: at the end."),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option("--reader", metavar="NAME", help="Alarm if retention deletes what NAME has not read."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="At the end, wait for more.")] = False,
    json: Json = False,
) -> None:
    """Print a partition's messages in order: offset, topic, payload; with --json all of the envelope.

    With --follow a broker that goes away is waited for, with a growing pause, and standard error says so; nothing is
    missed. If the stream was made anew meanwhile, it is read from its oldest message, and standard error says that too.
    """
    api = StreamApi(*asked)
    for row in _rows(api, name, partition, offset, limit, reader, follow=follow):
        if json:
            echo_json(_json_row(row))
        else:
            typer.echo(f"{row['offset']} {one_line(row['topic'])} {payload_text(row['payload'])}")


def _rows(
    api: StreamApi,
    name: str,
    partition: int,
    offset: int | None,
    limit: int | None,
    reader: str | None,
    *,
    follow: bool,
) -> Iterator[dict[str, Any]]:
    """Rows, page after page, until ``limit`` or the end.

    Raises:
        MadeAnewError: the stream became another one between two pages; with ``follow`` that one is read then.
    """
    left = limit
    uuid: str | None = None
    pause = threading.Event()  # never set: a wait that Ctrl-C ends
    again, has_read = Again(f"the broker at {api.url}"), False
    while left is None or left > 0:
        try:
            page = api.read(name, partition, offset, min(_PAGE_MESSAGES, left or _PAGE_MESSAGES), reader, uuid)
        except MadeAnewError as error:
            if not follow:
                raise
            again.found()
            notice(f"{error.what}; going on with its oldest message")
            offset = uuid = None
            continue
        except LapwingError as error:
            if not (follow and has_read):
                raise
            again.lost(error)
            continue
        again.found()
        has_read, uuid = True, page.uuid
        rows = _decode(page.arrow)
        yield from rows
        left = left and left - len(rows)
        offset = page.next_offset
        if offset >= page.end_offset:
            if not follow:
                return
            pause.wait(_FOLLOW_INTERVAL_S)
            check_reader()


def _decode(arrow: bytes) -> list[dict[str, Any]]:
    import pyarrow as pa

    from lapwing.contracts.clocks import with_dates

    with pa.ipc.open_stream(arrow) as batches:
        return [row for batch in batches for row in with_dates(batch).to_pylist()]


def _json_row(row: dict[str, Any]) -> dict[str, Any]:
    """The envelope with payload and times as JSON can carry them; clocks nobody stamped are left out."""
    properties = property_list((pair["name"], pair["value"]) for pair in row["user_properties"])
    times = {key: _rfc3339(row[key]) for key in row if key.endswith("_at") and row[key] is not None}
    kept = {key: row[key] for key in ("topic", "client_id", "qos", "retain", "partition", "offset")}
    return {**kept, **payload_fields(row["payload"]), "user_properties": properties, **times}


def _rfc3339(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")
