"""The job ``controller`` over MQTT, to its end."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lapwing.controller.mqtt_wires import MqttWires
from lapwing.credentials import Credentials
from lapwing.https import NO_FILES, TlsFiles
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.jobs.controller import ControllerJob
from lapwing.pipeline.jobs.progress import JobResult
from lapwing.regular_file import file_only, open_file

_NAME_FILE = ".lapwing-controller"
_NAME_BYTES_MAX = 64
_NAME = re.compile(r"lapwing-controller-[0-9a-f]{12}")


def run_controller_over_mqtt(
    source: str,
    out: Path | str,
    *,
    broker: str,
    credentials: Credentials | None = None,
    tls: TlsFiles = NO_FILES,
    name: str | None = None,
    until: Callable[[ControllerJob], None] | None = None,
    draw: bool = True,
    **job: Any,
) -> JobResult:
    """Runs the job to its end.

    Args:
        source: The stream, or the topic.
        out: The output folder.
        broker: Where devices are: ``tcp://HOST:PORT``.
        credentials: Who the controller is there; None: nobody.
        tls: Whom to trust over TLS there, and the controller's own certificate.
        name: See `MqttWires`; None: the one that is kept in ``out``.
        until: Waits, in place of `ControllerJob.wait`, for what ends the job.
        draw: Whether to draw pictures and report at the end.
        job: The rest of `ControllerJob`'s arguments.

    Raises:
        LapwingError: It cannot run, or failed; see `lapwing.errors`.
    """
    username, password = (credentials or Credentials()).login()
    wires = MqttWires(
        broker,
        name or controller_name(Path(out)),
        username=username,
        password=password,
        ca=tls.ca or None,
        certificate=tls.certificate or None,
        key=tls.key or None,
    )
    running = ControllerJob(source, out, wires=wires, **job).start()
    try:
        (until or ControllerJob.wait)(running)
    finally:
        running.stop()
    return running.result(draw=draw)


def controller_name(out: Path) -> str:
    """The controller's name at the broker: made at random once and kept in ``out``, made if it is not there.

    Not of the machine's name, which in a container is another one at each start: answers would wait for a controller
    that never comes.

    Raises:
        TableError: The folder cannot be written.
    """
    file = out / _NAME_FILE
    try:
        out.mkdir(parents=True, exist_ok=True)
        kept = _read(file) if file.exists() else ""
        if not _NAME.fullmatch(kept):
            kept = f"lapwing-controller-{secrets.token_hex(6)}"
            begun = file.with_name(f"{_NAME_FILE}-new")
            with open(begun, "w", opener=file_only) as written:
                written.write(kept)
            begun.replace(file)
    except OSError as error:
        raise TableError(
            f"--out cannot be written: {error.strerror}",
            where=str(out),
            remedy="give an --out that this user may write",
        ) from None
    return kept


def _read(file: Path) -> str:
    with open_file(file) as opened:
        return opened.read(_NAME_BYTES_MAX).decode(errors="replace")
