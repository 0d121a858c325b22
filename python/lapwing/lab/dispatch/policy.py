"""The policy of a group on a running broker: set before a run, and what it did, asked after it; over HTTP."""

from __future__ import annotations

from lapwing.cli.group_api import GroupApi

_COUNTED = ("kicks", "moved", "redelivered", "missed", "late_acknowledgements", "reports_refused")


def set_policy(url: str, group: str, policy: str) -> None:
    """Gives a group another strategy.

    Args:
        url: The broker's HTTP side.
        group: Share name.

    Raises:
        ConfigError: the broker does not know the strategy; the message lists those that it knows.
        LapwingError: it did not do so.
    """
    GroupApi(url).put(group, {"strategy": policy})


def group_counts(url: str, group: str, topic_filter: str) -> dict[str, int]:
    """What the broker counted of a group since its first member came: members kicked, messages moved, ...

    Raises:
        LapwingError: the broker does not know the group.
    """
    groups = GroupApi(url).group(group)["groups"]
    counters: dict[str, int] = next((one["counters"] for one in groups if one["filter"] == topic_filter), {})
    return {name: counters[name] for name in _COUNTED if name in counters}
