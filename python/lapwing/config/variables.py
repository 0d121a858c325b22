"""Variables of the environment that look like settings and are none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from lapwing.config.layers import ENVIRONMENT_PREFIX
from lapwing.config.model import Config
from lapwing.config.problems import all_paths

_NEAR = 0.9


def no_settings(names: Iterable[str]) -> list[str]:
    """A line for each name that sets nothing, and that somebody may have meant as a setting: `LAPWING_BROKER_SHARDS`.

    Names of other tools (``LAPWING_SPARK_HOME``) are not near any setting, and are left alone.
    """
    known = {"_".join(path): "__".join(path) for path in all_paths(Config)}
    return [line for name in sorted(names) if (line := _line(name, known))]


def _line(name: str, known: dict[str, str]) -> str | None:
    rest = name.upper().removeprefix(ENVIRONMENT_PREFIX).lower()
    if not name.upper().startswith(ENVIRONMENT_PREFIX) or "__" in rest:
        return None
    near = difflib.get_close_matches(rest[:64], known, n=1, cutoff=_NEAR)
    if not near:
        return None
    meant = known[near[0]].upper()
    hint = f"did you mean {ENVIRONMENT_PREFIX}{meant}?" if "__" in meant else "a setting is LAPWING_TABLE__KEY"
    return f"the variable {name} sets nothing: {hint}"
