"""A reward counts when the tests wrote it last; tests may run the agent's programs as others."""

import signal
from collections.abc import Callable
from dataclasses import replace

import pytest

from agon.runners.containers import first_process
from agon.runners.containers.run_specs import ContainerRun, RunSpec
from agon.runners.containers.runs import ContainerRunner
from runners.containers.course import Course, limits
from runners.containers.forgery import Kind
from sizes import size

REWARD = "/logs/verifier/reward.txt"
WRITER = f"echo 42; while :; do echo 1 > {REWARD}; kill -9 $PPID; done 2> /dev/null"
DROPS = {
    "su": "su nobody -s /bin/sh -c 'exec sh /app/solve.sh'",
    "setpriv": "setpriv --reuid=65534 --regid=65534 --clear-groups sh /app/solve.sh",
    "python": (
        "python3 -c 'import subprocess as s; "
        's.run(["sh", "/app/solve.sh"], user=65534, group=65534, extra_groups=[])\''
    ),
}
"""Commands with which tests run a program of the agent as another user."""
JUDGE = f"""\
{{drop}} > /tmp/printed & program=$!
until [ -s /tmp/printed ]; do sleep 0.1; done
cmp -s /tmp/printed /tests/expected && {{more}} && reward=1 || reward=0
echo $reward > {REWARD}; sleep 0.2
kill -9 $program 2> /dev/null; wait
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "drop"), [("busybox", "su"), ("coreutils", "setpriv"), ("coreutils", "python")]
)
def test_a_program_of_another_user_cannot_write_the_reward(
    courses: Callable[[Kind], Course], kind: Kind, drop: str
) -> None:
    """A program that runs while the tests write their reward can then change neither."""
    course = courses(kind)
    run = course.agent(f"cat > solve.sh <<'E'\n{WRITER}\nE")
    tests = JUDGE.format(drop=DROPS[drop], more="false")
    if drop == "python":  # kills its parent, which may not be the tests' shell
        tests = tests.replace("kill -9 $program", "kill -9 -1")
    patient = limits(timeout_s=100)
    verification = course.verify(run, tests, source="reward_file", bounds=patient)
    assert verification.outcome == "failed", verification.reason
    # What `kill -9 -1` orphans may end before agon reads the reward, which is void then.
    if verification.reward != 0.0:
        assert drop == "python"
        assert "did not wait for" in verification.reason
    solved = course.agent("echo 'echo 42' > solve.sh")
    tests = JUDGE.format(drop=DROPS[drop], more="wait $program")
    verification = course.verify(solved, tests, source="both", bounds=patient)
    assert (verification.outcome, verification.reason) == ("passed", "")


@pytest.mark.exhaustive
def test_tests_may_give_outputs_to_another_user(course: Course) -> None:
    """A program that writes in its own folder gets the folder from the tests."""
    run = course.agent("mkdir work; echo 'echo 42 > work/answer' > solve.sh")
    tests = (
        "chown -R nobody /app/work; su nobody -s /bin/sh -c 'sh /app/solve.sh'\n"
        f"cmp work/answer /tests/expected && echo 1 > {REWARD}"
    )
    verification = course.verify(run, tests, source="both")
    assert (verification.outcome, verification.reason) == ("passed", "")


DAEMON = "sh -c 'echo $$ > /tmp/id; exec sleep 60' & until [ -s /tmp/id ]; do sleep 0.1; done"


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["busybox", "coreutils", "bash"])
def test_a_server_that_ends_before_the_reward_is_allowed(
    courses: Callable[[Kind], Course], kind: Kind
) -> None:
    """A daemon, whose parent has ended, is ended by the tests; what is written then counts."""
    course = courses(kind)
    run = course.agent(f"cat > solve.sh <<'E'\n{DAEMON}\nE")
    tests = (
        f"echo 0 > {REWARD}\nsh /app/solve.sh\nread -r id < /tmp/id; kill $id\n"
        f"while [ -e /proc/$id ]; do sleep 0.1; done; sleep 0.3\necho 1 > {REWARD}"
    )
    verification = course.verify(run, tests, source="both")
    assert (verification.outcome, verification.reason) == ("passed", "")


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["busybox", "coreutils", "bash"])
def test_a_server_that_ends_after_the_reward_makes_it_void(
    courses: Callable[[Kind], Course], kind: Kind
) -> None:
    """It could have written the reward; the message says what the tests' author must do."""
    course = courses(kind)
    run = course.agent(f"cat > solve.sh <<'E'\n{DAEMON}\nE")
    tests = (
        f"sh /app/solve.sh\necho 1 > {REWARD}\nread -r id < /tmp/id; kill $id\n"
        "while [ -e /proc/$id ]; do sleep 0.1; done; sleep 0.3"
    )
    verification = course.verify(run, tests, source="both")
    assert (verification.outcome, verification.reward) == ("failed", 1.0)
    assert "wait, before the reward is written" in verification.reason


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["busybox", "coreutils", "bash"])
def test_commands_begin_without_ignored_signals(
    courses: Callable[[Kind], Course], kind: Kind
) -> None:
    """Shells let background commands ignore SIGINT; tests of interrupted programs need it."""
    run = courses(kind).agent("grep ^SigIgn: /proc/self/status")
    ignored = int(run.account.stdout.path.read_text().split()[1], 16)
    assert not ignored & 1 << (signal.SIGINT - 1)


