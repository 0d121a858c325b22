"""What the tests of docs/ share: which pages there are, and which of them are printed by a tool."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
MADE = {
    "configuration.md": "configuration_reference.py",
    "metrics.md": "metrics_reference.py",
    "tables.md": "tables_reference.py",
}
"""Pages that a tool under tools/ prints."""

PAGES = sorted(page for page in DOCS.glob("*.md"))
WRITTEN = [page for page in PAGES if page.name not in MADE]
