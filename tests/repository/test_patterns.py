"""Test that no regular expression of agon needs long for hostile text."""

import subprocess
import sys

from sizes import sample

SECONDS = 20
"""Limit of CPU time. All patterns take about two seconds; an exponential one exceeds any limit."""

ATTACK = """
import importlib, pkgutil, re, resource
import agon

resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 20, SECONDS + 20))
patterns = {}
for module in pkgutil.walk_packages(agon.__path__, "agon."):
    if not module.name.endswith(("__main__", "migrations.env")):  # they run a program when imported
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                patterns.setdefault((value.pattern, value.flags), f"{module.name}.{name}")

resource.setrlimit(resource.RLIMIT_CPU, (int(sum(resource.getrusage(0)[:2])) + SECONDS,) * 2)
for (text, flags), name in sorted(patterns.items(), key=lambda item: item[1]):
    print(name, flush=True)
    pattern = re.compile(text, flags)
    for repeated in REPEATED:
        hostile = repeated * 24 + "!"
        subject = hostile.encode() if isinstance(text, bytes) else hostile
        pattern.fullmatch(subject)
        pattern.search(subject)
print("done", len(patterns))
"""
PIECES = [*"aA0-_./ :,'=+#[%\né", "http://", "0.", "a=", ",("]
REPEATED = [first + second for first in PIECES for second in ("", *PIECES)]


def test_no_pattern_backtracks_exponentially() -> None:
    """A pattern that tries all ways to divide a text blocks the process.

    The last line names that pattern: write it so that each text matches in only one way.
    """
    attack = f"SECONDS, REPEATED = {SECONDS}, {sample(REPEATED, dear=True)!r}\n{ATTACK}"
    process = subprocess.run(
        [sys.executable, "-c", attack], capture_output=True, text=True, check=False
    )
    lines = process.stdout.splitlines() or [process.stderr]
    assert lines[-1].startswith("done"), f"{lines[-1]}: {process.stderr[-500:]}"
    assert int(lines[-1].split()[1]) > 40
