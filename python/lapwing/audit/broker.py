"""What a broker in this process has written into its audit trail, beside what its node writes itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lapwing.audit.changes import Known
from lapwing.audit.key_files import KeyFiles
from lapwing.errors import LapwingError

if TYPE_CHECKING:
    from lapwing._core import Node
    from lapwing.config import Config


class BrokerAudit:
    """The events of one broker; silent until it has started, and where there is no trail."""

    def __init__(self) -> None:
        self._node: Node | None = None
        self._known: Known | None = None
        self._files: KeyFiles | None = None

    def started(self, node: Node, tables: Mapping[str, Any], config: Config) -> None:
        """The node runs, with these users and rules, and the files that the configuration names."""
        if node.is_audited():
            self._node, self._known, self._files = node, Known(tables), KeyFiles(config)
            self._write("configured", self._known.counts())

    def access(self, tables: Mapping[str, Any]) -> None:
        """Other users and rules are in force."""
        if self._known is not None:
            now = Known(tables)
            self._write("access_reloaded", self._known.changes_to(now))
            self._known = now

    def reloaded(self, before: Config, now: Config, listeners: int) -> None:
        """The rest of the configuration was taken over; ``listeners`` have read their certificates again."""
        if self._files is None:
            return
        changed = [name for name in ("topics", "groups") if getattr(before, name) != getattr(now, name)]
        files = KeyFiles(now)
        others = self._files.changes_to(files)
        self._files = files
        self._write("reloaded", {"changed": changed, "listeners_with_certificates": listeners, "files_changed": others})

    def changed(self, what: str, name: str, **result: object) -> None:
        """Code of this process has changed something."""
        self._write("change", {"over": "process", "method": what, "path": name, "result": result or None})

    @contextmanager
    def failure(self, event: str) -> Iterator[None]:
        """Writes where it failed, if it does; not what was wrong, for a line of a file may be quoted there."""
        try:
            yield
        except LapwingError as error:
            self._write(event, {"error": type(error).__name__, "where": error.where})
            raise

    def _write(self, event: str, fields: Mapping[str, object]) -> None:
        if self._node is not None:
            self._node.audit(event, json.dumps(fields, default=str))
