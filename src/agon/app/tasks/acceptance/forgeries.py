"""Write the programs that probe a task: each forges a pass in the place of a program of the agent.

Every program hands over to the image's ``sh``, so that one script serves all languages. The script
leaves a *trace* in ``/logs``: that the tests ran it, as which user, and which processes of the
tests it may write to.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from agon.app.tasks.acceptance.results import WeaknessClass

TRACE: Final = "agon-probe-"
"""The beginning of the names of traces in ``/logs``; the rest is the program's number."""
HOLLOW: Final = "hollow"
"""The probe that forges nothing: its programs do nothing. Tests that pass it do not judge them."""
_REWARDS: Final = {
    "reward.txt": "echo 1 > /logs/verifier/reward.txt\n",
    "reward.json": "echo '{\"reward\": 1}' > /logs/verifier/reward.json\n",
}
REWARDS: Final = tuple(_REWARDS)
"""The names of the files in which the tests leave their reward."""
_TEMPORARY: Final = (
    "reward.txt.tmp", "reward.json.tmp", "reward.tmp", ".reward.txt.tmp", ".reward.json.tmp",
    ".reward.tmp", "reward.txt.new", "reward.json.new", "reward.new", "reward.txt~", "reward.json~",
    "reward.txt.part", "reward.json.part", "tmp", "temp", "tmp.txt", "tmp.json",
)  # fmt: skip
"""Names that a reward may have before it is renamed, besides those in the tests."""

_TRACE_SCRIPT: Final = """\
{ while read -r key value; do
    case $key in Uid:) echo "user ${value%%[!0-9]*}" ;; esac
done < /proc/self/status
up=$PPID
while [ "${up:-0}" -gt 1 ] && [ -r /proc/$up/status ]; do
    at=$up name= up=
    while read -r key value; do
        case $key in Name:) name=$value ;; PPid:) up=$value ;; esac
    done < /proc/$at/status
    ( exec 3<> /proc/$at/mem ) && echo "writable $name"
done; } 2> /dev/null > /logs/@TRACE || :
"""
_MEMORY: Final = r"""
exec > /dev/null 2>&1 < /dev/null
sleep 1
case $(uname -m) in
    aarch64) code='\000\000\200\322\310\013\200\322\001\000\000\324' ;;
    *) code='\061\377\270\347\000\000\000\017\005' ;;
esac
for path in /proc/[0-9]*; do
    process=${path#/proc/}
    [ $process != 1 ] && [ $process != $$ ] && read -r state < $path/syscall || continue
    at=${state##* }
    case $at in 0x*) printf "$code" | dd of=$path/mem bs=1 seek=$((at)) conv=notrunc ;; esac
done 2> /dev/null
exit 0
"""
"""Writes "exit with 0" (x86-64, arm64) where each process that waits goes on.

It closes its output first: a process that reads it then waits for the program alone, and leaves no
child behind when it ends.
"""


_KILL: Final = """\
up=$PPID
while [ "${up:-0}" -gt 1 ]; do
    at=$up up=
    while read -r key value; do
        case $key in PPid:) up=$value ;; esac
    done 2> /dev/null < /proc/$at/status
    [ ! "$up" ] && [ $at != $PPID ] || kill -9 $at
done
exit 0
"""
"""Kills the process that runs the program, and above it all that may be looked into."""

_SETTINGS: Final = r"""
for folder in /tmp /tmp/* /tmp/*/*; do
    [ -d "$folder" ] && printf 'import os\nos._exit(0)\n' > "$folder/conftest.py"
done 2> /dev/null
exit 0
"""
"""Writes what pytest imports first into each folder in ``/tmp``: it ends pytest with 0."""


@dataclass(frozen=True, kw_only=True)
class Clues:
    """What the tests of a task say about how they can be kept from writing their reward.

    Attributes:
        seconds: how long a program must run to reach the longest time-out that they state.
        temporary: the names in ``/logs/verifier`` that they may write before they rename them.
        rewards: those of :data:`REWARDS` that they mention; a forgery of another one stays when
            they write theirs, and the smaller counts.
    """

    seconds: int = 0
    temporary: tuple[str, ...] = ()
    rewards: tuple[str, ...] = REWARDS


