"""Is docs/configuration.md what the model says today?"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_reference_is_up_to_date() -> None:
    printed = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "configuration_reference.py")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed == (ROOT / "docs" / "configuration.md").read_text(), (
        "run python tools/configuration_reference.py > docs/configuration.md"
    )
