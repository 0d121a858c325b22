"""``python -m lapwing`` is ``lapwing``."""

from lapwing.cli.app import main

main()
