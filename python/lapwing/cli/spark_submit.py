"""The program that spark-submit is given: ``lapwing pipeline run``, with whatever follows as its arguments.

    spark-submit --master spark://head:7077 --packages ... spark_submit.py coverage --source URL --out DIR

Master, memory and jars are spark-submit's, see `lapwing.pipeline.submitted`; so is the exit code, which it hands on.
"""

from __future__ import annotations

import sys

from lapwing.cli.app import main

if __name__ == "__main__":
    main(["pipeline", "run", *sys.argv[1:]])
