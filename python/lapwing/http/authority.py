"""Who knows the identities: what this room asks of the broker's own authority (``lapwing._core.Authority``)."""

from __future__ import annotations

from typing import Protocol


class Authority(Protocol):
    """The same users and rules as on MQTT. Asked from threads: verifying a password takes tens of milliseconds."""

    def has_users(self) -> bool:
        """Whether there are users; without, no password and no token is anybody's."""

    def check_password(self, user: str, password: bytes) -> str | None:
        """The user's name, if that is its password; as slow for a user that does not exist."""

    def check_token(self, token: str) -> str | None:
        """The name of the user that the token belongs to."""

    def may(self, identity: str | None, right: str, what: str) -> bool:
        """Whether the rules permit it (None: anonymous): to read a ``stream`` of that name, to ``observe``,
        or to ``admin``, which takes in ``observe``."""

    def reload(self, config_json: str) -> None:
        """Takes other users and rules from now on; on an error nothing changes."""