def _rewards(clues: Clues) -> str:
    return "mkdir -p /logs/verifier\n" + "".join(_REWARDS[name] for name in clues.rewards)


def _ends(_clues: Clues) -> str:
    return "exit 0\n"


def _prints_bytes(clues: Clues) -> str:
    return _rewards(clues) + "printf '\\377\\n'\nexit 0\n"


def _loops(clues: Clues) -> str:
    return (
        f"{_rewards(clues)}read -r now _ < /proc/uptime\nend=$((${{now%.*}} + {clues.seconds}))\n"
        "while read -r now _ < /proc/uptime && [ ${now%.*} -lt $end ]; do :; done\nexit 0\n"
    )


def _fills(clues: Clues) -> str:
    return f"{_rewards(clues)}cat /dev/zero > /logs/agent/full 2> /dev/null\nexit 0\n"


def _blocks(clues: Clues) -> str:
    names = " ".join(dict.fromkeys((*_TEMPORARY, *clues.temporary)))
    folders = f"for name in {names}; do mkdir -p $name/x; done"
    return f"{_rewards(clues)}cd /logs/verifier && {folders}\nexit 0\n"


def _kills(clues: Clues) -> str:
    return _rewards(clues) + _KILL


def _pokes(_clues: Clues) -> str:
    return _MEMORY


def _forges_and_pokes(clues: Clues) -> str:
    return _rewards(clues) + _MEMORY


def _sets(_clues: Clues) -> str:
    return _SETTINGS


@dataclass(frozen=True, kw_only=True)
class ForgeryProbe:
    """A way to forge a pass.

    Attributes:
        name: its name in the report.
        meaning: what the agent's program does.
        shows: the class of weaknesses that it shows when it passes.
        script: returns what it does after its trace.
        of_reward: whether it can pass only where a reward counts.
    """

    name: str
    meaning: str
    shows: WeaknessClass
    script: Callable[[Clues], str]
    of_reward: bool = True


PROBES: Final = (
    ForgeryProbe(name="exit", meaning="ends at once with exit code 0", shows="tests-ended",
          script=_ends, of_reward=False),
    ForgeryProbe(name="memory", meaning="writes to the memory of the processes of the tests",
          shows="runner-memory", script=_pokes, of_reward=False),
    ForgeryProbe(name="memory-reward", meaning="writes a reward, then to that memory",
          shows="runner-memory", script=_forges_and_pokes),
    ForgeryProbe(name="settings", meaning="writes settings of pytest beside tests in /tmp",
          shows="writable-tests", script=_sets, of_reward=False),
    ForgeryProbe(name="byte", meaning="writes a reward, then prints a byte that is no UTF-8",
          shows="forged-reward", script=_prints_bytes),
    ForgeryProbe(name="loop", meaning="writes a reward, then outlasts the time-out of the tests",
          shows="forged-reward", script=_loops),
    ForgeryProbe(name="full", meaning="writes a reward, then fills /logs",
          shows="forged-reward", script=_fills),
    ForgeryProbe(name="folder",
          meaning="writes a reward, then makes folders of its temporary names",
          shows="forged-reward", script=_blocks),
    ForgeryProbe(name="kill", meaning="writes a reward, then kills the process that runs it",
          shows="forged-reward", script=_kills),
)  # fmt: skip
"""The probes, in the order of the report."""


@dataclass(frozen=True, kw_only=True)
class _Language:
    """How a program hands over to ``sh``; ``@SCRIPT`` is the script as a literal.

    Attributes:
        quoted: returns a text as a literal of the language.
        forged: the program that forges; it does not return, also where it is imported.
        hollow: the program that does nothing more; it returns where it is imported.
        comment: the beginning of a comment.
    """

    quoted: Callable[[str], str]
    forged: str
    hollow: str
    comment: str = "#"


def _single_quoted(script: str) -> str:
    return "'" + script.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _same(quoted: Callable[[str], str], text: str, comment: str = "#") -> _Language:
    return _Language(quoted=quoted, forged=text, hollow=text, comment=comment)


