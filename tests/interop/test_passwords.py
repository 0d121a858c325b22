"""Is each client that says a wrong password, or none, told so and not let in?"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from certificates import Certificates
from clients.endpoint import Endpoints
from clients.peer import VERSIONS, Peer
from clients.roster import ALL

REFUSED = re.compile(r"user ?name|authori|\((4|5|134|135):")
"""Clients' words for the return codes 4 and 5 of 3.1.1 and the reason codes 0x86 and 0x87 of 5.0."""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("peer", ALL, ids=lambda peer: peer.name)
@pytest.mark.parametrize("password", ["wrong", None])
def test_a_wrong_password(endpoints: Endpoints, peer: Peer, version: int, password: str | None) -> None:
    """Over TLS: the certificate is trusted, so that the refusal is the broker's own."""
    endpoint = endpoints["tls"]
    user = endpoint.user if password else None
    said = peer.refusal(replace(endpoint, user=user, password=password), version)
    assert REFUSED.search(said.lower().replace("_", " ")), said


@pytest.mark.parametrize("peer", ALL, ids=lambda peer: peer.name)
def test_a_certificate_of_another_authority(endpoints: Endpoints, peer: Peer, tmp_path: Path) -> None:
    """Does each client check who the broker is? Else these tests would show nothing of TLS."""
    other = Certificates.make(tmp_path).authority
    assert peer.refusal(replace(endpoints["tls"], ca=other), 5)
