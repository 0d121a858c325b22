"""The version of MQTT that a client speaks where nobody says one."""

from __future__ import annotations

_SN = ("sn://", "mqtt-sn://")


def version_of(url: str, asked: int | None) -> int:
    """``asked``, or 5 (MQTT 5.0); over MQTT-SN, which carries no more than that one says, 4 (3.1.1)."""
    if asked is not None:
        return asked
    return 4 if url.startswith(_SN) else 5
