"""Whether the files that the broker believes are its own: nobody else may write them, or read what is secret in them.

- Files: the configuration, users, certificates, keys, and the Python modules that ``hooks.use`` and groups name, with
  what these import (``modules``, ``imports``; ``program_folders``: what is left out). Each with the folders and
  symbolic links on the way: who may write a folder can put another file in the place of this one.
- Folders of ``sys.path`` in front of these modules (``search_path``): who may write one puts a module before them.
- ``of_config`` says which files there are, ``private_group`` whom the account trusts; ``lapwing._core`` looks, and
  decides as for a broker without Python; ``check`` refuses, or tells.
- Written by others than root and the broker's own account: refused. Read by everybody, where it is secret: a notice.
- A pipe, a socket or a device in the place of one: refused, whatever ``broker.files`` says.
- The data folder is judged too, by itself: what lies in it is believed at the next start.
- Looked at before a file is used, at the start and at each reload; what hooks import by names that they put together,
  once they are loaded. Access control lists are not looked at.
"""

from lapwing.file_rights.check import check_files, check_kinds

__all__ = ["check_files", "check_kinds"]
