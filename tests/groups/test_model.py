"""Members that join, leave, vanish, stall, refuse and come back at random: is every message accounted for?

The seeds are kept: one that has found something stays.
"""

from __future__ import annotations

import json
import random
import threading

import pytest
from crew import SHARES, TIGHT, adds_up, publish
from members import groups
from wire import until
from worker import Ledger, Worker

import lapwing

SEEDS = [1, 2, 3]
STEPS = 1000
WORKERS = 6
TABLE = {"filters": ["t/#"], "parameters": {"stall_ms": 150, "stall_factor": 1}}
SCARCE = {
    **TABLE,
    "queue_messages_max": 20,
    "expired": "drop",
    "rules": [
        {"topics": ["t/0"], "priority": "critical", "deadline_ms": 60},
        {"topics": ["t/1"], "deadline_ms": 60},
    ],
}
"""The same with little room and less time, as the node takes it."""
WHIM = {**TABLE, "use": "whims:Whim", "timeout_ms": 5}
"""The same with a strategy in Python that chooses as it likes."""
MAY_BE_DROPPED = {"session_ended"}
MAY_BE_SCARCE = {*MAY_BE_DROPPED, "queue_full", "deadline_passed"}
STRATEGIES = ("auto", "lef", "round-robin", "key-ordered", "random", "least-inflight")


class World:
    """A broker, its publishers and workers, driven by one source of chance."""

    def __init__(self, broker: lapwing.Broker, seed: int, table: dict[str, object]) -> None:
        self.broker, self.rng, self.table = broker, random.Random(seed), table
        broker._running().put_group("g", json.dumps(table))
        until(lambda: [one["is_durable"] for one in groups(broker)] == [True])
        self.ledger = Ledger()
        self.workers = [Worker(broker.url, f"w{n}", self.ledger, self.rng) for n in range(WORKERS)]
        self.dawdling: set[str] = set()

    def step(self) -> None:
        worker = self.rng.choice(self.workers)
        (act,) = self.rng.choices(
            [self.publish, self.connect, self.leave, self.subscribe, self.dawdle, self.change, self.work, self.idle],
            [4, 0.6, 0.3, 0.3, 0.3, 0.2, 12, 0.5],
        )
        act(worker)
        for one in self.workers:
            one.read()

    def publish(self, worker: Worker) -> None:
        payloads = [b"%d" % (len(self.ledger.published) + n) for n in range(self.rng.randint(1, 8))]
        self.ledger.published.update(payloads)
        topic = f"t/{self.rng.randint(0, 5)}"
        publish(
            self.broker, *payloads, topic=topic, qos=self.rng.choice([1, 2]), client_id=f"p{self.rng.randint(0, 3)}"
        )

    def connect(self, worker: Worker) -> None:
        """A new connection, rather of one who has none; where there is one it is taken over."""
        away = [one for one in self.workers if one.wire is None]
        if away and self.rng.random() < 0.7:
            worker = self.rng.choice(away)
        clean = self.rng.random() < 0.3
        worker.connect(clean=clean)
        if clean or self.rng.random() < 0.7:
            worker.subscribe()

    def leave(self, worker: Worker) -> None:
        worker.vanish(politely=self.rng.random() < 0.5)

    def subscribe(self, worker: Worker) -> None:
        if self.rng.random() < 0.5:
            worker.unsubscribe()
        else:
            worker.subscribe()

    def dawdle(self, worker: Worker) -> None:
        """It finishes nothing until it is sent away, or gets to work again."""
        self.dawdling ^= {worker.name}

    def change(self, worker: Worker) -> None:
        table = (
            self.table if self.rng.random() < 0.3 else {name: self.table[name] for name in self.table if name != "use"}
        )
        table = {**table, "strategy": self.rng.choice(STRATEGIES), "workers": self.rng.randint(1, 4)}
        self.broker._running().put_group("g", json.dumps(table))

    def work(self, worker: Worker) -> None:
        for one in self.workers:
            if one.name not in self.dawdling:
                one.finish(self.rng.randint(0, 4))

    def idle(self, worker: Worker) -> None:
        """Time passes, in which whoever dawdles becomes overdue."""
        threading.Event().wait(0.05)

    def settle(self) -> dict[str, object]:
        """Everybody comes back and finishes what there is; returns the group at its end."""
        for worker in self.workers:
            if worker.wire is None:
                worker.connect(clean=False)
            worker.subscribe()

        def is_done() -> bool:
            for worker in self.workers:
                worker.read()
                if worker.wire is None:
                    worker.connect(clean=False)
                worker.finish()
            (found,) = groups(self.broker)
            assert adds_up(found), found
            return bool(found["unacknowledged"] == found["waiting_bulk"] == found["waiting_critical"] == 0)

        until(is_done, 60)
        (found,) = groups(self.broker)
        return found


@pytest.mark.parametrize("shards", SHARES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("table", "reasons"), [(TABLE, MAY_BE_DROPPED), (SCARCE, MAY_BE_SCARCE), (WHIM, MAY_BE_DROPPED)]
)
def test_every_message_is_accounted_for(shards, seed, table, reasons):
    """Finished by a member or counted; never with two at once; with QoS 2 never twice to a handler."""
    # Classes are loaded from the configuration only.
    with lapwing.Broker(shards=shards, limits=TIGHT, groups={"other": {"use": "whims:Whim"}}) as broker:
        world = World(broker, seed, table)
        for _ in range(STEPS):
            world.step()
        found = world.settle()
        ledger = world.ledger
        counters = found["counters"]
        assert isinstance(counters, dict)
        assert counters["published"] == len(ledger.published)
        assert set(counters["dropped"]) <= reasons
        assert counters["dead_lettered"] == {}
        assert counters["acknowledged"] <= len(ledger.acknowledged)
        lost = counters["refused"] + sum(counters["dropped"].values())
        assert len(ledger.published - ledger.acknowledged) <= lost
        assert max(ledger.handled.values()) == 1
        assert counters["moved"] > 0
        for worker in world.workers:
            worker.vanish()
