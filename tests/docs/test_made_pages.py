"""Are the pages that tools print what the tools print today?"""

from __future__ import annotations

import subprocess
import sys

import pytest
from commands import clean_environment
from pages import DOCS, MADE, ROOT


@pytest.mark.parametrize("page", MADE)
def test_up_to_date(page: str) -> None:
    tool = ROOT / "tools" / MADE[page]
    printed = subprocess.run(
        [sys.executable, str(tool)], capture_output=True, text=True, check=True, env=clean_environment()
    ).stdout
    assert printed == (DOCS / page).read_text(), f"run python tools/{tool.name} > docs/{page}"
