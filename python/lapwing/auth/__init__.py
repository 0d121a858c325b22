"""Users: the file that ``lapwing user`` writes and the broker reads.

- One TOML file. What it holds of a password is argon2id, of a token SHA-256; neither can be turned back.
- It is replaced as a whole, by a rename, with mode 0600: a broker that reads it meanwhile sees the old one or
  the new one.
- Secrets have no ``repr``; no error shows one. ``access_json`` is what the Rust side is given.
"""

from lapwing.auth.names import parse_user_name
from lapwing.auth.tokens import new_token
from lapwing.auth.user import User
from lapwing.auth.users_file import read_users
from lapwing.auth.write import update_users

__all__ = ["User", "new_token", "parse_user_name", "read_users", "update_users"]
