"""Who a client says it is, and whom it trusts: what commands take from options, files and the environment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from lapwing.client_url import is_plain


@dataclass(frozen=True)
class Identity:
    """Arguments of a `lapwing.client.Client`.

    Attributes:
        username: User name.
        password: Password; not in ``repr``.
        ca: File with the authorities to trust over TLS.
        certificate: File with the client's own certificate.
        key: File with its key.
    """

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    def at(self, url: str) -> Self:
        """The same at one broker: without files where there is no TLS."""
        return replace(self, ca=None, certificate=None, key=None) if is_plain(url) else self
