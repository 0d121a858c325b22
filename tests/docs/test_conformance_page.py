"""Is docs/conformance.md what the statements and the tests say today, and does every id exist?"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_page_is_up_to_date() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "conformance.py"), "--check"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
