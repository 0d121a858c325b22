"""Who there is of other people's MQTT clients.

`make test` installs and builds them; a client that is not there fails its tests with what to do.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from clients.mosquitto import Mosquitto
from clients.peer import Peer, ProgramPeer

_INTEROP = Path(__file__).parent.parent
_PROGRAMS = _INTEROP / "programs"
_BUILT = _INTEROP.parent.parent / ".cache" / "interop"


def _python(module: str) -> list[str]:
    return [sys.executable, "-m", f"programs.{module}"]


def _node() -> list[str]:
    assert (_INTEROP / "node_modules" / "mqtt").exists(), "MQTT.js is missing: run `make interop-clients`"
    return [_found("node"), str(_PROGRAMS / "mqttjs.mjs")]


def _java() -> list[str]:
    classes = _BUILT / "hivemq"
    assert (classes / "Main.class").exists(), "the Java client is not built: run `make interop-clients`"
    # A small machine is enough, and starts sooner.
    options = ["-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return [_found("java"), *options, "-cp", f"{classes}:{classes / 'jars'}/*", "Main"]


def _c() -> list[str]:
    program = _BUILT / "paho_c"
    assert program.exists(), "the C client is not built: run `make interop-clients`"
    return [str(program)]


def _found(program: str) -> str:
    path = shutil.which(program)
    assert path, f"{program} is missing: run `make interop-clients`, which installs it"
    return path


PAHO = ProgramPeer("paho", lambda: _python("paho_python"))
ALL: tuple[Peer, ...] = (
    PAHO,
    ProgramPeer("aiomqtt", lambda: _python("aiomqtt_python")),
    ProgramPeer("mqttjs", _node),
    ProgramPeer("hivemq", _java),
    ProgramPeer("paho-c", _c),
    Mosquitto(),
)
