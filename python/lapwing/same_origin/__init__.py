"""What stands before every HTTP listener of ours, the broker's and the bridge's: no page of the web gets in.

- ``Host`` must be a name of the listener: a page that bends its own DNS name to this machine says that name.
- A page that does not hide is named by its browser, in ``Origin`` and ``Sec-Fetch-Site``: its requests are refused,
  but for links and images (``looks_for_a_page``): these are answered, change nothing, and no page sees the answer.
- Every path is behind it, ``/healthz`` too. Programs, which send neither of the two, notice nothing.
- Whatever the answer, no browser is to guess that it is a page or a script (``nosniff``).
- Refusals are counted by the one whose listener it is; the log has one line of a kind a minute.
"""

from lapwing.same_origin.host_check import CROSS_SITE, MISDIRECTED, NO_SNIFFING, HostCheck, looks_for_a_page
from lapwing.same_origin.host_names import HostNames

__all__ = ["CROSS_SITE", "MISDIRECTED", "NO_SNIFFING", "HostCheck", "HostNames", "looks_for_a_page"]
