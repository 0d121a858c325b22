"""The job ``controller`` over MQTT, to its end."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lapwing.controller.mqtt_wires import MqttWires
from lapwing.credentials import Credentials
from lapwing.pipeline.jobs.controller import ControllerJob
from lapwing.pipeline.jobs.progress import JobResult


def run_controller_over_mqtt(
    source: str,
    out: Path | str,
    *,
    broker: str,
    credentials: Credentials | None = None,
    ca: str = "",
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
        ca: File of the authorities to trust over TLS; empty: this machine's.
        name: See `MqttWires`; None: made of this machine and ``out``, the same each time.
        until: Waits, in place of `ControllerJob.wait`, for what ends the job.
        draw: Whether to draw pictures and report at the end.
        job: The rest of `ControllerJob`'s arguments.

    Raises:
        LapwingError: It cannot run, or failed; see `lapwing.errors`.
    """
    username, password = (credentials or Credentials()).login()
    wires = MqttWires(broker, name or controller_name(Path(out)), username=username, password=password, ca=ca or None)
    running = ControllerJob(source, out, wires=wires, **job).start()
    try:
        (until or ControllerJob.wait)(running)
    finally:
        running.stop()
    return running.result(draw=draw)


def controller_name(out: Path) -> str:
    """The controller's name at the broker: the same for one folder of one machine."""
    where = f"{platform.node()}\n{out.absolute()}"
    return f"lapwing-controller-{hashlib.sha256(where.encode()).hexdigest()[:12]}"
