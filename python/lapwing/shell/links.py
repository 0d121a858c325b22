"""The clients of a shell, by name; one of them is the current one."""

from __future__ import annotations

from lapwing.errors import ConfigError, LapwingError
from lapwing.shell.link import Link
from lapwing.shell.parse import suggestion


class Links:
    """Links in the order in which they were connected; changed by the shell's thread only."""

    def __init__(self) -> None:
        self._links: dict[str, Link] = {}
        self.current: Link | None = None

    def add(self, link: Link) -> None:
        """Adds a link, in place of a lost one of that name, and makes it the current one."""
        self._links.pop(link.client_id, None)
        self._links[link.client_id] = link
        self.current = link

    def remove(self, link: Link) -> None:
        """Removes a link; the newest of the others becomes the current one if it was that."""
        del self._links[link.client_id]
        if self.current is link:
            self.current = next(reversed(self._links.values()), None)

    def connected(self, client_id: str) -> bool:
        """Whether there is a link of that name whose connection stands."""
        link = self._links.get(client_id)
        return link is not None and link.lost is None

    def get(self, client_id: str | None) -> Link:
        """The link of that name; the current one for ``None``.

        Raises:
            LapwingError: no client is current.
            ConfigError: there is none of that name.
        """
        if client_id is None:
            if self.current is None:
                raise LapwingError("no client is connected", remedy="connect one: connect d1")
            return self.current
        if client_id not in self._links:
            remedy = suggestion(client_id, self._links, f"connect {client_id}, or see clients")
            raise ConfigError(f"no client {client_id!r} in this shell", remedy=remedy)
        return self._links[client_id]

    def all(self) -> list[Link]:
        """In order."""
        return list(self._links.values())
