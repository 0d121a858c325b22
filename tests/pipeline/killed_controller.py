"""Runs the controller in a process of its own, and kills it where it is told to: SIGKILL, no farewell.

    python killed_controller.py SOURCE BROKER OUT POINT

POINT: `seen`, before anything is decided; `outbox`, after that commit; `published`, before it is marked; `commands`,
after the mark; `batch`, before Spark's own commit; `never`.
"""

from __future__ import annotations

import os
import signal
import sys

from lapwing.controller import MqttWires
from lapwing.pipeline.jobs.controller import ControllerJob


def main(source: str, broker: str, out: str, point: str) -> None:
    def committed(step: str) -> None:
        if step == point:
            os.kill(os.getpid(), signal.SIGKILL)

    # On a busy machine it takes a minute from a reading to the decision.
    patient = {"lapwing.position_s": "600", "lapwing.behind_s": "600", "lapwing.expire_s": "900"}
    conf = {"spark.driver.memory": "1g", "lapwing.fresh_s": "1", **patient}
    wires = MqttWires(broker, "controller")
    job = ControllerJob(source, out, wires=wires, trigger="available-now", conf=conf, committed=committed).start()
    job.wait()
    job.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
