"""Inject faults into an instance: ``PYTHONPATH=tests python -m faults.run --faults 1000``."""

import argparse
import json
import random
import tempfile
from pathlib import Path

from faults.storm import Storm


def main() -> None:
    """Inject faults, check the resulting state, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--every", type=float, default=0.12, help="seconds between faults")
    parser.add_argument(
        "--seconds",
        type=float,
        default=3600,
        help="maximum duration, whatever the number of faults",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--database", default="", help="an empty database (default: SQLite)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agon-faults-") as folder:
        url = arguments.database or f"sqlite:///{folder}/agon.db"
        storm = Storm(
            url, Path(folder), random.Random(arguments.seed), arguments.workers, arguments.writers
        )
        storm.start()
        storm.rage(arguments.faults, every=arguments.every, seconds=arguments.seconds)
        storm.calm()
        counts = storm.check()
    report = {
        "faults": sum(storm.faults.values()),
        "by kind": dict(sorted(storm.faults.items())),
        "ended by themselves": dict(storm.ended),
        "seconds": round(storm.seconds, 1),
        **counts,
    }
    print(json.dumps(report))  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
