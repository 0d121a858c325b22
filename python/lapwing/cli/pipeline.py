"""``lapwing pipeline list|run``: Spark jobs over a broker's stream or a Kafka topic."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lapwing.cli.common import echo_json, examples, say, table
from lapwing.cli.http_options import Ca, PasswordFile, TokenFile, User, credentials_of
from lapwing.cli.mqtt_options import URL_DEFAULT
from lapwing.cli.signals import taken
from lapwing.cli.tls_options import Certificate, Key, own_ca
from lapwing.client_url import check_tls_files, is_plain
from lapwing.errors import ConfigError, LapwingError
from lapwing.https import NO_FILES, TlsFiles
from lapwing.text import one_line

if TYPE_CHECKING:
    from lapwing.credentials import Credentials
    from lapwing.pipeline.jobs.late_progress import LateProgress, LateResult
    from lapwing.pipeline.jobs.progress import BatchProgress, JobResult
    from lapwing.pipeline.maintain import Maintained

app = typer.Typer(help="Run Spark jobs over a stream or a Kafka topic.", no_args_is_help=True)

_AVAILABLE_NOW = "available-now"
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,3})?", re.ASCII)
"""Spark counts milliseconds; and `float` would take 1_0 for ten."""


@app.command("list", epilog=examples("lapwing pipeline list"))
def list_() -> None:
    """List the jobs."""
    from lapwing.pipeline.jobs import JOBS

    typer.echo(table(JOBS.items(), ("JOB", "WRITES")))


@app.command(
    epilog=examples(
        "lapwing pipeline run coverage --source http://127.0.0.1:8080 --out out",
        "lapwing pipeline run coverage --source http://127.0.0.1:8080/v1/streams/readings --out out"
        " --trigger available-now",
        "lapwing pipeline run coverage --source http://edge:8080 --out out --conf spark.driver.memory=6g"
        " --conf lapwing.on_trimmed=skip",
        "lapwing pipeline run deadlines --source http://127.0.0.1:8080/v1/streams/late --out out",
        "lapwing pipeline run coverage --source kafka://127.0.0.1:9092/readings --out out --trigger available-now",
        "lapwing pipeline run controller --source http://127.0.0.1:8080 --out out --broker tcp://127.0.0.1:1883",
        "lapwing pipeline run coverage --source https://broker.example:8443 --out out --token-file token --ca ca.pem",
    )
)
def run(
    job: Annotated[str, typer.Argument(metavar="JOB", help="A name that `lapwing pipeline list` shows.")],
    source: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The stream: http://HOST:PORT/v1/streams/NAME, without a path readings; or a Kafka topic:"
            " kafka://HOST:PORT[,HOST:PORT]/TOPIC.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Gets tables/NAME and pictures.")],
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Spark's checkpoint; else one below OUT.")
    ] = None,
    trigger: Annotated[
        str, typer.Option(metavar="available-now|SECONDS", help="What is there now, or a batch every so often.")
    ] = "1",
    master: Annotated[
        str | None, typer.Option(metavar="MASTER", help="Spark's master; else this machine, all cores.")
    ] = None,
    conf: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE", help="A Spark setting, or lapwing.NAME=VALUE for the source; may be repeated."
        ),
    ] = [],  # noqa: B006  (typer copies it)
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per batch, and the result.")] = False,
    broker: Annotated[
        str,
        typer.Option(metavar="URL", envvar="LAPWING_URL", help="controller: where the devices are, tcp://HOST:PORT."),
    ] = URL_DEFAULT,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca: Ca = "",
    cert: Certificate = None,
    key: Key = None,
) -> None:
    """Run a job until it is done, or until Ctrl-C or SIGTERM: it finishes the batch at hand, then draws."""
    from lapwing.pipeline.jobs import JOBS

    if job not in JOBS:
        raise ConfigError(f"no job is called {job!r}", where="JOB", remedy=f"there is {', '.join(JOBS)}")
    _check_files(job, source, broker, {"--ca": own_ca(ca), "--cert": cert, "--key": key})
    tls = TlsFiles(ca, cert or "", key or "")
    who = {"token_file": token_file, "user": user, "password_file": password_file, **_files_of(source, tls)}
    every = _trigger(trigger)
    settings = _of_source(job, source, {name: value for name, value in who.items() if value}) | _conf(conf)
    told = _tell_json if json else _tell
    with _interrupts() as stopped:
        result = _runner(job, broker, lambda: credentials_of(token_file, user, password_file), tls)(
            source,
            out,
            checkpoint=checkpoint,
            trigger=every,
            master=master,
            conf=settings,
            progress=told,
            until=lambda running: running.wait(stopped),
        )
    _finish(result, out, json=json)


@app.command(
    epilog=examples(
        "lapwing pipeline maintain --out out",
        "lapwing pipeline maintain --out out --keep-days 90 --every 86400",
        "lapwing pipeline maintain --out out --forget d1",
    )
)
def maintain(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The --out of a job, which may run meanwhile, or begin.")],
    keep_days: Annotated[
        int | None,
        typer.Option("--keep-days", metavar="N", min=1, help="Delete rows of days before the last N (UTC)."),
    ] = None,
    forget: Annotated[
        list[str], typer.Option("--forget", metavar="DEVICE", help="Delete this device's rows; may be repeated.")
    ] = [],  # noqa: B006  (typer copies it)
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", min=1.0, help="Again and again, until Ctrl-C.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per table.")] = False,
) -> int:
    """Keep tables small: few files of many, no old files, and on demand no old days and no device that has to go.

    What is wrong with a table is said, and the others and the next time are gone on with. Exit code 1 if there was any.
    """
    from lapwing.cli.app import print_error
    from lapwing.pipeline.maintain import maintain as maintained

    failures: list[LapwingError] = []

    def told(error: LapwingError) -> None:
        failures.append(error)
        print_error(error)

    with _interrupts() as stopped:
        _echo_maintained(maintained(out, keep_days=keep_days, forget=forget, told=told), json=json)
        while every is not None and not stopped.wait(every):
            try:
                _echo_maintained(maintained(out, keep_days=keep_days, forget=forget, told=told), json=json)
            except LapwingError as error:  # the folder is gone, or full: the next time it may be there
                told(error)
    return 1 if failures else 0


def _echo_maintained(found: Sequence[Maintained], *, json: bool) -> None:
    from dataclasses import asdict

    if json:
        for each in found:
            echo_json(asdict(each))
    else:
        rows = ((m.table, f"{m.rows_deleted:,}", m.files_before, m.files_after, m.left_out) for m in found)
        typer.echo(table(rows, ("TABLE", "ROWS DELETED", "FILES", "NOW", "LEFT OUT")))


@app.command(epilog=examples("lapwing pipeline migrate --out out"))
def migrate(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The --out of a job that does not run.")],
) -> None:
    """Bring tables of an earlier release over: columns that are new, null in old rows, and folders by day."""
    from lapwing.pipeline.migrate import migrate as migrated

    for name, columns in migrated(out).items():
        typer.echo(f"{name}: {', '.join(columns) if columns else 'nothing to do'}")


def _check_files(job: str, source: str, broker: str, own: Mapping[str, str | None]) -> None:
    """Whether somebody takes what is for TLS: the source, or the controller's broker."""
    takers = [source, broker] if job == "controller" else [source]
    if all(map(is_plain, takers)):
        check_tls_files(takers[-1], own)


