"""The contract of :class:`agon.app.containers.Containers`, with real containers."""

import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.containers import (
    AgentTimeout,
    Containers,
    Image,
    ImageSpec,
    Mount,
    Outputs,
    TaskTests,
)
from agon.errors import InvalidRule, NotFound, Unavailable
from agon.runners.containers import open_containers
from runners.containers.coreutils_image import import_coreutils_image
from runners.containers.course import QUICK, Course, limits
from runners.containers.forgery import Kind


def members(outputs: Outputs | None) -> dict[str, tarfile.TarInfo]:
    """Read an archive with a second implementation."""
    assert outputs is not None
    with tarfile.open(outputs.path, encoding="utf-8", errors="surrogateescape") as archive:
        return {member.name: member for member in archive}


def test_an_honest_agent_passes(course: Course) -> None:
    """The control for all forgeries."""
    result = course.both("echo 42 > answer", "cmp /app/answer /tests/expected")
    assert (result.outcome, result.reason) == ("passed", "")


@pytest.mark.exhaustive
def test_doing_nothing_fails_and_says_why(course: Course) -> None:
    """A task that passes without work measures nothing."""
    result = course.both(":", "cmp /app/answer /tests/expected")
    assert (result.outcome, result.reason) == ("failed", "the tests ended with exit code 2")


def test_the_verifier_has_what_the_agent_left_and_nothing_else(course: Course) -> None:
    """Deleted files stay deleted; processes, other folders and variables are not handed over."""
    run = course.agent(
        "rm provided; echo mine > new; echo no > /tmp/other; echo no > /root/other; sleep 60 &"
    )
    tests = "ls -A /app /tmp /root; ps | grep -c '[s]leep 60'; exit 0"
    verification = course.verify(run, tests)
    printed = verification.account.stdout.path.read_text().split()
    assert {"new", "tools", "linked", "0"} <= set(printed)
    assert not {"provided", "other"} & set(printed)


@pytest.mark.exhaustive
def test_declared_outputs_alone_are_taken_over(course: Course) -> None:
    """All else in the verifier is as the image has it."""
    result = course.both(
        "echo 42 > answer; mkdir out; echo x > out/x; rm provided",
        "cat /app/answer && ! test -e /app/out && cat /app/provided",
        outputs=("/app/answer",),
    )
    assert (result.outcome, result.printed()) == ("passed", "42\nprovided\n")
    assert set(members(result.run.outputs)) == {"app/answer"}


def test_a_declared_output_that_is_missing_is_named(course: Course) -> None:
    """The tests then see the image's own file, or none; the record says why."""
    run = course.agent(":", outputs=("/app/answer", "/app/provided"))
    assert run.outputs is not None
    assert [(one.name, one.reason) for one in run.outputs.left_out] == [
        ("/app/answer", "it is not there")
    ]


def test_tests_are_read_only_and_come_only_to_the_verifier(course: Course) -> None:
    """An agent that reads the tests, or tests that an agent's program edits, prove nothing."""
    run = course.agent("ls /tests /logs 2>&1; true")
    assert "expected" not in run.account.stdout.path.read_text()
    verification = course.verify(run, "echo 43 > /tests/expected; test $? -ne 0")
    assert verification.outcome == "passed"


def test_containers_have_the_flags_of_the_specification(course: Course) -> None:
    """They are recorded literally, so that a container can be started again by hand."""
    run = course.agent("true")
    assert {
        "--network=none", "--memory=128m", "--memory-swap=128m", "--pids-limit=48",
        "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only",
        f"--label=agon.run={course.run_name}", "--label=agon.trial=trial-0",
    } <= set(run.account.flags)  # fmt: skip
    assert not any("privileged" in flag.replace("no-new-privileges", "") or ".sock" in flag
                   for flag in run.account.flags)  # fmt: skip


def test_a_container_has_no_network_no_swap_and_few_capabilities(course: Course) -> None:
    """The flags have their effect on this machine."""
    run = course.agent(
        "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status; ls /sys/class/net; "
        "touch /etc/x /bin/x /x 2>&1 | grep -c 'Read-only'; head -c 200m /dev/zero | tail | wc -c"
    )
    printed = run.account.stdout.path.read_text().split()
    rights = f"{sum(1 << bit for bit in (0, 3, 4, 5, 6, 7, 10)):016x}"  # AGENT_CAPABILITIES
    assert printed[:6] == ["CapEff:", rights, "CapBnd:", rights, "NoNewPrivs:", "1"]
    assert printed[6:8] == ["lo", "3"]
    assert "memory" in run.account.limits_hit


