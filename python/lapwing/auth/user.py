"""One user of the users file."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class User:
    """What the file keeps of one user. Without password and token it can come with a certificate only."""

    name: str
    password: str | None = field(default=None, repr=False)
    """argon2id, as a PHC string."""
    tokens: dict[str, str] = field(default_factory=dict, repr=False)
    """Token's name -> SHA-256 of it, 64 hexadecimal digits."""

    @property
    def kinds(self) -> list[str]:
        """How the user can show who it is: ``password``, ``token``, or ``certificate`` alone."""
        kinds = ["password"] * (self.password is not None) + ["token"] * bool(self.tokens)
        return kinds or ["certificate"]