def _files_of(source: str, tls: TlsFiles) -> dict[str, str]:
    """``tls`` as settings of the source, where that has TLS."""
    return {} if is_plain(source) else tls._asdict()


def _of_source(job: str, source: str, who: dict[str, str]) -> dict[str, str]:
    """Who asks, as settings of the source. At Kafka that is nobody: who reads there, its client's own settings say."""
    from lapwing.pipeline.source.kafka_address import SCHEME

    if not source.startswith(SCHEME):
        return {f"lapwing.{name}": value for name, value in who.items()}
    # LAPWING_CA may have said the authorities.
    named = [f"--{name.replace('certificate', 'cert').replace('_', '-')}" for name in who if name != "ca"]
    if named and job != "controller":
        raise ConfigError(
            f"{named[0]} says who asks a broker, and the source is Kafka",
            where=named[0],
            remedy="name the file that says who reads there: --conf lapwing.client_config=FILE",
        )
    return {}


def _runner(
    job: str, broker: str, credentials: Callable[[], Credentials], tls: TlsFiles
) -> Callable[..., JobResult | LateResult]:
    if job == "controller":
        from lapwing.controller.run import run_controller_over_mqtt

        return partial(
            run_controller_over_mqtt,
            broker=broker,
            credentials=credentials(),
            tls=NO_FILES if is_plain(broker) else tls,
        )
    if job == "deadlines":
        from lapwing.pipeline.jobs.deadlines import run_deadlines

        return run_deadlines
    from lapwing.pipeline.jobs.coverage import run_coverage

    return run_coverage


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second one interrupts at once."""
    stopped = threading.Event()

    def stop(_number: int) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        say("stopping after the batch at hand")
        stopped.set()

    with taken((signal.SIGINT, signal.SIGTERM), stop):
        yield stopped


def _trigger(text: str) -> Any:
    if text == _AVAILABLE_NOW:
        return text
    if not _SECONDS.fullmatch(text):
        raise ConfigError(
            f"trigger {text!r} cannot be",
            where="--trigger",
            remedy="give available-now or a number of seconds such as 5 or 0.25",
        )
    return float(text)


def _conf(pairs: list[str]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"setting {pair!r} cannot be", where="--conf", remedy="give KEY=VALUE")
        settings[key] = value
    return settings


def _tell(done: BatchProgress | LateProgress) -> None:
    rate = done.rows / done.seconds if done.seconds else 0
    say(f"batch {done.batch}: {done.told()} in {done.seconds:.1f} s ({rate:,.0f} messages/s)")


def _tell_json(done: BatchProgress | LateProgress) -> None:
    from dataclasses import asdict

    echo_json(asdict(done))


def _finish(result: JobResult | LateResult, out: Path, *, json: bool) -> None:
    if json:
        from dataclasses import asdict

        echo_json({**asdict(result), "pictures": [str(path) for path in result.pictures]})
        return
    typer.echo(table(((name, f"{rows:,}") for name, rows in result.rows_in_tables.items()), ("TABLE", "ROWS")))
    typer.echo(f"{one_line(str(out))}/tables; {', '.join(path.name for path in result.pictures) or 'no pictures'}")
    if result.trimmed:
        say(f"{result.trimmed:,} messages had been trimmed away before they were read")
