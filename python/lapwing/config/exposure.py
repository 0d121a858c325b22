"""What a configuration does that its writer may not have meant: a line each, for the start to say.

It leaves something open to others, or sets limits that this machine has no memory for. Not wrong, so not refused:
something in front may encrypt, a container may have no other account, memory may be added.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lapwing import _core
from lapwing.config.entrance import entrance_json

if TYPE_CHECKING:
    from lapwing.config.model import Config

_ROOT = (
    "the broker runs as root: set broker.user to the name of an account, which it becomes once its ports are bound, or"
    " start it as one"
)


def exposures(config: Config, *, is_root: bool = False, has_hooks: bool = False) -> list[str]:
    """What to say of ``config``, the worst first.

    Args:
        config: The whole configuration.
        is_root: The broker is root, and stays it.
        has_hooks: Hooks judge clients, beside what the configuration says.
    """
    beyond = _core.memory_notices(json.dumps(config.limits.model_dump(by_alias=True)))
    return [_ROOT] * is_root + _core.exposures(entrance_json(config, has_hooks=has_hooks)) + beyond
