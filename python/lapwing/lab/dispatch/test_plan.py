"""What a plan refuses before anything is started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lapwing.errors import ConfigError
from lapwing.lab.dispatch import experiment
from lapwing.lab.dispatch.experiment import run_experiment
from lapwing.lab.dispatch.links import Links
from lapwing.lab.dispatch.plan import Plan
from lapwing.lab.dispatch.scenario import SCENARIOS
from lapwing.lab.surveillance.scene import Scene
from lapwing.lab.surveillance.site import SITE

HETERO = SCENARIOS["hetero"]
PLAN = Plan((HETERO,), ("lef",), (0.7,), 1, 5.0, 0.0)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"subjects": ()}, "nothing is to be compared"),
        ({"subjects": ("lef", "lef")}, "named twice: lef"),
        ({"loads": ()}, "there is no load"),
        ({"loads": (0.7, 0.5, 0.7)}, "named twice: 0.7"),
        ({"scenarios": (HETERO, HETERO)}, "named twice: hetero"),
    ],
)
def test_what_is_empty_or_repeated_is_refused(changed: dict[str, Any], words: str) -> None:
    """One day that counts twice would make an interval too narrow."""
    with pytest.raises(ConfigError, match=words):
        replace(PLAN, **changed)


def test_a_day_on_which_nothing_counts_is_refused_before_a_broker_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(experiment, "lapwing", lambda *_: pytest.fail("a broker is started"))
    plan, links = Plan((SITE,), ("lef",), (0.002,), 1, 5.0, 2.0), Links("proxy", "127.0.0.1", "", None)
    watcher: Any = SimpleNamespace()
    with pytest.raises(ConfigError, match=r"no message of site counts at a load of 0\.002 on day 101"):
        run_experiment(plan, [], links, Scene(links, plan.warm_s, plan.drain_s), 1, tmp_path, watcher)
