"""Into a stream: messages appended per second at QoS 0, acknowledged per second at QoS 1 after `fdatasync`.

Mosquitto stands beside it at QoS 1 with nothing on disk: what its acknowledgement costs without the promise.
"""

from __future__ import annotations

from benches.brokers import lapwing, mosquitto
from benches.load import Report, alternate, median, swarm
from benches.table import print_table, verdict

BROKER, LOAD = {0}, {1}
BOTH = BROKER | LOAD
DEVICES = 200
PAYLOAD_BYTES = 200
STREAM = ("streams.bench.filter=#", "streams.bench.partitions=4", "streams.bench.retain_bytes=4GiB")


def _into_stream(qos: int, seconds: float) -> Report:
    with lapwing(BOTH, settings=STREAM) as broker:
        return _load(broker.url, broker.pid, qos, seconds)


def _into_mosquitto(qos: int, seconds: float) -> Report:
    with mosquitto(BOTH) as broker:
        return _load(broker.url, broker.pid, qos, seconds)


def _load(url: str, pid: int, qos: int, seconds: float) -> Report:
    options = {
        "publishers": DEVICES,
        "payload": PAYLOAD_BYTES,
        "qos": qos,
        "rate": 0,
        "window": 200,
        "broker_pid": pid,
    }
    return swarm("devices", url, LOAD, seconds=seconds, **options)


def run(*, quick: bool) -> None:
    """Prints the table and whether the targets are reached."""
    rounds, seconds = (1, 2.0) if quick else (3, 5.0)
    subjects = {
        "lapwing, QoS 0 into a stream": lambda: _into_stream(0, seconds),
        "lapwing, QoS 1 into a stream, fdatasync": lambda: _into_stream(1, seconds),
        "mosquitto, QoS 1, memory only": lambda: _into_mosquitto(1, seconds),
    }
    reports = alternate(subjects, rounds)
    sent = {name: median(own, lambda report: report["sent_per_s"]) for name, own in reports.items()}
    rows = []
    for name, own in reports.items():
        p99 = None if "QoS 0" in name else median(own, lambda report: report["answer_us"]["p99"])
        rows.append(
            (
                name,
                sent[name],
                median(own, lambda r: r["cpu"]["broker_s"]),
                p99,
                sent[name] / sent["mosquitto, QoS 1, memory only"],
            )
        )
    print_table(
        f"{DEVICES} devices, {PAYLOAD_BYTES} B, closed loop; medians of {rounds} alternating runs of {seconds:.0f} s",
        ("what", "messages/s", "broker CPU s", "answer p99 us", "ratio to mosquitto QoS 1"),
        rows,
    )
    verdict("appended per second at QoS 0", sent["lapwing, QoS 0 into a stream"], 300_000)
    verdict(
        "acknowledged per second at QoS 1 with fdatasync",
        sent["lapwing, QoS 1 into a stream, fdatasync"],
        100_000,
    )
