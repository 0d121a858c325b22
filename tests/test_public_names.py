"""The public surface, pinned: a name that appears or goes away is a decision, not an accident."""

import subprocess
import sys

import lapwing


def test_names() -> None:
    assert set(lapwing.__all__) == {"Broker", "Client", "Hooks", "LapwingError", "Strategy", "__version__"}
    for name in lapwing.__all__:
        assert getattr(lapwing, name)


def test_version_is_one() -> None:
    """Do Python and Rust agree on the version?"""
    from lapwing import _core

    assert _core.__version__ == lapwing.__version__


def test_import_is_cheap() -> None:
    """Does a Spark worker that wants the contracts load neither broker nor configuration?"""
    heavy = "('pydantic', 'lapwing._core', 'starlette')"
    script = f"import sys, lapwing; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"
