"""Where the jars of the Kafka server are, and how to get them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lapwing.errors import ConfigError

JARS_VARIABLE = "LAPWING_KAFKA_JARS"
"""Names a folder with the jars; before all others."""
POM = Path(__file__).with_name("pom.xml")
_NAME = "kafka-4.1.0"
_SERVER_JAR = "kafka_2.13-*.jar"
_FETCH_S = 600.0
_SHOWN_CHARACTERS = 400


def find_jars() -> Path:
    """The folder with the server's jars.

    Raises:
        ConfigError: there is none; says how to get them.
    """
    for folder in _folders():
        if any(folder.glob(_SERVER_JAR)):
            return folder
    remedy = f"run make kafka-jars (it needs Maven), or name their folder in {JARS_VARIABLE}"
    raise ConfigError("the jars of the Kafka server are not here", where=str(_user_folder()), remedy=remedy)


def fetch_jars(folder: Path | None = None) -> Path:
    """Fetches the jars with Maven, unless they are there; gives their folder.

    Args:
        folder: Where to; None: the user's cache.

    Raises:
        ConfigError: there is no Maven, or it failed.
    """
    target = folder or _user_folder()
    if any(target.glob(_SERVER_JAR)):
        return target
    maven = shutil.which("mvn")
    if maven is None:
        raise ConfigError("Maven is not on the PATH", where="mvn", remedy="install it (Debian: maven)")
    command = [maven, "--quiet", "--batch-mode", "-Dstyle.color=never", "--file", str(POM)]
    command += ["dependency:copy-dependencies", f"-DoutputDirectory={target.absolute()}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_S, check=False)  # noqa: S603
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-_SHOWN_CHARACTERS:]
        raise ConfigError(f"Maven could not fetch the Kafka server: {said}", where=str(POM), remedy="try again")
    return target


def _folders() -> Iterator[Path]:
    named = os.environ.get(JARS_VARIABLE)
    if named:
        yield Path(named)
    for above in (Path.cwd(), *POM.parents):
        yield above / ".cache" / "kafka" / "jars"
    yield _user_folder()


def _user_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "lapwing" / _NAME
