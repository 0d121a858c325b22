"""From root to an account without rights: ``broker.user``, on Linux.

- Before anything is opened the process acts as the account (effective ids, its groups), with nothing of root but the
  right to bind ports below 1024: what it makes is the account's, what the account may not read it cannot read. Files
  that would be in the way later are so at the start, by name.
- Once the ports are bound it gives up the rest, for good, on every thread: real, saved and effective ids, capabilities.
  That is looked up in the kernel afterwards. No program that it starts can get rights back (``no_new_privs``).
- A start that fails before gives back what was: nothing half.
"""

from lapwing.privileges.account import Account, find_account, wanted_account
from lapwing.privileges.stepping_down import SteppingDown, acting_as

__all__ = ["Account", "SteppingDown", "acting_as", "find_account", "wanted_account"]
