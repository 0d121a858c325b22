"""Is an operator told in time of certificates that end, and of those that are not good yet?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from lapwing.certificate_times import certificate_notices, verdict
from lapwing.config import Config
from lapwing.config.listeners import ListenerConfig

DAY_S = 86_400
NOW_S = datetime(2026, 11, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("is_list", "from_day", "until_day", "told"),
    [
        (False, -1, 31, ""),
        (False, -1, 30, ""),
        (False, -1, 29, "expires on 2026-11-30, in 29 days"),
        (False, -1, 1, "expires on 2026-11-02, in 1 day:"),
        (False, -1, 0.5, "expires on 2026-11-01, within a day"),
        (False, -3, -1, "has expired on 2026-10-31"),
        (False, 1, 400, "is not good before 2026-11-02: is the clock"),
        (True, -1, 2, ""),
        (True, -1, 0.5, "the revocation list expires on 2026-11-01, within a day"),
        (True, -1, None, ""),
        (False, -1, 10**9, ""),
        (False, 10**9, 10**9, "beyond the calendar"),
    ],
)
def test_what_is_told(is_list: bool, from_day: float, until_day: float | None, told: str) -> None:
    until_s = None if until_day is None else int(NOW_S + until_day * DAY_S)
    found = verdict(is_list, int(NOW_S + from_day * DAY_S), until_s, NOW_S)
    assert (told in found) if told else not found


def test_each_file_is_named_once(tmp_path: Path) -> None:
    """Also where two listeners have it; and files that are not there, or hold something else, are left to others."""
    now = datetime.now(UTC)
    authority = trustme.CA()
    short = authority.issue_cert("localhost", not_after=now + timedelta(days=3, hours=1))
    short.cert_chain_pems[0].write_to_path(str(tmp_path / "short.pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "short.pem"), append=True)
    (tmp_path / "noise.pem").write_bytes(b"\0-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n")

    def listener(name: str) -> ListenerConfig:
        return ListenerConfig(url="tls://127.0.0.1:0", certificate=tmp_path / name, key=tmp_path / name)

    listeners = [listener(name) for name in ("noise.pem", "none.pem", "short.pem", "short.pem")]
    config = Config(listeners=listeners)
    (told,) = certificate_notices(config, now.timestamp())
    assert told.startswith(
        f"{tmp_path}/short.pem (listeners.2.certificate): of 2, number 1 the certificate expires on "
    )
    assert ", in 3 days: renew it" in told
