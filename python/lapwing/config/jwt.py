"""The table ``[auth.jwt]``: tokens (JWT) as passwords; ``jwt_table`` hands settings and keys to the Rust side."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lapwing.config.key_files import read_key_file, text_of_file
from lapwing.config.off import OFF, OptionalFile, has_settings
from lapwing.config.outside import OutsideUrl, outside_problem
from lapwing.config.several import refuse_all
from lapwing.config.units import Duration, Seconds, Size

_SOURCES = ("secret_file", "key_files", "jwks_file", "jwks_url")
_CLAIM = Annotated[str, Field(min_length=1, max_length=256)]


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


Algorithm = Literal[
    "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"
]
OptionalClaim = Annotated[_CLAIM | None, OFF]
OptionalText = Annotated[Annotated[str, Field(min_length=1, max_length=2_048)] | None, OFF]


class JwtSection(BaseModel):
    """Tokens (JWT) in the password of a CONNECT ([authentication-jwt.md](authentication-jwt.md)); off without keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    algorithms: list[Algorithm] = []
    """Algorithms of signatures that are taken: HS256, HS384, HS512 with secret_file; RS256, RS384, RS512, PS256, PS384,
    PS512, ES256, ES384, EdDSA with public keys."""

    secret_file: OptionalFile = None
    """File with the secret of HS256 (at least 32 bytes), HS384 (48), HS512 (64): its bytes without a last line feed."""

    key_files: Annotated[list[Path], BeforeValidator(_one_or_many)] = Field(default=[], max_length=64)
    """Files with public keys in PEM (BEGIN PUBLIC KEY), one or several in each."""

    jwks_file: OptionalFile = None
    """File with a JWK Set. Like the two above it is read at the start and at SIGHUP, as a whole or not at all."""

    jwks_url: Annotated[OutsideUrl | None, OFF] = None
    """URL of a JWK Set, fetched again and again; redirects are not followed. One of these four has the keys."""

    jwks_ca: OptionalFile = None
    """Authorities in PEM for that URL; off: the system's."""

    jwks_plain: bool = False
    """Allow http:// beyond loopback in jwks_url: whoever can change what is on the way can then let anybody in."""

    jwks_refresh: Duration = Field(default=600_000, ge=1_000)
    """The keys are fetched so often."""

    jwks_retry: Duration = Field(default=30_000, ge=100)
    """Between two fetches at least, after a failure and when a token names a key that is not known."""

    jwks_stale_max: Duration = Field(default=86_400_000, ge=1_000)
    """While the URL gives no keys the last ones are kept for so long; then no token is taken."""

    jwks_timeout: Duration = Field(default=5_000, ge=10, le=60_000)
    """Time for one fetch."""

    jwks_bytes_max: Size = Field(default=256 << 10, ge=64, le=16 << 20)
    """Longer answers are none."""

    issuer: OptionalText = None
    """iss must be this; "off": it is not looked at."""

    audience: Annotated[list[Annotated[str, Field(min_length=1, max_length=2_048)]], BeforeValidator(_one_or_many)] = (
        Field(default=[], max_length=64)
    )
    """aud must have one of these; empty: it is not looked at, and a token for another service is taken."""

    leeway: Seconds = Field(default=10, le=3_600)
    """How far the clocks of issuer and broker may be apart. exp is required."""

    name_claim: _CLAIM = "sub"
    """The claim that is the user name, as in rules."""

    names: Annotated[str, Field(min_length=1, max_length=256)] = "*"
    """User names that tokens may give, with * for any characters."""

    client_id_claim: OptionalClaim = None
    """The claim that is the one client id its bearer may have; "off": any that rules permit."""

    rules_claim: OptionalClaim = None
    """The claim with rules, as in [[rules]] without identity, about "publish" and "subscribe"; "off": none."""

    token_bytes_max: Size = Field(default=8 << 10, ge=64, le=60 << 10)
    """Longer tokens are refused before anything of them is read."""

    @property
    def is_on(self) -> bool:
        """Whether tokens are taken."""
        return bool(self._sources())

    def _sources(self) -> list[str]:
        return [name for name in _SOURCES if getattr(self, name)]

    @model_validator(mode="after")
    def _has_keys_and_algorithms(self) -> Self:
        refuse_all(self, self._problems())
        return self

    def _problems(self) -> Iterator[str]:
        """What does not go together, in words."""
        sources = self._sources()
        if not sources:
            if has_settings(self):
                yield f"name where the keys are: {', '.join(_SOURCES)}"
            return
        if len(sources) > 1:
            yield f"keys come from one place: {' or '.join(sources)}"
        if not self.algorithms:
            yield 'name the algorithms of your tokens, as in algorithms = ["RS256"]'
        has_secret = self.secret_file is not None
        strange = [name for name in self.algorithms if name.startswith("HS") != has_secret]
        if strange and len(sources) == 1:
            what = "a secret cannot check" if has_secret else "public keys must never check"
            yield f"algorithms has {strange[0]}, which {what}"
        if self.jwks_url is not None and (
            why := outside_problem(self.jwks_url, plain=self.jwks_plain, key="jwks_plain")
        ):
            yield why


def jwt_table(jwt: JwtSection) -> dict[str, Any] | None:
    """What the node is told of tokens, in its names and units; the files are read now. None: no tokens are taken.

    Raises:
        ConfigError: a file cannot be read.
    """
    if not jwt.is_on:
        return None
    return {
        "algorithms": jwt.algorithms,
        "keys": _keys(jwt),
        "issuer": jwt.issuer,
        "audience": jwt.audience,
        "leeway_s": jwt.leeway,
        "name_claim": jwt.name_claim,
        "names": jwt.names,
        "client_id_claim": jwt.client_id_claim,
        "rules_claim": jwt.rules_claim,
        "token_bytes_max": jwt.token_bytes_max,
    }


def _keys(jwt: JwtSection) -> dict[str, Any]:
    if jwt.secret_file is not None:
        secret = read_key_file(jwt.secret_file, "auth.jwt.secret_file")
        secret = secret.removesuffix(b"\n").removesuffix(b"\r")
        return {"secret": base64.b64encode(secret).decode()}
    if jwt.key_files:
        return {"pem": [text_of_file(file, "auth.jwt.key_files") for file in jwt.key_files]}
    if jwt.jwks_file is not None:
        return {"jwks": text_of_file(jwt.jwks_file, "auth.jwt.jwks_file")}
    return {
        "url": {
            "url": jwt.jwks_url,
            "ca": jwt.jwks_ca and text_of_file(jwt.jwks_ca, "auth.jwt.jwks_ca"),
            "plain": jwt.jwks_plain,
            "refresh_ms": jwt.jwks_refresh,
            "retry_ms": jwt.jwks_retry,
            "stale_ms_max": jwt.jwks_stale_max,
            "timeout_ms": jwt.jwks_timeout,
            "bytes_max": jwt.jwks_bytes_max,
        }
    }
