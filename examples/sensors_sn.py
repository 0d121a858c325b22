"""Sensors over MQTT-SN, workers that share their readings over TCP, and a page over WebSocket that hears of warm ones.

    python examples/sensors_sn.py

One broker, three listeners, one topic a sensor. A sensor sends datagrams (``sn://``), without a gateway in between; two
workers are members of one group, so that each reading is looked at once; what is too warm goes to ``alarms/SENSOR``,
where a page listens (``ws://``; here `lapwing.Client` plays it, MQTT.js in a browser does the same). Every reading is
in the stream ``readings`` too: `means` is what a Spark job makes of it.
"""

from __future__ import annotations

import argparse
import json
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lapwing import Broker, Client, Consumer, Publisher
from lapwing.client import Delivery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TIMEOUT_S = 60.0
WARM_C = 30.0
Alarm = tuple[str, int]
"""A sensor, and the number of its reading."""


def start() -> Broker:
    """A broker with a listener for each kind of client, that keeps what sensors say; it runs in its block."""
    listeners = [{"url": "sn://127.0.0.1:0"}, {"url": "ws://127.0.0.1:0"}]
    streams = {"readings": "sensors/+/t"}
    return Broker(listen="tcp://127.0.0.1:0", listeners=listeners, streams=streams, http="127.0.0.1:0")


def url_of(broker: Broker, scheme: str) -> str:
    """Where clients of a kind come."""
    return next(url for url in broker.urls if url.startswith(f"{scheme}://"))


def sense(url: str, sensor: str, readings: int) -> None:
    """A sensor: each fifth reading is a warm one."""
    with Client(url, client_id=sensor) as device:
        for number in range(readings):
            celsius = WARM_C + 1 if number % 5 == 4 else 20.0
            device.publish(f"sensors/{sensor}/t", json.dumps({"number": number, "celsius": celsius}), qos=1)
        device.flush()


def work(url: str, consumer: Consumer) -> None:
    """One member of the group, until its consumer is closed."""
    with Publisher(url) as publisher:

        def look(message: Delivery) -> None:
            reading = json.loads(message.payload)
            if reading["celsius"] > WARM_C:
                sensor = message.topic.split("/")[1]
                publisher.publish(f"alarms/{sensor}", json.dumps(reading["number"]))

        consumer.run(look)


def watch(page: Client, expected: int) -> set[Alarm]:
    """What the page shows. An alarm that comes twice, because a worker was lost in the midst, is one."""
    seen: set[Alarm] = set()
    while len(seen) < expected:
        message = page.receive(timeout_s=TIMEOUT_S)
        if message is None:
            raise TimeoutError(f"{len(seen)} alarms of {expected} came within {TIMEOUT_S:.0f} s")
        seen.add((message.topic.removeprefix("alarms/"), json.loads(message.payload)))
    return seen


def means(spark: SparkSession, stream_url: str) -> DataFrame:
    """The mean of each sensor, from the stream: a batch; ``readStream`` instead goes on with what comes.

    Args:
        spark: As `lapwing.pipeline.session` makes it, or any other that knows the source ``lapwing``.
        stream_url: ``http://HOST:PORT/v1/streams/readings``.
    Returns:
        One row per sensor: ``sensor`` string, ``readings`` long, ``celsius`` double.
    """
    from pyspark.sql import functions

    rows = spark.read.format("lapwing").option("url", stream_url).load()
    reading = functions.from_json(rows.payload.cast("string"), "number long, celsius double")
    sensor = functions.split(rows.topic, "/")[1].alias("sensor")
    return (
        rows.select(sensor, reading.celsius.alias("celsius"))
        .groupBy("sensor")
        .agg(functions.count("*").alias("readings"), functions.avg("celsius").alias("celsius"))
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sensors", type=int, default=3)
    parser.add_argument("--readings", type=int, default=20, help="of each sensor")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    sensors = [f"sensor-{number}" for number in range(options.sensors)]
    with ExitStack() as stack:
        broker = stack.enter_context(start())
        page = stack.enter_context(Client(url_of(broker, "ws")))
        page.subscribe("alarms/#", qos=1)
        consumers = [Consumer(broker.url, "sensors/+/t", group="workers").connect() for _ in range(options.workers)]
        threads = [threading.Thread(target=work, args=(broker.url, consumer)) for consumer in consumers]
        threads += [
            threading.Thread(target=sense, args=(url_of(broker, "sn"), sensor, options.readings)) for sensor in sensors
        ]
        for thread in threads:
            thread.start()
        try:
            alarms = watch(page, len(sensors) * (options.readings // 5))
        finally:
            for consumer in consumers:
                consumer.close(timeout_s=TIMEOUT_S)
            for thread in threads:
                thread.join()
        kept = sum(partition["next_offset"] for partition in broker.streams()[0]["partitions"])
    for sensor in sensors:
        numbers = sorted(number for of, number in alarms if of == sensor)
        print(f"{sensor}: too warm at {', '.join(map(str, numbers))}")
    print(f"{sum(consumer.counters.processed for consumer in consumers)} readings looked at, {kept} in the stream")


if __name__ == "__main__":
    main()
