"""Judge with a slow fake sandbox that logs its runs, for tests that kill the judge."""

import sys
import time
from pathlib import Path

from agon.app.dojo.judge import judge
from agon.app.dojo.problems import read_problem
from agon.app.sandbox import RunRequest, RunResult
from fakes.sandbox import FakeSandbox


class Slow(FakeSandbox):
    """A sandbox that takes four milliseconds for a run, and logs its name before."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = log

    def run(self, request: RunRequest) -> RunResult:
        """Run one job."""
        with self._log.open("a") as log:
            log.write(f"{request.name}\n")
        time.sleep(0.004)
        return super().run(request)


def main(folder: Path) -> None:
    """Judge ``s`` into ``season``."""
    judge(read_problem(folder / "p"), folder / "s", folder / "season", Slow(folder / "log"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