def test_the_first_process_cannot_be_read_from_inside(course: Course) -> None:
    """It writes the result file; a process that could attach to it could forge a pass."""
    run = course.agent("cat /proc/1/environ /proc/1/mem /.agon/sh /proc/1/fd/* < /dev/null")
    errors = run.account.stderr.path.read_text().splitlines()
    assert len(errors) == 4
    assert all(line.endswith(("Permission denied", "No such file or directory")) for line in errors)
    assert run.account.stdout.total == 0


@pytest.mark.exhaustive
def test_proc_shows_no_process_that_decides(course: Course) -> None:
    """Neither the first process nor its clock is listed, nor readable by its number."""
    run = course.agent("cd /proc; echo [0-9]*; for p in 1 2 3 4 5; do ls $p; done")
    shown = run.account.stdout.path.read_text().split()
    assert "1" not in shown
    assert len([name for name in shown if name.isdigit()]) <= 2


@pytest.mark.exhaustive
def test_a_program_that_the_tests_run_cannot_attach_to_their_shell(course: Course) -> None:
    """The shell's exit code is the verdict."""
    run = course.agent("echo 'cat /proc/$PPID/environ /proc/$PPID/mem; kill -STOP 1' > solve.sh")
    verification = course.verify(run, "sh /app/solve.sh; exit 3")
    errors = verification.account.stderr.path.read_text()
    assert errors.count("Permission denied") + errors.count("No such file") >= 2
    assert (verification.outcome, verification.account.exit_code) == ("failed", 3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/usr/bin/env sh", "#!/bin/sh -e", "", "# text"])
def test_test_scripts_run_whatever_their_first_line(course: Course, first: str) -> None:
    """Without a first line that names an interpreter the shell runs them."""
    run = course.agent(":")
    assert run.outputs is not None
    trial = course.trial()
    (trial.folder / "test.sh").write_text(f"{first}\n[ $0 = /tests/test.sh ]; exit $?\n")
    verification = course.containers.verify(
        course.image, run.outputs, TaskTests(folder=trial.folder), trial=trial, limits=QUICK
    )
    assert verification.outcome == "passed"


@pytest.mark.exhaustive
def test_an_agent_with_a_nonzero_exit_code_has_finished(course: Course) -> None:
    """The tests decide, not the agent's exit code."""
    result = course.both("echo 42 > answer; exit 7", "cmp /app/answer /tests/expected")
    assert (result.run.outcome, result.run.account.exit_code) == ("finished", 7)
    assert result.outcome == "passed"


@pytest.mark.exhaustive
def test_time_is_up_in_both_parts(course: Course) -> None:
    """Both parts end at their limit, not at the outer one."""
    late = course.agent(
        "echo {} > /logs/agent/trajectory.json; sleep 60", bounds=limits(timeout_s=1)
    )
    assert (late.outcome, late.outputs, late.account.limits_hit) == ("timeout", None, ("time",))
    assert late.archive is not None
    with tarfile.open(late.archive) as left:
        assert "logs/agent/trajectory.json" in left.getnames()
    assert late.account.command_ms < 30_000
    verification = course.verify(course.agent(":"), "sleep 60", bounds=limits(timeout_s=1))
    assert verification.outcome == "timeout"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("tests", "source", "outcome", "reward"),
    [
        ("exit 0", "exit_code", "passed", None),
        ("exit 3", "exit_code", "failed", None),
        ("echo 0 > /logs/verifier/reward.txt", "exit_code", "passed", 0.0),
        ("echo 1 > /logs/verifier/reward.txt; exit 1", "reward_file", "passed", 1.0),
        ("echo 0.5 > /logs/verifier/reward.txt", "reward_file", "failed", 0.5),
        ("echo 0 > /logs/verifier/reward.txt", "reward_file", "failed", 0.0),
        ("exit 0", "reward_file", "failed", None),
        ("echo 1 > /logs/verifier/reward.txt", "both", "passed", 1.0),
        ("echo 1 > /logs/verifier/reward.txt; exit 1", "both", "failed", 1.0),
        ('echo "{\\"reward\\": 1}" > /logs/verifier/reward.json', "both", "passed", 1.0),
        ("ln -s /tests/expected /logs/verifier/reward.txt", "both", "failed", None),
        ("echo nan > /logs/verifier/reward.txt", "both", "failed", None),
    ],
)
def test_the_reward_counts_as_the_rule_says(
    course: Course, tests: str, source: str, outcome: str, reward: float | None
) -> None:
    """Rule ``reward_source``: exit code, reward file, or both."""
    verification = course.verify(course.agent(":"), tests, source=source)  # type: ignore[arg-type]  # parametrised
    assert (verification.outcome, verification.reward) == (outcome, reward)