@pytest.mark.exhaustive
def test_an_end_is_noticed_whenever_it_comes(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that killed all others may end just before the first process waits for its end."""
    waiting = "while [ $left -gt 0 ]; do "
    _replace(monkeypatch, waiting, f"{waiting}{_busy(30_000)}")
    tests = f"sh -c 'echo 1 > {REWARD}; kill -9 -1; exec sleep 0.05'; exit 0"
    verification = course.verify(
        course.agent(":"), tests, source="both", bounds=limits(timeout_s=3)
    )
    assert (verification.outcome, verification.reward) == ("failed", 1.0), verification.reason
    assert "exit code 137" in verification.reason


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["busybox", "coreutils", "bash"])
def test_ends_that_are_noticed_at_once_leave_no_second_reward(
    courses: Callable[[Kind], Course], kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note of one end is interrupted by the next one; what the tests write then counts."""
    noting = 'echo "$mark" >> $reward'
    _replace(monkeypatch, noting, f"{_busy(3_000)}{noting}")
    ends = "for s in 0.1 0.101 0.102 0.103 0.104 0.105 0.106 0.107; do (sleep $s &); done"
    tests = f"echo 0 > {REWARD}\n{ends}\nsleep 0.6\necho 1 > {REWARD}"
    course = courses(kind)
    verification = course.verify(course.agent(":"), tests, source="both")
    assert (verification.outcome, verification.reason) == ("passed", "")
    assert verification.reward == 1.0


MANY = f"""\
n=0; while [ $n -lt {size(1000, at_least=100)} ]; do
    ids="$ids $(sleep 0.00$((n % 9)) > /dev/null & echo $!)"; n=$((n+1))
done
n=0; while [ $n -lt {size(200_000)} ]; do kill -CHLD 1; n=$((n+1)); done
for id in $ids; do while kill -0 $id 2> /dev/null; do sleep 0.1; done; done; sleep 2
[ "$(sh /app/solve.sh)" = 42 ] && reward=1 || reward=0
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["busybox", "coreutils", "bash"])
def test_many_ends_and_many_signals_fail_no_right_solution(
    courses: Callable[[Kind], Course], kind: Kind
) -> None:
    """The first process does its work in a loop, so no signal can interrupt it again and again."""
    course = courses(kind)
    patient = limits(timeout_s=100)
    tests = f"{MANY}echo $reward > {REWARD}"
    run = course.agent("echo 'echo 42' > solve.sh")
    verification = course.verify(run, tests, source="both", bounds=patient)
    assert (verification.outcome, verification.reason) == ("passed", "")
    assert verification.account.attempts == 1


LAST = """\
count=0; while [ $count -lt 2 ]; do
    last=0 count=0
    for process in /proc/[0-9]*; do
        read -r name < $process/comm && [ "$name" = sleep ] || continue
        count=$((count + 1))
        [ ${process#/proc/} -lt $last ] || last=${process#/proc/}
    done
done 2> /dev/null
"""
"""Finds the process with which agon would kill tests that ignore the end of their time.

It is the later one of two; until it has become `sleep`, there is one."""

KILL_LAST = """\
kill -9 $last || exit 1
while kill -0 $last && ! grep -q 'State:.*[XZ]' /proc/$last/status; do :; done 2> /dev/null
"""
"""A killed process goes on until a processor is free for its end, which tests may not outrun."""


@pytest.mark.exhaustive
def test_an_end_of_a_process_of_agons_fails_the_second_time(course: Course) -> None:
    """Only a program inside ends it again and again: without a score it would hide its fail."""
    run = course.agent(":")
    tests = f"{LAST}{KILL_LAST}echo 1 > {REWARD}"
    verification = course.verify(run, tests, source="both")
    assert (verification.outcome, verification.account.attempts) == ("failed", 2)
    assert "a process ended those with which agon watches it, twice" in verification.reason
    by_code = course.verify(run, tests, source="exit_code")
    assert (by_code.outcome, by_code.account.attempts) == ("passed", 1)


@pytest.mark.exhaustive
def test_an_end_of_a_process_of_agons_that_does_not_come_again_counts_for_nothing(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may come from outside: the tests run again, in a fresh container."""
    once = ContainerRunner.once

    def doubtful_at_first(self: ContainerRunner, spec: RunSpec, *, number: int) -> ContainerRun:
        run = once(self, spec, number=number)
        assert run.report is not None
        return replace(run, report=replace(run.report, watched=number > 1))

    monkeypatch.setattr(ContainerRunner, "once", doubtful_at_first)
    run = course.agent(":")
    verification = course.verify(run, f"echo 1 > {REWARD}", source="both")
    assert (verification.outcome, verification.account.attempts) == ("passed", 2)


JUDGE_IN_PYTHON = """\
cat > /tmp/judge.py <<'END'
import json, os, subprocess
printed = subprocess.run(
    ["sh", "/app/solve.sh"], capture_output=True, text=True, timeout=5
).stdout
with open("/logs/verifier/reward.tmp", "w") as file:
    json.dump({"reward": float(printed == "42\\n")}, file)
os.replace("/logs/verifier/reward.tmp", "/logs/verifier/reward.json")
END
python3 /tmp/judge.py
exit 0
"""
OBSTACLES = {
    "output that is no text": "printf '\\377'",
    "no end": "exec sleep 30",
    "a full disk": "cat /dev/zero > /logs/full; echo no",
    "a full disk and a full page": f"printf %4095s >> {REWARD}; cat /dev/zero > /logs/full",
    "a folder at the temporary name": "mkdir /logs/verifier/reward.tmp; echo no",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_reward_before_an_error_of_the_tests_python_does_not_count(
    courses: Callable[[Kind], Course], obstacle: str
) -> None:
    """A program that the tests run writes a reward, and keeps them from writing theirs."""
    course = courses("coreutils")
    program = f"printf 1 > {REWARD}\n{OBSTACLES[obstacle]}"
    run = course.agent(f"cat > solve.sh <<'E'\n{program}\nE")
    verification = course.verify(run, JUDGE_IN_PYTHON, source="both")
    assert verification.outcome == "failed"
    assert "ended with an error" in verification.reason or verification.reward is None


@pytest.mark.exhaustive
def test_a_reward_of_tests_in_python_counts(courses: Callable[[Kind], Course]) -> None:
    """Also one that is written after an error, by the shell that runs them."""
    course = courses("coreutils")
    run = course.agent("echo 'echo 42' > solve.sh")
    ended = f'python3 -c \'open("{REWARD}", "w").write("0"); 1 / 0\''
    for tests in (JUDGE_IN_PYTHON, f"{ended} || echo 1 > {REWARD}"):
        verification = course.verify(run, tests, source="both")
        assert (verification.outcome, verification.reason) == ("passed", "")


def _busy(turns: int) -> str:
    """Return a loop of the shell, in front of another command."""
    return f"i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done; "


def _replace(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Replace a part of the first process."""
    assert old in first_process.FIRST_PROCESS
    changed = first_process.FIRST_PROCESS.replace(old, new)
    monkeypatch.setattr(first_process, "FIRST_PROCESS", changed)
