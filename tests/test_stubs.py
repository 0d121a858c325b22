"""Does `_core.pyi` say what the compiled module has: every name, every parameter, every default?"""

import subprocess
import sys


def test_stubs_match_the_module() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "lapwing._core"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
