"""Run every benchmark of this folder in turn, then print all comparisons once more."""

import subprocess
import sys
from pathlib import Path

from report import MARK  # type: ignore[import-not-found]  # of this folder


def main() -> int:
    """Run them; the exit code is 1 when one failed or fell below its floor."""
    here = Path(__file__).parent
    compared, failed = [], []
    scripts = [
        (script.name, [str(script)])
        for script in sorted(here.glob("*.py"))
        if script.name != "run.py" and "__main__" in script.read_text(encoding="utf-8")
    ]
    for name, arguments in [*scripts, ("published", ["-m", "benchmarks.published"])]:
        print(f"\n── {name}", flush=True)
        with subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=here.parent,
        ) as process:  # fmt: skip
            for line in process.stdout or ():
                print(line, end="", flush=True)
                if line.startswith(MARK):
                    compared.append(line.removeprefix(MARK).strip())
        if process.returncode:
            failed.append(name)
    print("\n── all comparisons")
    for line in compared:
        print(line)
    for name in failed:
        print(f"{name} failed")
    return 1 if failed or any("BELOW" in line for line in compared) else 0


if __name__ == "__main__":
    raise SystemExit(main())
