"""Every regular expression of ours, met by text that is made to keep it busy."""

import subprocess
import sys

SECONDS = 20
"""Of the processor; all of it takes about two. What is exponential takes longer than any number."""

ATTACK = """
import importlib, pkgutil, re, resource
import agon

resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 20, SECONDS + 20))
found = {}
for about in pkgutil.walk_packages(agon.__path__, "agon."):
    if not about.name.endswith(("__main__", "migrations.env")):  # those run what they are for
        for name, value in vars(importlib.import_module(about.name)).items():
            if isinstance(value, re.Pattern):
                found.setdefault((value.pattern, value.flags), f"{about.name}.{name}")

resource.setrlimit(resource.RLIMIT_CPU, (int(sum(resource.getrusage(0)[:2])) + SECONDS,) * 2)
pieces = [*"aA0-_./ :,'=+#[%", chr(10), chr(233), "http://", "0.", "a=", ",("]
for (text, flags), place in sorted(found.items(), key=lambda one: one[1]):
    print(place, flush=True)
    pattern = re.compile(text, flags)
    for one in pieces:
        for other in ("", *pieces):
            hostile = (one + other) * 24 + "!"
            given = hostile.encode() if isinstance(text, bytes) else hostile
            pattern.fullmatch(given)
            pattern.search(given)
print("done", len(found))
""".replace("SECONDS", str(SECONDS))


def test_no_pattern_is_kept_busy_by_hostile_text() -> None:
    """A pattern that tries every way to part a text holds the whole process for as long as it does.

    The last line names the pattern at fault: write it so that each text can be read in one way.
    """
    done = subprocess.run(
        [sys.executable, "-c", ATTACK], capture_output=True, text=True, check=False
    )
    told = done.stdout.splitlines() or [done.stderr]
    assert told[-1].startswith("done"), f"{told[-1]}: {done.stderr[-500:]}"
    assert int(told[-1].split()[1]) > 40
