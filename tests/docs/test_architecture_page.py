"""Is ARCHITECTURE.md true of this commit: are its rooms there, its files, its arrows, and are they all?"""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise

from pages import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text()
CRATES = ROOT / "crates"
PACKAGES = ROOT / "python" / "lapwing"


def rooms(page: str) -> str:
    """The drawing of the rooms."""
    found = re.search(r"^## The rooms\n\n```\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def folders(drawing: str) -> set[str]:
    """Every name in it that ends like a folder's."""
    return set(re.findall(r"(?<![\w/])([a-z_]+)/(?=[\s:,;])", drawing))


def arrows(page: str) -> set[tuple[str, str]]:
    """Who may look where, by the paragraph that says so."""
    found = re.search(r"^Who may look where: (.*?)^$", page, re.DOTALL | re.MULTILINE)
    assert found
    drawn = set()
    for chain in re.findall(r"`([^`]* -> [^`]*)`", found[1]):
        ends = [re.findall(r"[a-z_]+", end) for end in chain.split(" -> ")]
        drawn |= {(left, right) for lefts, rights in pairwise(ends) for left in lefts for right in rights}
    return drawn


def built() -> set[tuple[str, str]]:
    """The same of the crates, as cargo knows them; dependencies of tests are none of a room's."""
    found = set()
    for crate in CRATES.iterdir():
        dependencies = tomllib.loads((crate / "Cargo.toml").read_text())["dependencies"]
        found |= {(crate.name, name.removeprefix("lapwing-")) for name in dependencies if name.startswith("lapwing-")}
    return found


def test_what_is_checked_is_found() -> None:
    """Does each finder see what it is for?"""
    assert folders("  log/  lines   x.py   cli/, lab/: one\n  a -> b") == {"log", "cli", "lab"}
    drawn = arrows("`x -> y`\nWho may look where: `a -> b -> {c, d}` and\n`{e, f} -> c`.\n\nFor `x -> z`.")
    assert drawn == {("a", "b"), ("b", "c"), ("b", "d"), ("e", "c"), ("f", "c")}


def test_every_arrow_is_drawn() -> None:
    """Do the crates depend on each other as drawn, no more and no less?"""
    assert arrows(PAGE) - {("python", "py")} == built()


def test_every_room_is_drawn() -> None:
    """Has each crate, package and module its name in the drawing, and is there each folder that it names?"""
    drawing = rooms(PAGE)
    named = folders(drawing)
    packages = {path.name for path in PACKAGES.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert not ({crate.name for crate in CRATES.iterdir()} | packages) - named
    modules = {path.name for path in PACKAGES.glob("[a-z]*.py") if not path.name.startswith(("test_", "broker_"))}
    assert not {module for module in modules if module not in drawing}
    parts = [PACKAGES, *PACKAGES.glob("*/"), ROOT, *ROOT.glob("[a-z]*/")]
    assert not {name for name in named if not any((part / name).is_dir() for part in parts)}


def test_every_path_is_there() -> None:
    """Is there each file and folder that the text names from the root of the project or of a crate?"""
    places = re.findall(r"`([a-z_]+(?:/[a-z_.]+)+)`", PAGE)
    roots = [ROOT, CRATES, PACKAGES, *(crate / "src" for crate in CRATES.iterdir())]
    assert len(places) > 20
    for place in places:
        paths = [root / place for root in roots]
        assert any(path.exists() or path.with_suffix(".rs").exists() for path in paths), place