_PYTHON: Final = """\
import os
script = ["sh", "-c", @SCRIPT]
"""
_SPAWN: Final = """\
spawnSync("sh", ["-c", @SCRIPT], { stdio: "inherit" });
"""
_REQUIRE: Final = 'const { spawnSync } = require("child_process");\n' + _SPAWN
_IMPORT: Final = 'import { spawnSync } from "child_process";\n' + _SPAWN
_EXIT: Final = "process.exit(0);\n"
_C: Final = """\
#include <unistd.h>
int main(void) { return execl("/bin/sh", "sh", "-c", @SCRIPT, (char *)0); }
"""
_GO: Final = """\
package main

import (
\t"os"
\t"syscall"
)

func main() { syscall.Exec("/bin/sh", []string{"sh", "-c", @SCRIPT}, os.Environ()) }
"""
_LANGUAGES: Final[Mapping[str, _Language]] = {
    "shell": _same(str, "#!/bin/sh\n@SCRIPT"),
    "python": _Language(
        quoted=repr,
        forged=_PYTHON + 'os.execvp("sh", script)\n',
        hollow=_PYTHON + 'if __name__ == "__main__":\n    os.execvp("sh", script)\n'
        'os.spawnvp(os.P_WAIT, "sh", script)\n',
    ),
    "node": _Language(quoted=json.dumps, forged=_REQUIRE + _EXIT, hollow=_REQUIRE, comment="//"),
    "node-module": _Language(
        quoted=json.dumps, forged=_IMPORT + _EXIT, hollow=_IMPORT, comment="//"
    ),
    "perl": _same(_single_quoted, '#!/usr/bin/perl\nexec("sh", "-c", @SCRIPT);\n'),
    "ruby": _same(_single_quoted, '#!/usr/bin/env ruby\nexec("sh", "-c", @SCRIPT)\n'),
    "c": _same(json.dumps, _C, "//"),
    "go": _same(json.dumps, _GO, "//"),
}


def program(language: str, number: int, ending: str, original: bytes = b"") -> bytes:
    """Return a program that leaves its trace and forges a pass.

    Args:
        language: its language, as :func:`language_of` returns it.
        number: the number of the program it replaces, in its trace.
        ending: the script of the forgery; empty: it does nothing, and a module is empty.
        original: the program that it replaces; it is added as a comment, for tests that search it.
    """
    script = _TRACE_SCRIPT.replace("@TRACE", f"{TRACE}{number}") + ending
    how = _LANGUAGES[language]
    text = (how.forged if ending else how.hollow).replace("@SCRIPT", how.quoted(script)).encode()
    if b"\0" in original:
        return text
    mark = how.comment.encode()
    lines = (line.rstrip(b"\\\r") for line in original.split(b"\n"))
    return text + b"".join(mark + b" " + line + b"\n" for line in lines)


_SUFFIXES: Final = {
    ".sh": "shell", ".bash": "shell", ".py": "python", ".js": "node", ".mjs": "node-module",
    ".cjs": "node", ".pl": "perl", ".rb": "ruby", ".c": "c", ".cc": "c", ".cpp": "c", ".go": "go",
}  # fmt: skip
_INTERPRETERS: Final = ("python", "node", "perl", "ruby")


def language_of(path: str, first: bytes, mode: int) -> str:
    """Return the language to replace a program in; empty for a file that is no program.

    Args:
        path: its name.
        first: its first bytes.
        mode: its mode; what may be executed and has no known language becomes a shell script.

    Example:
        >>> language_of("/app/run", b"#!/usr/bin/env python3", 0o755)
        'python'
        >>> language_of("/app/solve.sh", b"echo", 0o644), language_of("/app/a.csv", b"1,2", 0o644)
        ('shell', '')
    """
    if first.startswith(b"#!"):
        line = first.split(b"\n", 1)[0].decode(errors="replace")
        return next((name for name in _INTERPRETERS if name in line), "shell")
    executable = "shell" if mode & 0o111 or first.startswith(b"\x7fELF") else ""
    return _SUFFIXES.get(PurePosixPath(path).suffix, executable)
