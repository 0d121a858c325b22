"""What the tests of docs/ share: which pages there are, and which of them are printed by a tool."""

from __future__ import annotations

from pathlib import Path

from tools import made_files

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
MADE = {file.name: maker[0] for file, maker in made_files.MADE.items() if file.parent.name == DOCS.name}
"""Pages that a tool under tools/ prints."""

PAGES = sorted(page for page in DOCS.glob("*.md"))
WRITTEN = [page for page in PAGES if page.name not in MADE]
