"""The public surface, pinned: a name that appears or goes away is a decision, not an accident."""

import subprocess
import sys

import lapwing


def test_names() -> None:
    names = {"Broker", "Client", "Consumer", "Hooks", "LapwingError", "Publisher", "Strategy", "__version__"}
    assert set(lapwing.__all__) == names
    for name in lapwing.__all__:
        assert getattr(lapwing, name)


def test_names_of_the_client() -> None:
    """What programs that consume and publish import."""
    from lapwing import client

    faces = {"AsyncConsumer", "AsyncPublisher", "AsyncRequester", "Client", "Consumer", "Publisher", "Requester"}
    assert set(client.__all__) == faces | {"ConnectOptions", "Counters", "Delivery", "Message", "Will"}
    for name in client.__all__:
        assert getattr(client, name).__doc__


def test_version_is_one() -> None:
    """Do Python and Rust agree on the version?"""
    from lapwing import _core

    assert _core.__version__ == lapwing.__version__


def test_import_is_cheap() -> None:
    """Does a Spark worker that wants the contracts load neither broker nor configuration?"""
    heavy = "('pydantic', 'lapwing._core', 'starlette')"
    script = f"import sys, lapwing; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"
