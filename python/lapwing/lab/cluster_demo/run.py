"""The demo from start to end: three nodes, clients, and the one that serves killed again and again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from lapwing.lab.cluster_demo.crowd import Crowd
from lapwing.lab.cluster_demo.node import DemoNode
from lapwing.lab.cluster_demo.outage import Outage
from lapwing.lab.cluster_demo.screen import Screen
from lapwing.lab.cluster_demo.summary import Summary, seconds
from lapwing.lab.cluster_demo.trio import Trio
from lapwing.lab.cluster_demo.waiting import until

_SILENCE_S = 10.0
"""When nothing has come for so long, what is missing is lost."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to show; the arguments of ``lapwing cluster demo``.

    Attributes:
        clients: Half of them publish.
        kills: How often the node that serves is killed.
        rate: Messages a second over all publishers.
        seconds: How long they publish, at least: the kills are spread over it, and each waits for all nodes.
    """

    clients: int = 200
    kills: int = 3
    rate: float = 500.0
    seconds: float = 20.0


def run_demo(plan: Plan, folder: Path, screen: Screen) -> Summary:
    """Runs it; ``folder`` has the nodes' configurations, data and logs.

    Raises:
        LapwingError: a node ended by itself, or nobody took over.
    """
    with screen, Trio(folder, screen.say) as trio:
        screen.say(f"three nodes in {folder}")
        trio.make()
        crowd = Crowd(plan.clients // 2, [node.address for node in trio.nodes], plan.rate)
        with crowd:
            show = _Show(plan, trio, crowd, screen)
            show.connect()
            outages = [show.kill(number) for number in range(plan.kills)]
            published_s = show.finish()
        return Summary(crowd.clients, published_s, outages, crowd.verdict(), crowd.refused)


class _Show:
    """A cluster and its clients, while they are shown."""

    def __init__(self, plan: Plan, trio: Trio, crowd: Crowd, screen: Screen) -> None:
        self._plan, self._trio, self._crowd, self._screen = plan, trio, crowd, screen
        self._begun_s = 0.0

    def connect(self) -> None:
        """All clients; then they publish."""
        crowd = self._crowd
        until(lambda: crowd.ready == crowd.clients, "not all clients are connected", self._look)
        half = crowd.clients // 2
        self._screen.say(
            f"{crowd.clients} clients with kept sessions are connected: "
            f"{half} publish with QoS 1 or QoS 2, {half} subscribe"
        )
        self._begun_s = time.monotonic()
        crowd.publish(goes_on=True)

    def kill(self, number: int) -> Outage:
        """Kills the node that serves, and starts it again when another one does."""
        self._wait(self._plan.seconds * (number + 1) / (self._plan.kills + 1))
        node = self._trio.active()
        self._screen.bad(f"{node.name} serves, and is killed under load")
        outage = Outage(node.name, time.monotonic())
        self._crowd.watch(outage)
        node.kill()
        until(lambda: outage.is_over, f"nobody took over from {node.name}", self._look)
        self._screen.good(
            f"{outage.successor} serves: first CONNACK {seconds(outage.connack_s)} after the kill, first "
            f"acknowledgement {seconds(outage.acknowledged_s)}, all clients back {seconds(outage.all_back_s)}"
        )
        self._start_again(node, outage)
        return outage

    def finish(self) -> float:
        """Lets what is on its way arrive; gives how long they published."""
        self._wait(self._plan.seconds)
        self._crowd.publish(goes_on=False)
        published_s = time.monotonic() - self._begun_s
        self._screen.say("no more is published; what is on its way arrives")
        silence = _Silence(_SILENCE_S)
        until(lambda: self._crowd.is_settled or silence.lasts(self._crowd), "no end", self._look, patience_s=600.0)
        return published_s

    def _start_again(self, node: DemoNode, outage: Outage) -> None:
        node.start()
        until(lambda: self._trio.has_caught_up(node), f"{node.name} has not caught up", self._look)
        outage.caught_up_s = time.monotonic() - outage.killed_at_s
        self._screen.good(f"{node.name} was started again, and has caught up")

    def _wait(self, until_s: float) -> None:
        """Until so long after the beginning; not at all where it is later."""
        until(lambda: time.monotonic() - self._begun_s >= until_s, "no end", self._look, patience_s=until_s + 60.0)

    def _look(self) -> None:
        """Raises what went wrong, and shows how far it is."""
        self._trio.check()
        crowd = self._crowd
        crowd.check()
        text = f"{crowd.ready} of {crowd.clients} clients, {crowd.acknowledged:,} acknowledged"
        if not self._begun_s:
            self._screen.show("connecting", None, None, text)
            return
        gone_s = min(time.monotonic() - self._begun_s, self._plan.seconds)
        self._screen.show("publishing", gone_s, self._plan.seconds, text)


class _Silence:
    """Nothing has been acknowledged or delivered for a while."""

    def __init__(self, lasts_s: float) -> None:
        self._lasts_s, self._since_s, self._heard = lasts_s, time.monotonic(), (-1, -1)

    def lasts(self, crowd: Crowd) -> bool:
        """Whether it does, by now."""
        heard = crowd.acknowledged, crowd.delivered
        if heard != self._heard:
            self._heard, self._since_s = heard, time.monotonic()
        return time.monotonic() - self._since_s >= self._lasts_s
