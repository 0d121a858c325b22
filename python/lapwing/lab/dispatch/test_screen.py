"""What stands under the tables: how late was the experiment itself?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from lapwing.lab.dispatch.screen import _own_error


def _row(**late_us: list[float]) -> Any:
    return SimpleNamespace(conditions=[late_us | {"cpu_s": {"broker": 3.0}, "wall_s": 2.0}])


def test_the_publisher_stands_beside_links_and_handlers() -> None:
    rows = [
        _row(publisher_late_us=[100.0, 700.0], link_late_us=[50.0, 900.0], handler_late_us=[60.0, 1_100.0]),
        _row(publisher_late_us=[100.0, 2_700_000.0], link_late_us=[50.0, 100.0], handler_late_us=[60.0, 200.0]),
    ]
    line = _own_error(rows)
    assert "publisher by 2700.0 ms, links by 0.9 ms, handlers by 1.1 ms" in line
    assert "at most 1.50 cores" in line
