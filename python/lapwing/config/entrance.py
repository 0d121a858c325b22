"""What a configuration opens, as ``lapwing._core`` judges it: where clients come in, and what they are asked for there.

The Rust side decides for every broker, with Python or without; here stands what it is told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lapwing.config.listeners import node_table

if TYPE_CHECKING:
    from lapwing.config.model import Config


def entrance_json(config: Config, *, has_hooks: bool = False) -> str:
    """What ``unguarded_listeners`` and ``exposures`` of ``lapwing._core`` look at; reads none of the files named.

    Args:
        config: The whole configuration.
        has_hooks: Hooks judge clients, beside what the configuration says.
    """
    jwt = config.auth.jwt
    document = {
        "listen": config.broker.listen,
        "listeners": [node_table(listener) for listener in config.listeners],
        "asks_for_passwords": has_hooks or config.auth.knows_somebody or config.hooks.use is not None,
        "tokens": {"have_own_secret": jwt.secret_file is not None, "have_audience": bool(jwt.audience)}
        if jwt.is_on
        else None,
    }
    return json.dumps(document)
