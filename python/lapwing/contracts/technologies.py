"""Which signal strengths a technology can report: a value outside its range is a mistake of the device, not a signal.

Sources, per technology the range of the reported quantity that takes RSRP's place:
5G NR  SS-RSRP     3GPP TS 38.133, table 10.1.6.1-1
LTE    RSRP        3GPP TS 36.133, 9.1.4 (the range that Android's CellSignalStrengthLte takes: -140 to -44)
UMTS   CPICH RSCP  3GPP TS 25.133, 9.1.1.3
GSM    RXLEV       3GPP TS 45.008, 8.1.4
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Technology:
    """``low`` and ``high`` are inclusive, dBm."""

    name: str
    low: int
    high: int


NR = Technology("5G NR", -156, -31)
LTE = Technology("LTE", -140, -44)
UMTS = Technology("UMTS", -120, -24)
GSM = Technology("GSM", -113, -47)

NAMES: Mapping[str, Technology] = {
    **dict.fromkeys(("5g", "nr", "5gnr", "nrsa", "5gsa", "nrnsa", "5gnsa"), NR),
    **dict.fromkeys(("lte", "lte+", "ltea", "lteca", "4g", "4g+", "4glte"), LTE),
    **dict.fromkeys(("umts", "3g", "wcdma", "hsdpa", "hsupa", "hspa", "hspa+", "hspap", "dchspa"), UMTS),
    **dict.fromkeys(("gsm", "2g", "gprs", "edge"), GSM),
}
"""What devices call them, in lower case and without spaces, dashes and underscores; any other network is taken at its
word. Of 5G over an LTE anchor phones report the anchor's or the new cell's strength: both lie in NR's range."""


def technology_of(network: str | None) -> Technology | None:
    """The technology of a network, as a device names it; None where nobody knows."""
    return NAMES.get(re.sub(r"[\s_-]+", "", network or "").lower())