@pytest.mark.exhaustive
def test_logs_are_stored_as_an_archive(course: Course) -> None:
    """Reports of tests are available, and names from inside never become files of the host."""
    verification = course.verify(course.agent(":"), "echo deep > /logs/verifier/report; exit 0")
    assert verification.logs is not None
    with tarfile.open(verification.logs) as archive:
        report = archive.extractfile("logs/verifier/report")
        assert report is not None
        assert report.read() == b"deep\n"


def test_output_is_stored_up_to_its_limit_and_counted(course: Course) -> None:
    """The reader of a log sees whether it is complete."""
    run = course.agent("head -c 100000 /dev/zero; echo short >&2")
    assert (run.account.stdout.stored, run.account.stdout.total) == (16 << 10, 100_000)
    assert run.account.stdout.path.stat().st_size == 16 << 10
    assert run.account.stderr.path.read_text() == "short\n"


@pytest.mark.exhaustive
def test_names_of_any_bytes_and_modes_pass_unchanged(course: Course) -> None:
    """An agent may name files as it likes; only containers unpack them."""
    run = course.agent(
        "f=$(printf 'new\\nline'); echo 1 > \"$f\"; g=$(printf '\\377\\376'); echo 2 > \"$g\"; "
        "mkdir -p -- ' -x'; echo 3 > ' -x/*'; chmod 000 provided; "
        f"echo 4 > {'n' * 150}; ln {'n' * 150} second; ln -s {'n' * 150} third"
    )
    tests = (
        "cd /app; f=$(printf 'new\\nline'); g=$(printf '\\377\\376'); cat \"$f\" \"$g\" ' -x/*' "
        "second third; ls -l second | cut -c1-16"
    )
    verification = course.verify(run, tests)
    printed = verification.account.stdout.path.read_text().split()
    assert printed[:5] == ["1", "2", "3", "4", "4"]


@pytest.mark.exhaustive
def test_what_is_shown_can_be_read_by_every_user_and_written_by_none(
    course: Course, tmp_path: Path
) -> None:
    """Root in a container may not read files that only another user may read."""
    solution = tmp_path / "solution"
    solution.mkdir(mode=0o700)
    (solution / "solve.sh").write_text("#!/bin/sh\necho 42 > /app/answer\n")
    (solution / "solve.sh").chmod(0o600)
    run = course.agent(
        "/solution/solve.sh; echo x >> /solution/solve.sh",
        mounts=(Mount(source=solution, target="/solution"),),
    )
    assert "app/answer" in members(run.outputs)
    assert run.account.exit_code != 0


def test_variables_reach_the_command_and_not_the_record(course: Course) -> None:
    """Every user of the machine can read command lines."""
    run = course.agent("echo $KEY", environment=(("KEY", "a secret = #1"),))
    assert run.account.stdout.path.read_text() == "a secret = #1\n"
    assert "secret" not in repr(run.account.flags)


@pytest.mark.parametrize("path", ["/", "/etc", "app", "/app/../etc", "/app/a b", "/logs", "/apple"])
def test_outputs_must_be_in_writable_folders(course: Course, path: str) -> None:
    """Anything else is an error of the task, reported before a container runs."""
    with pytest.raises(InvalidRule):
        course.agent("true", outputs=(path,))


@pytest.mark.parametrize("target", ["/tests", "/logs/x", "/app", "/app/x", "/.agon", "/etc/passwd"])
def test_mounts_must_not_hide_reserved_paths(course: Course, tmp_path: Path, target: str) -> None:
    """Neither the tests nor the image's own files."""
    with pytest.raises(InvalidRule):
        course.agent("true", mounts=(Mount(source=tmp_path, target=target),))


@pytest.mark.parametrize("command", [(), ("sh", "\0"), ("sh", "x" * (128 << 10))])
def test_commands_that_cannot_be_started_are_rejected(
    course: Course, command: tuple[str, ...]
) -> None:
    """Before a container runs, and with the remedy: show a file instead."""
    with pytest.raises(InvalidRule):
        course.containers.run_agent(course.image, command, trial=course.trial(), limits=QUICK)


@pytest.mark.parametrize("variable", [("1A", "x"), ("A B", "x"), ("A", "x\ny"), ("", "x")])
def test_variables_that_cannot_be_passed_are_rejected(
    course: Course, variable: tuple[str, str]
) -> None:
    """A value of several lines would be further variables."""
    with pytest.raises(InvalidRule):
        course.agent("true", environment=(variable,))


