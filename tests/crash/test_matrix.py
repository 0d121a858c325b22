"""Does each cell of the fault matrix keep what it acknowledges, and is the matrix able to see a loss?"""

from __future__ import annotations

from pathlib import Path

import pytest

from .cell import FAULTS, Cell, Figures
from .matrix import DISK_FAULTS, is_loss, run_cells, table
from .power import compile_library
from .subjects import LAPWING, Subject

PACE = 0.3


def one(tmp_path: Path, of: Subject, fault: str, qos: int, kept_by: str) -> Figures:
    libraries = compile_library(tmp_path, DISK_FAULTS), compile_library(tmp_path)
    home = tmp_path / of.name
    home.mkdir()
    return Cell(of, fault, qos, kept_by, home, *libraries, PACE).run()


def test_a_full_disk_holds_acknowledgements_back(tmp_path: Path) -> None:
    figures = one(tmp_path, Subject("lapwing"), "full disk", 1, "stream")
    assert not figures.notes
    assert (figures.missing, figures.broker) == (0, "went on")
    assert figures.acknowledged == figures.sent > 0
    assert figures.resumed_s is not None
    assert figures.resumed_s < 5


def test_a_loss_is_seen(tmp_path: Path) -> None:
    """A broker that promises nothing loses what it has acknowledged: the matrix says so."""
    careless = Subject("careless", settings=LAPWING.replace("[broker]", '[broker]\ndurability = "memory"'))
    figures = one(tmp_path, careless, "kill", 1, "session")
    assert figures.missing > 0
    assert is_loss(figures)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_cell_loses_anything(tmp_path: Path) -> None:
    found = list(run_cells(Subject("lapwing"), list(FAULTS), tmp_path, PACE))
    assert len(found) == len(FAULTS) * 6
    assert not [figures for figures in found if is_loss(figures)], table(found)
    assert all(figures.acknowledged == figures.sent for figures in found if figures.qos), table(found)
