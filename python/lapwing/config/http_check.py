"""The table ``[auth.http]``: somebody else is asked who a client is; ``http_check_table`` is what the node is told."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lapwing.config.key_files import text_of_file
from lapwing.config.off import OFF, OptionalFile, has_settings
from lapwing.config.outside import OutsideUrl, outside_problem
from lapwing.config.units import Duration, Size
from lapwing.errors import ConfigError


class HttpCheckSection(BaseModel):
    """A URL that is asked about clients whom the users file does not have
    ([authentication-http.md](authentication-http.md)); off without one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[OutsideUrl | None, OFF] = None
    """Asked by POST with client id, user name, password, address and listener; redirects are not followed."""

    ca: OptionalFile = None
    """Authorities in PEM for it; off: the system's."""

    plain: bool = False
    """Allow http:// beyond loopback: passwords then go in the clear."""

    authorization_file: OptionalFile = None
    """File whose first line stands in the header Authorization, as in "Bearer ..."."""

    timeout: Duration = Field(default=2_000, ge=10, le=60_000)
    """Time for one question; without an answer the client is refused."""

    in_flight_max: int = Field(default=8, ge=1, le=256)
    """Questions under way at one time; others wait, in turns by address and user name."""

    answer_bytes_max: Size = Field(default=64 << 10, ge=64, le=1 << 20)
    """Longer answers are none."""

    ttl: Duration = Field(default=60_000, le=86_400_000)
    """An answer that lets in is remembered so long where it does not say; 0: not at all."""

    ttl_max: Duration = Field(default=3_600_000, le=86_400_000)
    """No answer is remembered longer, whatever it says."""

    refused_ttl: Duration = Field(default=10_000, le=86_400_000)
    """A refusal is remembered so long where the answer does not say; 0: not at all."""

    remembered_max: int = Field(default=10_000, ge=0, le=1_000_000)
    """Answers that are remembered."""

    names: Annotated[str, Field(min_length=1, max_length=256)] = "*"
    """User names that answers may give, with * for any characters."""

    @property
    def is_on(self) -> bool:
        """Whether somebody is asked."""
        return self.url is not None

    @model_validator(mode="after")
    def _may_be_asked(self) -> Self:
        if self.url is None:
            if has_settings(self):
                raise ValueError("name whom to ask: url")
            return self
        if why := outside_problem(self.url, plain=self.plain, key="plain"):
            raise ValueError(why)
        return self


def http_check_table(check: HttpCheckSection) -> dict[str, Any] | None:
    """What the node is told, in its names and units; the files are read now. None: nobody is asked.

    Raises:
        ConfigError: a file cannot be read.
    """
    if not check.is_on:
        return None
    return {
        "url": check.url,
        "ca": check.ca and text_of_file(check.ca, "auth.http.ca"),
        "plain": check.plain,
        "authorization": _authorization(check),
        "timeout_ms": check.timeout,
        "in_flight_max": check.in_flight_max,
        "answer_bytes_max": check.answer_bytes_max,
        "ttl_ms": check.ttl,
        "ttl_ms_max": check.ttl_max,
        "refused_ttl_ms": check.refused_ttl,
        "remembered_max": check.remembered_max,
        "names": check.names,
    }


def _authorization(check: HttpCheckSection) -> str | None:
    if check.authorization_file is None:
        return None
    key = "auth.http.authorization_file"
    line = text_of_file(check.authorization_file, key).partition("\n")[0].strip()
    if not line or not line.isascii() or not line.isprintable():
        raise ConfigError(
            f"{check.authorization_file} has no value of a header in its first line",
            where=key,
            remedy='write it there, as in "Bearer ..."',
        )
    return line