def test_tests_without_a_script_are_not_found(course: Course, tmp_path: Path) -> None:
    """The message names the file that the task lacks."""
    run = course.agent(":")
    assert run.outputs is not None
    tests = TaskTests(folder=tmp_path)
    with pytest.raises(NotFound, match=r"test\.sh"):
        course.containers.verify(
            course.image, run.outputs, tests, trial=course.trial(), limits=QUICK
        )


@pytest.mark.exhaustive
def test_records_say_which_engine_ran(course: Course) -> None:
    """A repetition needs the same name, version, runtime and cgroups."""
    engine = course.agent(":").account.engine
    assert engine.name in {"podman", "docker"}
    assert engine.version[0].isdigit()
    assert engine.runtime
    assert engine.cgroups in {"v1", "v2"}
    yama = Path("/proc/sys/kernel/yama/ptrace_scope")
    assert engine.ptrace_scope == (int(yama.read_text()) if yama.exists() else None)


@pytest.mark.exhaustive
def test_closed_containers_reject_further_trials(
    containers: Containers, image: Image, tmp_path: Path
) -> None:
    """They may be closed twice."""
    assert containers.engine.name
    with open_containers() as opened:
        course = Course(opened, image, tmp_path)
        course.agent("true")
    opened.close()
    with pytest.raises(Unavailable, match="closed"):
        course.agent("true")


def test_an_archive_is_the_same_for_two_readers(course: Course) -> None:
    """Python's reader must agree with this one, which is written by hand."""
    run = course.agent("echo 42 > answer; chmod 755 answer; ln answer again; ln -s answer link")
    entries = members(run.outputs)
    assert run.outputs is not None
    assert len(entries) == run.outputs.files
    assert (entries["app/answer"].mode, entries["app/answer"].uid) == (0o755, 0)
    assert {entries["app/answer"].type, entries["app/again"].type} == {
        tarfile.REGTYPE,
        tarfile.LNKTYPE,
    }
    assert entries["app/link"].linkname == "answer"
    with tarfile.open(fileobj=io.BytesIO(run.outputs.path.read_bytes())) as archive:
        answer = archive.extractfile("app/answer")
        assert answer is not None
        assert answer.read() == b"42\n"


@pytest.mark.exhaustive
def test_a_project_of_the_image_is_imported_from_where_the_agent_works(
    containers: Containers, courses: Callable[[Kind], Course], tmp_path: Path
) -> None:
    """A task may be about a project that is installed as well; the agent's change counts."""
    context = tmp_path / "environment"
    context.mkdir()
    (context / "Dockerfile").write_text(
        f"FROM {import_coreutils_image()}\nWORKDIR /app\n"
        "RUN mkdir iniconfig && echo 'VALUE = 1' > iniconfig/__init__.py\n"
    )
    course = replace(courses("coreutils"), image=containers.build(ImageSpec(context=context)))
    agent = "echo 'VALUE = 42' > iniconfig/__init__.py; echo 'def f(): return 42' > new.py"
    tests = "python3 -c 'import iniconfig, new, sys; sys.exit(iniconfig.VALUE != new.f())'"
    assert course.both(agent, tests).outcome == "passed"


@pytest.mark.exhaustive
def test_programs_of_an_agent_import_their_own_modules(courses: Callable[[Kind], Course]) -> None:
    """Only the tests prefer installed modules."""
    agent = "echo 'VALUE = 42' > pluggy.py; echo 'import pluggy; print(pluggy.VALUE)' > run.py"
    for call in ("/app/run.py", "-u run.py", "-W ignore /app/run.py"):
        result = courses("coreutils").both(agent, f'[ "$(python3 {call})" = 42 ]')
        assert (result.outcome, result.reason) == ("passed", "")


@pytest.mark.exhaustive
def test_tests_judge_an_agent_whose_time_was_up_where_the_run_says_so(course: Course) -> None:
    """The seed fails it; the rule of the reference judges what it left."""
    rules: tuple[tuple[AgentTimeout, bool], ...] = (("fail", False), ("verify", True))
    for rule, outputs in rules:
        trial = replace(course.trial(), agent_timeout=rule)
        run = course.containers.run_agent(
            course.image, ("sh", "-c", "echo 42 > /app/answer; sleep 60"), trial=trial,
            limits=limits(timeout_s=1),
        )  # fmt: skip
        assert (run.outcome, run.outputs is not None) == ("timeout", outputs)
