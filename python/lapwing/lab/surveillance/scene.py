"""One run of the scene: one day, one broker, everybody; gives what each alarm met."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.dispatch.books import Tally
from lapwing.lab.dispatch.brokers import RunningBroker
from lapwing.lab.dispatch.intervals import BLOCK_S
from lapwing.lab.dispatch.links import Links
from lapwing.lab.dispatch.outcome import Outcome, publisher_late_us
from lapwing.lab.dispatch.processes import Process, start_all, wait_for_all
from lapwing.lab.dispatch.session import SENT_RECORD, wait_for_end
from lapwing.lab.dispatch.trace import Trace
from lapwing.lab.surveillance.analyser import Order as AnalyserOrder
from lapwing.lab.surveillance.detection import HEARD, Detection
from lapwing.lab.surveillance.guard import Order as GuardOrder
from lapwing.lab.surveillance.sensors import Order as SensorsOrder
from lapwing.lab.surveillance.site import (
    ALARM_DEADLINE_MS,
    ALARMS,
    ANALYSIS_DEADLINE_MS,
    DETECTIONS,
    GROUP,
    intruders,
    sensor,
)

_HEARD_RECORD = np.dtype([("number", "<u4"), ("heard", "<i8")])
assert _HEARD_RECORD.itemsize == HEARD.size


@dataclass(frozen=True)
class Scene:
    """The replay of the surveillance experiment: from the sensor to the guard."""

    links: Links
    warm_s: float
    drain_s: float
    group: str = GROUP
    deadline_ms: float = ALARM_DEADLINE_MS

    def counted(self, trace: Trace) -> int:
        """See ``Replay``: alarms."""
        return int(self._kept(trace, intruders(trace)).sum())

    def __call__(self, trace: Trace, folder: Path, broker: RunningBroker, tell: Callable[[int], None]) -> Outcome:
        """See ``Replay``."""
        alarms = intruders(trace)
        detections = folder / "detections.json"
        detections.write_text(json.dumps(_detections(trace, alarms.tolist())))
        with tempfile.TemporaryDirectory(prefix="lapwing-lab-scene-") as name, ExitStack() as stack:
            scratch = Path(name)
            (scratch / "tally").write_bytes(bytes(len(trace.messages)))
            links = stack.enter_context(self.links.process(trace, broker.member_port, says_who=broker.expects_proxy))
            links.wait_until_ready()
            everybody = [stack.enter_context(process) for process in self._cast(trace, broker, detections, scratch)]
            guard, sensors, *analysers = everybody
            wait_for_all(everybody)
            before_s, broker_cpu_s = time.monotonic(), broker.cpu_s()
            start_all([links, sensors, *analysers])
            tally = Tally(scratch / "tally")
            wait_for_end(sensors, [guard, *analysers], tally, int(alarms.sum()), self.drain_s, tell)
            cut_ns, wall_s = time.monotonic_ns(), time.monotonic() - before_s
            cpu_s = {"broker": broker.cpu_s() - broker_cpu_s}
            for process in everybody:
                process.end()
            heard = np.fromfile(scratch / "heard", _HEARD_RECORD)
            sent = np.fromfile(scratch / "sent", SENT_RECORD)
            return self._outcome(trace, alarms, sent, heard, cut_ns, _conditions(links.end(), sent, cpu_s, wall_s))

    def _cast(self, trace: Trace, broker: RunningBroker, detections: Path, scratch: Path) -> Iterator[Process]:
        """The guard, the sensors, then every analyser."""
        url = f"tcp://{self.links.host}:{broker.port}"
        root = f"run-{time.monotonic_ns():x}"  # what an earlier run left can not come here
        guard = GuardOrder(url, f"{root}/{ALARMS}", str(scratch / "tally"), str(scratch / "heard"))
        yield Process("surveillance.guard", guard, runs_on=True)
        sensors = SensorsOrder(url, root, str(detections.resolve()), ANALYSIS_DEADLINE_MS, str(scratch / "sent"))
        yield Process("surveillance.sensors", sensors)
        for number, day in enumerate(trace.days):
            host, port = self.links.address(number, broker.member_port)
            own_url, client_id = f"tcp://{host}:{port}", f"analyser-{number}"
            order = AnalyserOrder(day.to_json(), own_url, client_id, self.group, root, DETECTIONS)
            yield Process("surveillance.analyser", order, runs_on=True)

    def _kept(self, trace: Trace, alarms: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Those that come after the warm-up."""
        kept: NDArray[np.bool_] = alarms & (trace.messages["at_ms"] >= self.warm_s * 1e3)
        return kept

    def _outcome(
        self,
        trace: Trace,
        alarms: NDArray[np.bool_],
        sent: NDArray[Any],
        heard: NDArray[Any],
        cut_ns: int,
        conditions: dict[str, Any],
    ) -> Outcome:
        """What the alarms after the warm-up met, from the instant at which their detection was due.

        One that was not heard counts with the time until the cut.
        """
        messages = len(trace.messages)
        numbers, first = np.unique(heard["number"], return_index=True)
        at_ns = np.full(messages, cut_ns)
        at_ns[numbers] = heard["heard"][first]
        times = np.bincount(heard["number"], minlength=messages)
        at_ms = trace.messages["at_ms"]
        kept = self._kept(trace, alarms)
        return Outcome(
            ((at_ns - sent["due"]) / 1e6)[kept],
            trace.messages["is_critical"][kept].astype(bool),
            times[kept] > 0,
            np.maximum(0, times - 1)[kept],
            ((at_ms[kept] - self.warm_s * 1e3) // (BLOCK_S * 1e3)).astype(np.int64),
            conditions,
        )


def _detections(trace: Trace, alarms: list[bool]) -> list[tuple[float, bool, dict[str, Any]]]:
    """As ``sensors`` reads them."""
    return [
        (float(at_ms), bool(is_sure), asdict(Detection(number, sensor(number), float(work), alarms[number])))
        for number, (at_ms, work, is_sure) in enumerate(trace.messages)
    ]


def _conditions(link: dict[str, Any], sent: NDArray[Any], cpu_s: dict[str, float], wall_s: float) -> dict[str, Any]:
    """How late the gateway and the links were, in microseconds, and what the broker and the links took."""
    return {
        "publisher_late_us": publisher_late_us(sent),
        "link_late_us": [link["late_p50_us"], link["late_p99_us"]],
        "cpu_s": cpu_s | {"links": link["cpu_s"]},
        "wall_s": round(wall_s, 3),
    }
