"""``python -m lapwing.cli``, for environments without the script on their path."""

from lapwing.cli.app import main

main()
