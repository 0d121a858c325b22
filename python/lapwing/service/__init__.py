"""The broker as a service of systemd: a unit for this machine, and where it is put.

- The unit is the one of ``deploy/``, with the program, the files and the account of this machine filled in.
- Nothing is started or enabled here, and no file that is another one is overwritten unasked.
"""
