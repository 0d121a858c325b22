"""Sets the policy of a group on a running broker, over its HTTP side."""

from __future__ import annotations

import http.client
import json
from urllib.parse import quote, urlsplit

from lapwing.errors import BrokerError, ConfigError
from lapwing.https import open_connection

_TIMEOUT_S = 10.0


def set_policy(url: str, group: str, policy: str) -> None:
    """Gives a group another strategy.

    Args:
        url: The broker's HTTP side.
        group: Share name.

    Raises:
        ConfigError: the broker does not know the strategy; the message lists those that it knows.
        BrokerError: it did not do so.
    """
    parts = urlsplit(url)
    connection = open_connection(parts.scheme, parts.hostname or "", parts.port or 80, timeout_s=_TIMEOUT_S)
    body = json.dumps({"strategy": policy})
    try:
        connection.request("PUT", f"/v1/groups/{quote(group, safe='')}", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise BrokerError(f"the policy could not be set: {error}", where=url) from error
    finally:
        connection.close()
    if response.status not in (200, 201, 204):
        raise _error(response.status, answer, url)


def _error(status: int, answer: bytes, where: str) -> BrokerError | ConfigError:
    try:
        error = json.loads(answer)["error"]
        message, remedy = str(error["message"]).rstrip("."), str(error.get("remedy", ""))
    except (ValueError, KeyError, TypeError):
        return BrokerError(f"the policy could not be set: HTTP {status}", where=where)
    if status in (400, 422):
        return ConfigError(message, where="--policies", remedy=remedy)
    return BrokerError(f"the policy could not be set: {message}", where=where, remedy=remedy)
