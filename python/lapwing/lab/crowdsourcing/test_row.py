"""Rows of several seeds together, when a line is over, and a report of points of every kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from matplotlib.colors import to_rgb
from matplotlib.image import imread

from lapwing.lab.crowdsourcing.architecture import A1
from lapwing.lab.crowdsourcing.balance import Balance
from lapwing.lab.crowdsourcing.clocks import END_TO_END, Latency
from lapwing.lab.crowdsourcing.experiment import Result, is_over
from lapwing.lab.crowdsourcing.page import write_report
from lapwing.lab.crowdsourcing.plan import Plan
from lapwing.lab.crowdsourcing.row import Row, together
from lapwing.lab.crowdsourcing.schedule import Schedule
from lapwing.lab.crowdsourcing.watch import Stress
from lapwing.pipeline.report.style import LIGHT

ON_TIME = Schedule(1000, 1000, 0, 0, 1.0, 5.0, 9.0)
LATE = Schedule(1000, 1000, 200, 0, 90.0, 500.0, 900.0)


def row(devices: int, *, seed: int = 1, p99_ms: float = 10.0, lost: int = 0, **changed: Any) -> Row:
    usual: dict[str, Any] = {
        "balance": Balance(1000, 1000 - lost, {"broker": {"queue_full": lost}} if lost else {}),
        "latency": {END_TO_END: Latency(1000, 2.0, 5.0, p99_ms, 15.0, 20.0)},
        "schedule": ON_TIME,
        "stress": [
            Stress("broker", "broker", 0.0125 * seed, 0.1 * seed, 100 << 20, 7 * seed, {"queue_full": seed}),
            Stress("kafka", "kafka"),
        ],
        "answer": {"repeated": 1},
        "logs": (f"logs-{seed}",),
    }
    return Row("A1, QoS 1", "a1", 1, devices, (seed,), **usual | changed)


def test_seeds_add_up_and_times_are_medians() -> None:
    both = together([row(500, seed=seed, p99_ms=10.0 * seed, lost=seed) for seed in (1, 2, 3)])
    assert both.seeds == (1, 2, 3)
    assert (both.balance.due, both.balance.missing, both.balance.unaccounted) == (3000, 6, 0)
    assert both.p99_ms == 20.0
    assert both.answer["repeated"] == 3
    broker = both.of("broker")
    assert broker is not None
    assert (broker.cpu_idle, broker.cpu, broker.queue) == (0.025, 0.2, 21)
    assert broker.dropped == {"queue_full": 6}
    assert both.stress[1].dropped is None


def test_a_seed_that_ended_or_was_late_speaks_for_all() -> None:
    assert together([row(500), row(500, seed=2, ended="broker ended by signal 9")]).ended
    assert together([row(500), row(500, seed=2, schedule=LATE)]).thrown_away


def test_a_line_is_over_when_something_gives_or_the_generator_does() -> None:
    assert not is_over([row(500), row(1000)])
    assert is_over([row(500), row(1000, lost=100)])
    assert is_over([row(500), row(1000, ended="broker ended by signal 9")])
    assert not is_over([row(500), row(1000, schedule=LATE)])
    assert is_over([row(500), row(1000, schedule=LATE), row(2000, schedule=LATE)])


def test_what_broke_counts_and_what_was_late_does_not() -> None:
    assert row(500, ended="x", schedule=LATE).thrown_away == ""
    assert "late" in row(500, schedule=LATE).to_json()["thrown_away"]


def test_a_report_of_points_of_every_kind(tmp_path: Path) -> None:
    plan = Plan((A1,), (500, 1000, 2000, 5000), (1,), 1, 1.0, 5.0, 1.0, 10.0, 2, 1)
    rows = (row(500), row(1000, schedule=LATE), row(2000, lost=3), row(5000, ended="<broker> ended by signal 9"))
    files = write_report(Result(plan, rows), tmp_path)
    assert [file.name for file in files] == ["latency.png", "loss.png", "stress.png", "report.html"]
    page = files[-1].read_text()
    assert "&lt;broker&gt; ended by signal 9" in page
    assert "broker: queue_full 3" in page
    assert cells_of(page, "broker") == ["0.10", "0.013", "100", "7", "queue_full 1"]
    assert cells_of(page, "kafka") == ["0.00", "0.000", "0", "0", "-"]
    assert "<broker>" not in page


def test_a_row_says_what_each_process_used_idle_and_dropped() -> None:
    broker, kafka = row(500).to_json()["processes"]
    assert (broker["cpu_idle_cores"], broker["cpu_cores"], broker["dropped"]) == (0.0125, 0.1, {"queue_full": 1})
    assert (kafka["cpu_idle_cores"], kafka["dropped"]) == (0.0, None)


def cells_of(page: str, process: str) -> list[str]:
    """Those behind the first process of that name in the table of processes."""
    (found, *_) = re.findall(rf"<tr>((?:(?!</tr>).)*>{process}<.*?)</tr>", page, re.DOTALL)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", found, re.DOTALL)
    return cells[cells.index(process) + 1 :]


def test_a_report_without_any_point_that_counts(tmp_path: Path) -> None:
    """Is the point told with its reason, is there no figure of it, and is every chart drawn, without a line?"""
    plan = Plan((A1,), (500,), (1,), 1, 1.0, 5.0, 1.0, 10.0, 2, 1)
    ended = write_report(Result(plan, (Row("A1, QoS 1", "a1", 1, 500, (1,), ended="no"),)), tmp_path)
    page = ended[-1].read_text()
    *figures, away = re.findall(r"<tbody>(.*?)</tbody>", page)
    assert re.findall(r"<td[^>]*>(.*?)</td>", away) == ["A1, QoS 1", "500", "no"]
    assert figures[1:] == ["", "", ""], "latency, loss and stress; the first are the knees"
    (tmp_path / "counts").mkdir()
    counts = write_report(Result(plan, (row(500),)), tmp_path / "counts")
    assert [has_a_line(chart) for chart in ended[:-1]] == [False] * 3
    assert [has_a_line(chart) for chart in counts[:-1]] == [True] * 3


def has_a_line(chart: Path) -> bool:
    """Whether the colour of the first line is anywhere in the picture."""
    pixels = (imread(chart)[..., :3] * 255).round()
    colour = [round(255 * part) for part in to_rgb(LIGHT.series[0])]
    return bool((pixels == colour).all(axis=-1).any())
