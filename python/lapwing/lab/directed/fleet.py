"""A fleet that obeys: each device a client with a kept session, walking through the city in real time.

It steps on a fixed grid of time, so that the same seed gives the same walks with and without commands. A client
per device is looked at twice a second: good for some hundreds of devices; for load there is `lapwing.lab.fleet`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lapwing.client import Client, Will
from lapwing.contracts.commands import Command, answer_topic, command_topic, decode, encode, registration_topic
from lapwing.errors import LapwingError
from lapwing.lab.city import Geography
from lapwing.lab.directed.device import SECOND_US, DirectedDevice, Sample
from lapwing.lab.listening import CHANNELS, Listening, Place
from lapwing.lab.payload import encode_columns, rfc3339_column, string_column
from lapwing.lab.walks import Walks
from lapwing.pipeline.transforms.tiles import tile_names, tile_xy

STEP_S = 0.2
_HEAR_EVERY_STEPS = 2
_EARS = 16
"""Threads that look for commands: a look at a socket that has none waits for some milliseconds."""
DEVICES_MAX = 2_000
"""Polled by one thread."""
_SESSION_S = 600
_CHANNEL_INDEX: dict[tuple[str | None, int | None], int] = {name: index for index, name in enumerate(CHANNELS)}


@dataclass(slots=True)
class Heard:
    """What came of commands, for whoever measures.

    Attributes:
        arrived_us: When a command's id came first to its device.
        repeated: Commands that came again.
        malformed: Messages that are no command.
    """

    arrived_us: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    malformed: int = 0


class DirectedFleet:
    """Connects, plays, says goodbye. Use it in a ``with`` block.

    Args:
        url: The broker.
        devices: How many, at most `DEVICES_MAX`.
        seconds: How long it will play: with ``rate_hz`` the budget of each device.
        rate_hz: Readings per device and second.
        seed: The same seed makes the same walks.
        debt_max: See `DirectedDevice`.

    Raises:
        LapwingError: Too many devices, or the broker cannot be reached.
    """

    def __init__(self, url: str, devices: int, seconds: float, rate_hz: float, seed: int, *, debt_max: int = 6) -> None:
        if not 0 < devices <= DEVICES_MAX:
            raise LapwingError(f"{devices} devices", where="--devices", remedy=f"give 1 to {DEVICES_MAX}")
        self.heard = Heard()
        self.readings = 0
        self.behind_s = 0.0
        """By how much a step was late, at worst."""
        self._steps = 0
        self._seconds = seconds
        self._random = {purpose: np.random.default_rng([seed, purpose]) for purpose in range(4)}
        self._listening = Listening(devices, self._random[0])
        self._walks = Walks(devices, self._random[1])
        self._names = [f"phone-{index:0{len(str(devices - 1))}d}" for index in range(devices)]
        budget, period_us = round(seconds * rate_hz), SECOND_US / rate_hz
        self.devices = [
            DirectedDevice(
                name,
                self._listening.networks(index),
                rate_hz,
                budget,
                round(period_us * index / devices),
                debt_max=debt_max,
            )
            for index, name in enumerate(self._names)
        ]
        self._serials: NDArray[np.int64] = np.zeros(devices, dtype=np.int64)
        self._ears = ThreadPoolExecutor(_EARS, "ears")
        self._clients = [self._client(url, device) for device in self.devices]

    def __enter__(self) -> Self:
        for client, device in zip(self._clients, self.devices, strict=True):
            client.connect()
            client.subscribe(command_topic(device.name), qos=1)
            client.publish(registration_topic(device.name), encode(device.registration()), qos=1, retain=True)
        for client in self._clients:
            client.flush()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ears.shutdown()
        for client in self._clients:
            if kind is None:
                client.disconnect(with_will=True)
            else:
                client.abort()

    def play(self, told: Callable[[int], None] = lambda _: None) -> None:
        """Plays for the whole time; ``told`` is called with the number of readings sent so far, once a step."""
        began = time.monotonic()
        start_us = time.time_ns() // 1000
        for device in self.devices:
            device.begin(start_us)
        for number in range(round(self._seconds / STEP_S)):
            if number:
                self._walks.step(STEP_S)
            ahead_s = began + number * STEP_S - time.monotonic()
            if ahead_s > 0:
                time.sleep(ahead_s)
            self.behind_s = max(self.behind_s, -ahead_s)
            self._step(start_us + round(number * STEP_S * SECOND_US))
            told(self.readings)
        self._step(start_us + round(self._seconds * SECOND_US))  # whoever is due at the very end
        for client in self._clients:
            client.flush()

    def _client(self, url: str, device: DirectedDevice) -> Client:
        gone = encode(device.registration(present=False))
        will = Will(registration_topic(device.name), gone, qos=1, retain=True)
        return Client(
            url, client_id=device.name, clean_start=False, session_expiry_s=_SESSION_S, will=will, keep_alive_s=0
        )

    def _step(self, now_us: int) -> None:
        tiles = self._tiles()
        due: list[tuple[int, Sample]] = []
        listening = range(self._steps % _HEAR_EVERY_STEPS, len(self.devices), _HEAR_EVERY_STEPS)
        heard = dict(zip(listening, self._ears.map(self._hear, listening), strict=True))
        for index, (device, client) in enumerate(zip(self.devices, self._clients, strict=True)):
            self._obey(device, client, heard.get(index, ()), now_us, tiles[index])
            samples, answers = device.measure(now_us, tiles[index])
            due += [(index, sample) for sample in samples]
            for answer in answers:
                client.publish(answer_topic(device.name), encode(answer), qos=1)
        for (index, _), payload in zip(due, self._payloads(due), strict=True):
            self._clients[index].publish(f"spectrum/{self._names[index]}/readings", payload, qos=1)
        self.readings += len(due)
        self._steps += 1

    def _tiles(self) -> list[str]:
        return tile_names(*tile_xy(Geography.lat(self._walks.y_m), Geography.lon(self._walks.x_m)))

    def _hear(self, index: int) -> list[tuple[bytes, int]]:
        """What has come for a device, and when; a client is used by one thread at a time."""
        heard = []
        while (message := self._clients[index].receive(0.0)) is not None:
            heard.append((message.payload, time.time_ns() // 1000))
        return heard

    def _obey(
        self, device: DirectedDevice, client: Client, heard: Sequence[tuple[bytes, int]], now_us: int, tile: str
    ) -> None:
        for payload, at_us in heard:
            command = decode(payload, Command)
            if command is None:
                self.heard.malformed += 1
                continue
            if command.id in device.memory.answers:
                self.heard.repeated += 1
            self.heard.arrived_us.setdefault(command.id, at_us)
            for answer in device.hear(command, now_us, tile):
                client.publish(answer_topic(device.name), encode(answer), qos=1)

    def _payloads(self, due: list[tuple[int, Sample]]) -> list[bytes]:
        if not due:
            return []
        who = np.array([index for index, _ in due], dtype=np.int64)
        told = np.array([_CHANNEL_INDEX.get((each.network, each.channel), -1) for _, each in due], dtype=np.int64)
        city_s = np.full(len(due), time.time())
        place = Place(self._walks.x_m[who], self._walks.y_m[who], self._walks.speed_ms[who], city_s)
        columns = self._listening.columns(who, place, self._random[2], told)
        now = rfc3339_column(np.full(len(due), time.time_ns() // 1000))
        columns["device"] = string_column(self._names, who)
        columns["boot"] = ["0"] * len(due)
        columns["serial"] = [str(self._next_serial(index)) for index in who.tolist()]
        columns["sent_at"] = columns["measured_at"] = now
        return encode_columns(columns)

    def _next_serial(self, index: int) -> int:
        serial = int(self._serials[index])
        self._serials[index] += 1
        return serial
