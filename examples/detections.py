"""Pictures from cameras, analysed by a group of consumers with a pool of processes; detections go to a guard.

    python examples/detections.py                        # a broker of its own
    python examples/detections.py tcp://127.0.0.1:1883   # yours

A camera publishes gray pictures. The analyser is one member of the group ``analysers``: start this several times with
``--role analyse`` and the broker shares the pictures among them. Looking for something bright burns a core, so it
happens in processes; each of the ``workers`` threads only waits for one of them. A picture is acknowledged when its
detections are handed over: what a killed analyser had in its hands comes again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack

from lapwing import Broker, Consumer, Publisher
from lapwing.client import Delivery

WIDTH, HEIGHT, BRIGHT = 64, 48, 200
Box = tuple[int, int, int, int]


def picture(chance: random.Random, *, with_something: bool) -> bytes:
    """A gray picture, one byte a pixel, row by row; maybe with a bright box in it."""
    pixels = bytearray(chance.randrange(0, 120) for _ in range(WIDTH * HEIGHT))
    if with_something:
        left, top = chance.randrange(WIDTH - 12), chance.randrange(HEIGHT - 9)
        for y in range(top, top + 8):
            pixels[y * WIDTH + left : y * WIDTH + left + 11] = bytes([230]) * 11
    return bytes(pixels)


def find(pixels: bytes) -> list[Box]:
    """Boxes (left, top, right, bottom) around what is bright; runs in a process of the pool.

    Raises:
        ValueError: this is no picture.
    """
    if len(pixels) != WIDTH * HEIGHT:
        raise ValueError(f"{len(pixels)} bytes are no picture of {WIDTH} x {HEIGHT}")
    left_over = {at for at, value in enumerate(pixels) if value >= BRIGHT}
    boxes = []
    while left_over:
        spot, frontier = set(), [left_over.pop()]
        while frontier:
            at = frontier.pop()
            spot.add(at)
            neighbours = {at - 1, at + 1, at - WIDTH, at + WIDTH} & left_over
            left_over -= neighbours
            frontier += neighbours
        columns, rows = [at % WIDTH for at in spot], [at // WIDTH for at in spot]
        boxes.append((min(columns), min(rows), max(columns), max(rows)))
    return boxes


def film(url: str, pictures: int) -> None:
    """The camera: every third picture shows something, and one in fifty is broken."""
    chance = random.Random(7)
    with Publisher(url, timeout_s=60.0) as publisher:
        for number in range(pictures):
            broken = number % 50 == 49
            payload = b"noise" if broken else picture(chance, with_something=number % 3 == 0)
            publisher.publish(f"cameras/gate/{number}", payload, deadline_ms=5000)


def analyse(url: str, pool: ProcessPoolExecutor, consumer: Consumer) -> None:
    """One member of the group, until the consumer is closed."""
    with Publisher(url) as publisher:

        def look(message: Delivery) -> None:
            boxes = pool.submit(find, message.payload).result()
            if boxes:
                where = message.topic.removeprefix("cameras/")
                publisher.publish(f"detections/{where}", json.dumps(boxes), deadline_ms=1000, priority="critical")

        consumer.run(look)


def warm_pool(workers: int) -> ProcessPoolExecutor:
    """Processes that have started: a member whose first message takes seconds would count as stalled."""
    # Not forked: a copy of a process with threads may wait for ever.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    list(pool.map(find, [bytes(WIDTH * HEIGHT)] * workers))
    return pool


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?", help="a broker; by default one is started")
    parser.add_argument("--role", choices=("all", "analyse"), default="all")
    parser.add_argument("--pictures", type=int, default=300)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with ExitStack() as stack:
        url = options.url or stack.enter_context(Broker()).url
        pool = stack.enter_context(warm_pool(options.workers))
        analyser = Consumer(url, "cameras/#", group="analysers", workers=options.workers).connect()
        analysing = threading.Thread(target=analyse, args=(url, pool, analyser))
        analysing.start()
        try:
            if options.role == "all":
                guard(url, options.pictures)
            else:
                analysing.join()
        finally:
            analyser.close(timeout_s=60.0)
            analysing.join()
        counters = analyser.counters
    milliseconds = counters.service_us / 1000
    print(f"{counters.processed} pictures analysed, {counters.refused} refused, {milliseconds:.1f} ms of work each")


def guard(url: str, pictures: int) -> None:
    """Has pictures taken, and sees what is detected on them."""
    expected = sum(1 for number in range(pictures) if number % 3 == 0 and number % 50 != 49)
    with Consumer(url, "detections/#") as consumer:
        threading.Thread(target=film, args=(url, pictures), daemon=True).start()
        seen: dict[str, str] = {}
        for message in consumer.messages(timeout_s=60.0):
            # What comes twice (a member that stalled) is the same detection.
            seen[message.topic] = message.payload.decode()
            if len(seen) == expected:
                break
    for topic, boxes in seen.items():
        print(f"{topic}: {boxes}")
    print(f"{len(seen)} detections")


if __name__ == "__main__":
    main()
