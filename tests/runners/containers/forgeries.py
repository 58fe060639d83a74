"""List the agents that try to pass a task without solving it."""

from agon.app.containers import RewardSource
from runners.containers.course import limits
from runners.containers.forgery import (
    BASH,
    COMPARE,
    INJECTION,
    LATER,
    MODULE,
    NESTED,
    POKE,
    PRINTED,
    PYTEST,
    PYTEST_RUNNER,
    RUN,
    RUNNER,
    SEARCH,
    SOURCES,
    Forgery,
    Kind,
)
from runners.containers.reward_forgeries import REWARD_FORGERIES

_SHADOWS = (
    "for name in cmp grep sh test timeout tar cat; do printf '#!/bin/sh\\nexit 0\\n' > $name; "
    "chmod 755 $name; done; mkdir -p bin; cp cmp grep sh test bin; "
)
_FORGED_ACCOUNT = (
    "printf 'begun 1.00\\nended 2.00 code 0 left 0 oom 0 pids 0 intact 1 watched 1\\n' "
    "> /.agon/account"
)
_POKE_AND_WAIT = f"{POKE}sleep 1; echo no"
_EXITING = (
    "for name in json re sys ast io argparse unittest subprocess; do "
    "echo 'import os; os._exit(0)' > $name.py; done"
)

