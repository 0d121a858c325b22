"""Who a client says it is, and whom it trusts: what commands take from options, files and the environment."""

from __future__ import annotations

from dataclasses import dataclass, field


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
