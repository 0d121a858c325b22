"""What happens to the nodes of a cluster in a round: drawn from its seed, as the plan of its clients is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from random import Random

from tests.crash.plan import Plan, plan

STANDBYS = 2
"""Beside the node that serves."""


class Harm(Enum):
    """To one node. The last three: to what goes between it and other nodes; its clients reach it all the same."""

    KILL = "killed"
    PAUSE = "paused"
    POWER = "without power"
    SPLIT = "cut off"
    MUTE = "not heard"
    DEAF = "deaf"


OF_THE_NETWORK = (Harm.SPLIT, Harm.MUTE, Harm.DEAF)
OF_THE_PROCESS = (Harm.KILL, Harm.POWER)
"""It ends with them, and is started again."""


@dataclass(frozen=True)
class Means:
    """What can be done here.

    Attributes:
        power: Disks lose what was not synced.
        network: Nodes are cut off from each other.
    """

    power: bool = False
    network: bool = False

    @property
    def harms(self) -> tuple[Harm, ...]:
        """By chance, one of these; some are there more than once."""
        power = (Harm.POWER, Harm.POWER) if self.power else ()
        return (Harm.KILL, Harm.KILL, Harm.PAUSE, *power, *(OF_THE_NETWORK if self.network else ()))


@dataclass(frozen=True)
class Fault:
    """Something that happens at one moment, and is mended after a while.

    Attributes:
        active: What happens to the node that serves; None: nothing.
        standbys: What happens to one that stands by, and to the other.
        messages: It comes some time after so many were sent behind the fault before,
        delay_s: to be exact, so much later.
        meanwhile: So many are sent before it is mended,
        lasts_s: and so long it lasts at least.
    """

    active: Harm | None
    standbys: tuple[Harm, ...]
    messages: int
    delay_s: float
    meanwhile: int
    lasts_s: float

    @property
    def leaves_majority(self) -> bool:
        """Whether two are well: else nothing can be acknowledged."""
        return len(self.standbys) + (self.active is not None) <= 1

    def __str__(self) -> str:
        active = [f"active {self.active.value}"] if self.active else []
        return ", ".join([*active, *(f"standby {harm.value}" for harm in self.standbys)])


@dataclass(frozen=True)
class ClusterPlan:
    """One round."""

    clients: Plan
    means: Means
    faults: tuple[Fault, ...]


def cluster_plan(seed: int, means: Means = Means()) -> ClusterPlan:
    """The plan of a seed, of what there is for it: half of the rounds have none of it, and are faster."""
    random = Random(seed ^ 0xC1)
    power, network = random.random() < 0.5, random.random() < 0.5
    drawn = Means(power=means.power and power, network=means.network and network)
    faults = tuple(_fault(random, drawn) for _ in range(random.choice((1, 2, 2, 3))))
    return ClusterPlan(replace(plan(seed), partitions=0, lives=()), drawn, faults)


def _fault(random: Random, means: Means) -> Fault:
    if random.random() < 0.2:
        return _fault_of_most(random, means)
    harm = random.choice(means.harms)
    is_active = random.random() < 0.7
    return Fault(
        active=harm if is_active else None,
        standbys=() if is_active else (harm,),
        messages=_messages(random),
        delay_s=_delay_s(random),
        meanwhile=random.choice((0, 50, 500)),
        lasts_s=0.0 if harm in OF_THE_PROCESS else random.choice((1.0, 3.0, 3.0, 6.0)),
    )


def _fault_of_most(random: Random, means: Means) -> Fault:
    """Of two or three at once: nobody can serve."""
    active, *standbys = [random.choice((Harm.KILL, Harm.POWER) if means.power else (Harm.KILL,)) for _ in range(3)]
    is_active = random.random() < 0.5
    is_all = is_active and random.random() < 0.5
    return Fault(
        active=active if is_active else None,
        standbys=tuple(standbys) if is_all or not is_active else tuple(standbys[:1]),
        messages=_messages(random),
        delay_s=_delay_s(random),
        meanwhile=0,
        lasts_s=random.choice((0.0, 1.0, 4.0)),
    )


def _messages(random: Random) -> int:
    return random.choice((5, 50, 300, 800)) + random.randint(0, 200)


def _delay_s(random: Random) -> float:
    return random.choice((0.0, random.uniform(0, 0.003), random.uniform(0, 0.1)))