FORGERIES: dict[str, Forgery] = {
    "tools shadowed in the working folder": Forgery(_SHADOWS),
    "tools shadowed in the search path": Forgery(_SHADOWS, SEARCH),
    "tools replaced in the image": Forgery(
        "for name in /bin/cmp /usr/bin/cmp /usr/local/bin/cmp; do "
        "mkdir -p ${name%/*}; printf '#!/bin/sh\\nexit 0\\n' > $name; chmod 755 $name; done"
    ),
    "tools in the home folder, profiles": Forgery(
        "mkdir -p ~/bin ~/.local/bin; printf '#!/bin/sh\\nexit 0\\n' > ~/bin/cmp; "
        "cp ~/bin/cmp ~/.local/bin; for f in ~/.profile ~/.shrc ~/.bashrc ~/.ashrc; do "
        "echo 'PATH=~/bin:$PATH; cmp() { return 0; }' > $f; done"
    ),
    "modules for every Python of the user": Forgery(
        "for v in 3.11 3.12 3.13; do d=~/.local/lib/python$v/site-packages; mkdir -p $d; "
        "for n in usercustomize sitecustomize pytest; do echo 'import os; os._exit(0)' > $d/$n.py; "
        "done; echo 'import os; os._exit(0)' > $d/x.pth; done", PYTEST, kinds=("coreutils",),
    ),
    "modules of the user, from inside the verifier": Forgery(
        "cat > solve.sh <<'E'\nd=$(python3 -m site --user-site); mkdir -p $d; for n in "
        "usercustomize.py x.pth; do echo 'import os; os._exit(0)' > $d/$n; done; echo no\nE",
        LATER, kinds=("coreutils", "bash"),
    ),
    "a library for every program": Forgery(
        "cp /bin/busybox evil.so; echo /app/evil.so > /etc/ld.so.preload; "
        "export LD_PRELOAD=/app/evil.so ENV=/app/evil; echo 'exit 0' > evil"
    ),
    "edited tests": Forgery(
        "mkdir -p /tests tests; printf '#!/bin/sh\\nexit 0\\n' | tee /tests/test.sh tests/test.sh; "
        "chmod 755 /tests/test.sh tests/test.sh; mount -o remount,rw / ; mount --bind tests /tests"
    ),
    "edited tests, from inside the verifier": Forgery(
        "echo 'echo 42 > /app/x; cp /app/x /tests/expected; mount -o remount,rw /tests; "
        "echo exit 0 > /tests/test.sh; echo no' > solve.sh", RUN,
    ),
    "a link to the expected answer": Forgery("ln -s /tests/expected answer"),
    "a link by steps upwards": Forgery("ln -s ../tests/expected answer"),
    "a link through a link": Forgery(
        "mkdir -p a/b; ln -s ../.. a/b/up; ln -s a/b/up/../tests/expected answer; "
        "ln -s a/b/up/tests/expected answer2; cp -d answer2 answer"
    ),
    "a link through the process folder": Forgery("ln -s /proc/self/root/tests/expected answer"),
    "a folder that is a link": Forgery(
        "ln -s /tests d; ln -s d/expected answer",
        "cmp /app/answer /tests/expected || cmp /app/d/expected /tests/expected",
    ),
    "another name of the expected answer": Forgery(
        "ln /tests/expected answer || ln /etc/passwd answer"
    ),
    "the working folder is a link": Forgery(
        "cd /; rmdir /app/*; rm -rf /app; ln -s /tests /app; mv /app /x"
    ),
    "a process that outlives the agent": Forgery(
        "(setsid sh -c 'trap \"\" TERM HUP; sleep 2; touch /app/changed; sleep 60' "
        "> /dev/null 2>&1 &); echo no > answer",
        "for i in 1 2 3 4 5 6 7 8; do sleep 0.1; test -e /app/changed && break; done; "
        "test -e /app/changed || " + COMPARE,
    ),
    "a forged result file": Forgery(
        f"{_FORGED_ACCOUNT}; echo 42 > /tmp/answer; tar -c -f - -C /tmp answer >> /.agon/account"
    ),
    "a forged result file, from inside the verifier": Forgery(
        f"cat > solve.sh <<'E'\n{_FORGED_ACCOUNT}; kill -9 1; kill -9 $PPID; echo no\nE", RUN,
    ),
    "a forged result file that is locked": Forgery(
        f"cat > solve.sh <<'E'\n{_FORGED_ACCOUNT}; chmod 000 /.agon/account; "
        "kill -9 $PPID; echo no\nE", RUN,
    ),
    "a result file that is emptied": Forgery(": > /.agon/account; sleep 1; : > /.agon/account"),
    "a result file without permissions": Forgery("chmod 000 /.agon/account"),
    "a result file that fills the disk": Forgery(
        "cat /dev/zero >> /.agon/account; ls -l /.agon/account", COMPARE
    ),
    "a signal to the first process": Forgery(
        "for s in KILL STOP TERM HUP INT SEGV; do kill -$s 1; done; kill -9 $PPID", COMPARE
    ),
    "the first process's memory and files": Forgery(
        "echo x > /proc/1/mem; echo x > /proc/1/fd/1; cat /proc/1/environ > /dev/null; "
        "echo c > /proc/sysrq-trigger; echo 1 > /proc/sys/kernel/panic; "
        "echo -1000 > /proc/self/oom_score_adj; ls /proc/1/root > /dev/null", COMPARE
    ),
    "SIGTERM ignored": Forgery(
        "trap '' TERM HUP INT; while :; do sleep 1; done", bounds=limits(timeout_s=1),
        outcomes=("timeout",),
    ),
    "SIGTERM handled by sleeping": Forgery(
        "trap 'echo 42 > answer; sleep 30' TERM; while :; do sleep 0.1; done",
        bounds=limits(timeout_s=1), outcomes=("timeout",),
    ),
    "exit code 0 at the time limit": Forgery(
        "trap 'echo 42 > answer; exit 0' TERM; while :; do sleep 0.1; done",
        bounds=limits(timeout_s=1), outcomes=("timeout",),
    ),
    "forked twice to escape the limit": Forgery(
        "(setsid sh -c 'sleep 3; echo 42 > /app/answer; sleep 60' &) &", outcomes=("failed",)
    ),
    "all other processes killed": Forgery(
        "trap '' TERM; for p in /proc/[0-9]*; do p=${p#/proc/}; "
        "[ $p = 1 ] || [ $p = $$ ] || kill -9 $p; done 2>/dev/null; sleep 3; echo 42 > answer",
        bounds=limits(timeout_s=1), outcomes=("failed", "timeout"),
    ),
    "processes that outlive the command": Forgery(
        "for i in 1 2 3; do setsid sleep 1000 & done; exec > /dev/null 2>&1; (sleep 1000 &)"
    ),
    "a flood of output": Forgery("yes", outcomes=("failed",)),
    "a flood of errors, from inside the verifier": Forgery(
        "echo 'yes >&2' > solve.sh", RUN, outcomes=("failed",)
    ),
    "a full disk": Forgery(
        "for d in /app /tmp /run /root /dev/shm; do cat /dev/zero > $d/full; done; sync"
    ),
    "a full disk, from inside the verifier": Forgery(
        "echo 'cat /dev/zero > /logs/full; cat /dev/zero > /app/full; echo no' > solve.sh",
        PRINTED,
    ),
    "more than the memory holds": Forgery(
        "for d in /app /tmp /run /root /home /var/tmp; do cat /dev/zero > $d/full; done",
        bounds=limits(memory_mib=48), outcomes=("failed", "timeout"),
    ),
    "a fork bomb": Forgery(
        "f() { f | f & }; f; sleep 5", bounds=limits(timeout_s=2), outcomes=("failed", "timeout")
    ),
    "a fork bomb, from inside the verifier": Forgery(
        "echo 'f() { f | f & }; f; sleep 5' > solve.sh", PRINTED,
        bounds=limits(timeout_s=3), outcomes=("failed", "timeout"),
    ),
    "more files than the limit": Forgery(
        "echo 42 > answer; i=0; while [ $i -lt 2100 ]; do : > f$i; i=$((i+1)); done"
    ),
    "folders nested without end": Forgery(
        "i=0; while [ $i -lt 400 ]; do mkdir dddddddddddddddddddddddd || break; "
        "cd dddddddddddddddddddddddd; i=$((i+1)); done"
    ),
    "a pipe as the answer": Forgery("mkfifo answer", "cat /app/answer > /tmp/copy && " + COMPARE),
    "devices": Forgery(
        "mknod answer c 1 5; mknod null c 1 3; mknod disk b 8 0; cat disk", COMPARE
    ),
    "a program that becomes root": Forgery(
        "cp /bin/busybox su; chmod 6755 su; echo no > answer",
        "[ ! -u /app/su ] && [ ! -g /app/su ] && " + COMPARE,
    ),
    "names that break scripts": Forgery(
        "touch -- '-rf' '$(echo 42 > answer)' '`id`' '; exit 0' \"$(printf 'a\\nexit 0')\" "
        "\"$(printf '\\377\\200')\" \"$(printf 'answer\\r')\"; "
        "mkdir -- '--checkpoint-action=exec=sh'",
        "cd /app && for f in *; do :; done; " + COMPARE,
    ),
    "the network": Forgery(
        "wget -q -O answer http://127.0.0.1/ || nc -w 2 10.0.0.1 80 || "
        "ip link add dummy0 type dummy"
    ),
    "namespaces of its own": Forgery(
        "unshare -r sh -c 'mount -t tmpfs t /bin'; unshare -m true && mount --bind /app /bin; "
        "chroot /app /bin/sh; nsenter -t 1 -m true"
    ),
    "code written into every visible process": Forgery(
        f"cat > solve.sh <<'E'\n{INJECTION}\nE", RUN
    ),
    "code written into a test runner in Python": Forgery(
        f"cat > solve.sh <<'E'\n{_POKE_AND_WAIT}\nE", RUNNER, kinds=("coreutils",)
    ),
    "code written into pytest": Forgery(
        f"cat > solve.sh <<'E'\n{_POKE_AND_WAIT}\nE", PYTEST_RUNNER, kinds=("coreutils",)
    ),
    "code written into the programs between the tests' scripts": Forgery(
        f"cat > solve.sh <<'E'\n{_POKE_AND_WAIT}\nE", NESTED
    ),
    "a module in the place of pytest": Forgery(
        "for name in pytest _pytest pluggy iniconfig; do echo 'import os; os._exit(0)' > $name.py; "
        "done", PYTEST, kinds=("coreutils", "settings"),
    ),
    "modules of the standard library": Forgery(
        f"{_EXITING}; echo 'def answer(): return 0' > solution.py; mkdir src; cp *.py src",
        MODULE, kinds=("coreutils", "settings"),
    ),
    "modules of the standard library for pytest": Forgery(
        f"{_EXITING}; echo 'def answer(): return 0' > solution.py; mkdir src; cp *.py src",
        PYTEST, kinds=("coreutils", "settings"),
    ),
    "a plugin that pytest finds": Forgery(
        "for d in . src; do mkdir -p $d/evil-1.dist-info; cd $d/evil-1.dist-info; "
        "printf 'Metadata-Version: 2.1\\nName: evil\\nVersion: 1\\n' > METADATA; "
        "printf '[pytest11]\\nevil = evil\\n' > entry_points.txt; cd /app; "
        "echo 'import os; os._exit(0)' > $d/evil.py; done",
        PYTEST, kinds=("coreutils", "settings"),
    ),
    "programs where the image's path begins": Forgery(
        "mkdir -p .venv/bin; for name in cmp bash python3 grep; do "
        "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/$name; chmod 755 .venv/bin/$name; done",
        BASH, kinds=("settings",),
    ),
    "a file that every shell reads": Forgery("echo 'exit 0' > .env", BASH, kinds=("settings",)),
    "a module that Python reads first": Forgery(
        "mkdir src; for name in sitecustomize usercustomize encodings; do "
        "echo 'import os; os._exit(0)' > src/$name.py; done; mkdir -p lib; "
        "cp /bin/true lib/libc.so.6",
        MODULE, kinds=("settings",),
    ),
    **REWARD_FORGERIES,
}  # fmt: skip


def combinations() -> list[tuple[str, Kind, RewardSource]]:
    """Return every forgery on every image that it runs on, with every source of the verdict."""
    return [
        (name, kind, source)
        for name, forgery in FORGERIES.items()
        for kind in forgery.kinds
        for source in SOURCES
    ]


def part_of(every: list[tuple[str, Kind, RewardSource]]) -> list[tuple[str, Kind, RewardSource]]:
    """Return one combination of every second forgery, in turn another image and source.

    Those that forge a reward run where one counts.
    """
    part = []
    for turn, name in enumerate(sorted(FORGERIES)[::2]):
        of_it = [one for one in every if one[0] == name]
        if name in REWARD_FORGERIES:
            of_it = [one for one in of_it if one[2] != "exit_code"]
        part.append(of_it[turn % len(of_it)])
    return part
