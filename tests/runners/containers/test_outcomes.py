"""The outcome of a container: caused by its command or internal, a pass or none."""

import io
from pathlib import Path
from typing import Any, get_args

import pytest

from agon.app.containers import Image, Limits, RewardSource, Stream
from agon.app.containers.pass_rule import PassRule
from agon.runners.containers.archives import END, ArchiveEntry, header, padding
from agon.runners.containers.client_process import ClientResult
from agon.runners.containers.first_process import ProcessReport, read_report
from agon.runners.containers.outcomes import (
    Diagnosis,
    diagnose,
    diagnose_again,
    verdict_of_tests,
)
from agon.runners.containers.rewards import Reward, read_reward
from agon.runners.containers.system_calls import Phase

LIMITS = Limits(timeout_s=10, output_kib=2)
UNREADABLE = (
    "the tests left no reward that can be read: reward.txt is one number, reward.json a table of "
    "numbers alone"
)
STARTED = {"StartedAt": "2026-01-01T00:00:00Z", "ExitCode": 0, "OOMKilled": False}


def ending(
    end: str = "itself", code: int = 0, complaint: bytes = b"", *, begun: bool = True
) -> ClientResult:
    """Return what the host observed."""
    stream = Stream(path=Path("log"), stored=0, total=0)
    return ClientResult(
        end=end, begun=begun, client_code=code, wall_s=1.0, stdout=stream, stderr=stream,  # type: ignore[arg-type]  # parametrised
        complaint=complaint,
    )  # fmt: skip


def report_of(seconds: float = 1.0, *, oom: int = 0, pids: int = 0) -> ProcessReport:
    """Return a report of the first process."""
    return ProcessReport(
        exit_code=0, seconds=seconds, left=0, out_of_memory=oom, out_of_processes=pids
    )


@pytest.mark.parametrize(
    ("seen", "account", "state", "outcome"),
    [
        (ending(), report_of(), None, "finished"),
        (ending(code=2), report_of(), None, "finished"),
        (ending(), report_of(9.99), None, "timeout"),
        (ending("time", 137), None, None, "timeout"),
        (ending("time", 137), report_of(), None, "timeout"),
        (ending("output", 137), None, None, "failed"),
        (ending("storage", 137), None, None, "failed"),
        (ending("storage", 137), report_of(), None, "failed"),
        (ending("start", 137, begun=False), None, None, "unscored"),
        (ending(code=-9), report_of(), None, "unscored"),
        (ending(code=125, complaint=b"Error: no space left\n"), None, None, "unscored"),
        (ending(code=127, begun=False), None, {"StartedAt": "0001-01-01T00:00:00Z"}, "unscored"),
        (ending(code=125), report_of(), STARTED, "unscored"),
        (ending(code=137), None, STARTED | {"ExitCode": 137}, "unscored"),
        (ending(code=137), None, STARTED | {"ExitCode": 137, "OOMKilled": True}, "failed"),
        (ending(code=1), None, STARTED | {"ExitCode": 1}, "failed"),
        (ending(code=137), report_of(), STARTED | {"ExitCode": 137}, "unscored"),
    ],
)
def test_every_end_has_one_meaning(
    seen: ClientResult, account: ProcessReport | None, state: dict[str, object] | None, outcome: str
) -> None:
    """An error of the engine never fails a trial; one of the command never leaves it unscored."""
    finding = diagnose(seen, account, state, LIMITS, phase="agent")
    assert finding.outcome == outcome
    assert bool(finding.reason) == (outcome != "finished")


@pytest.mark.parametrize(
    ("seconds", "reason"),
    [
        (10.3, "its 10 s were up"),
        (14.9, "its 10 s were up"),
        (15.0, "its 10 s were up (and 5 s later it was killed)"),
    ],
)
def test_a_reason_names_a_kill_only_where_the_command_outlived_its_termination(
    seconds: float, reason: str
) -> None:
    """A command that ends at TERM was not killed 5 s later."""
    assert diagnose(ending(), report_of(seconds), None, LIMITS, phase="verifier").reason == reason
    outside = diagnose(ending("time", 137), None, None, LIMITS, phase="verifier")
    assert outside.reason.endswith("it was killed)")


@pytest.mark.sample(12)
@pytest.mark.parametrize("phase", ["agent", "verifier"])
@pytest.mark.parametrize("code", [*range(128), 139])
def test_no_exit_code_unscores_an_agent_that_began(phase: Phase, code: int) -> None:
    """A process inside can choose it, so it proves nothing."""
    seen = ending(code=code, complaint=b"Error: no space left on device\n")
    state = STARTED | {"ExitCode": code}
    assert diagnose(seen, None, state, LIMITS, phase=phase).outcome == "failed"
    if code > 2:
        assert diagnose(seen, report_of(), state, LIMITS, phase=phase).outcome == "failed"


@pytest.mark.parametrize(
    ("complaint", "folder"),
    [
        (
            b"""tar: app/data/model.bin: Wrote only 512 of 10240 bytes
tar: app/data/x: Cannot write: No space left on device
tar: Exiting with failure status due to previous errors
""",
            "/app",
        ),
        (b"tar: root/.cache/y: Cannot mkdir: No space left on device\n", "/root"),
        (b"tar: can't open 'home/a/z': No space left on device\n", "/home/a"),
        (b"tar: write error: No space left on device\n", "/app or /root or /home or /home/a"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("phase", get_args(Phase))
def test_an_image_whose_files_do_not_fit_is_named_with_folder_and_limit(
    complaint: bytes, folder: str, phase: Phase
) -> None:
    """The last line of tar says neither; the author of a task has to know what to make smaller."""
    image = Image(
        reference="sha256:abc", content="c", user="", cached=True, seconds=0.0,
        writable=("/app", "/root", "/home", "/home/a"),
    )  # fmt: skip
    seen = ending(code=90, complaint=complaint, begun=False)
    state = STARTED | {"ExitCode": 90}
    for limits, limit in (
        (Limits(timeout_s=10, storage_mib=64, memory_mib=512), "64 MiB that the task's storage"),
        (Limits(timeout_s=10, storage_mib=512, memory_mib=64), "64 MiB that the task's memory"),
    ):
        diagnosis = diagnose(seen, None, state, limits, phase=phase, image=image)
        assert diagnosis.outcome == "unscored"
        assert f"image sha256:abc has more in {folder} than the {limit}" in diagnosis.reason
    other = ending(code=90, complaint=b"tar: short read\n", begun=False)
    reason = diagnose(other, None, state, LIMITS, phase=phase, image=image).reason
    assert reason.endswith("cannot be unpacked: tar: short read")


@pytest.mark.parametrize(
    ("state", "of_agent", "of_verifier"),
    [
        ({"ExitCode": 90}, "unscored", "unscored"),
        ({"ExitCode": 90, "OOMKilled": True}, "unscored", "unscored"),
        ({"ExitCode": 91}, "unscored", "failed"),
        ({"ExitCode": 92}, "unscored", "failed"),
        ({"ExitCode": 1}, "unscored", "failed"),
        ({"ExitCode": 137}, "unscored", "unscored"),
        ({"ExitCode": 137, "OOMKilled": True}, "unscored", "failed"),
    ],
)
def test_before_the_command_only_the_outputs_are_the_agents(
    state: dict[str, int], of_agent: str, of_verifier: str
) -> None:
    """An image whose files do not fit is the task's error; outputs that do not are the agent's."""
    seen = ending(code=state["ExitCode"], begun=False)
    outcomes = [
        diagnose(seen, None, STARTED | state, LIMITS, phase=phase).outcome
        for phase in get_args(Phase)
    ]
    assert outcomes == [of_agent, of_verifier]


@pytest.mark.parametrize(
    ("entries", "state", "outcome"),
    [(50_000, STARTED, "failed"), (10, STARTED, "unscored"), (50_000, None, "unscored")],
)
def test_outputs_that_never_unpack_are_the_agents(
    entries: int, state: dict[str, object] | None, outcome: str
) -> None:
    """Once it may be a busy host; few entries, or a container that never ran, are not slow."""
    seen = ending("start", 137, begun=False)
    slow = diagnose(seen, None, state, LIMITS, phase="verifier", unpacked=entries)
    assert slow.outcome == "unscored"
    assert diagnose_again(slow, slow).outcome == outcome
    lost = Diagnosis("unscored", "lost")
    assert diagnose_again(lost, slow).outcome == "unscored"


def test_the_engines_own_words_are_the_cause() -> None:
    """The administrator of the machine needs them."""
    seen = ending(code=125, complaint=b"x\nError: no space left\n", begun=False)
    finding = diagnose(seen, None, None, LIMITS, phase="agent")
    assert finding.reason == "the engine did not start the container: Error: no space left"


def test_a_command_that_is_killed_twice_fails() -> None:
    """Once may have any cause; a full memory must not leave a trial unscored."""
    killed = Diagnosis("unscored", "killed", killed=True)
    lost = Diagnosis("unscored", "lost")
    assert diagnose_again(killed, killed).outcome == "failed"
    assert diagnose_again(killed, lost) is lost
    assert diagnose_again(lost, killed) is killed
    done = Diagnosis("finished", "", 0)
    assert diagnose_again(killed, done) is done


def test_limits_that_were_reached_are_recorded_with_a_normal_end() -> None:
    """A process that was killed for memory does not end the agent."""
    finding = diagnose(ending(), report_of(oom=1, pids=3), None, LIMITS, phase="agent")
    assert (finding.outcome, finding.limits_hit) == ("finished", ("memory", "processes"))


def logs(**texts: bytes) -> io.BytesIO:
    """Write an archive of reward files."""
    parts = []
    for kind, text in texts.items():
        name = f"logs/verifier/reward.{kind}".encode()
        parts.append(header(ArchiveEntry(name=name, kind="file", size=len(text))) + text
                     + padding(len(text)))  # fmt: skip
    return io.BytesIO(b"".join(parts) + END)


@pytest.mark.parametrize(
    ("texts", "reward"),
    [
        ({}, None),
        ({"txt": b"1\n"}, 1.0),
        ({"txt": b" 0.25 "}, 0.25),
        ({"txt": b"-1"}, -1.0),
        ({"txt": b""}, None),
        ({"txt": b"yes"}, None),
        ({"txt": b"nan"}, None),
        ({"txt": b"inf"}, None),
        ({"txt": b"\xff"}, None),
        ({"txt": b"1" * 70_000}, None),
        ({"json": b"1"}, None),
        ({"json": b'{"reward": 1, "remark": "good"}'}, None),
        ({"json": b'{"reward": true}'}, 1.0),
        ({"json": b'{"reward": null}'}, None),
        ({"json": b'{"reward": 0.5, "other": 0}'}, 0.5),
        ({"json": b'{"a": 1, "b": 0}'}, 0.0),
        ({"json": b'{"a": "1"}'}, None),
        ({"json": b"{}"}, None),
        ({"json": b"true"}, None),
        ({"json": b"false"}, None),
        ({"json": b"[1]"}, None),
        ({"json": b"NaN"}, None),
        ({"json": b"1" + b"0" * 400}, None),
        ({"json": b'{"reward": -1' + b"0" * 400 + b"}"}, None),
        ({"json": b"[" * 60_000}, None),
        ({"txt": b"1", "json": b'{"reward": 0}'}, 0.0),
        ({"txt": b"1", "json": b'{"a": 1, "b": 0}'}, 0.0),
        ({"txt": b"0", "json": b'{"a": 1}'}, 0.0),
        ({"txt": b"1", "json": b"broken"}, None),
    ],
)
def test_a_reward_is_one_finite_number_or_none(
    texts: dict[str, bytes], reward: float | None
) -> None:
    """What cannot be read is no reward; of two the smaller one counts."""
    assert PassRule().choose(read_reward(logs(**texts), {}).values)[1] == reward


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"begun 1.00\n",
        b"ended 2.00 code 0 left 0 oom 0 pids 0 intact 1 watched 1\n",
        b"begun 1.00\nended 2.00 code x left 0 oom 0 pids 0 intact 1 watched 1\n",
        b"\0" * 100,
        b"begun 1.00\nended 2.00 code 0 left 0 oom 0",
    ],
)
def test_a_result_file_of_another_form_is_no_report(text: bytes) -> None:
    """Only the two lines of the first process are a report."""
    assert read_report(io.BytesIO(text)) is None


def test_a_report_ends_where_the_archive_begins() -> None:
    """Seconds are those between the two lines."""
    file = io.BytesIO(
        b"begun 1.50\nended 2.75 code 3 left 1 oom 2 pids 4 intact 0 watched 0\n0/\n\nrest"
    )
    assert read_report(file) == ProcessReport(
        exit_code=3,
        seconds=1.25,
        left=1,
        out_of_memory=2,
        out_of_processes=4,
        intact=False,
        watched=False,
        rewards=(b"0/", b""),
    )
    assert file.read() == b"rest"


@pytest.mark.parametrize(
    ("text", "rule", "why"),
    [
        (b'{"reward": 0.05}', {}, "the reward is 0.05; 1 or more passes (pass_threshold)"),
        (b'{"reward": 0.05}', {"threshold": 0}, ""),
        (b'{"reward": true}', {}, ""),
        (b'{"reward": false}', {}, "the reward is 0"),
        (b'{"correctness": 1.0, "style": 0.0}', {}, "the reward style is 0"),
        (b'{"correctness": 1.0, "style": 0.0}', {"key": "correctness"}, ""),
        (b'{"correctness": 1.0}', {"key": "speed"}, "the tests left no reward speed"),
        (b'{"reward": 0.5, "speed": 2}', {"threshold": 0.5}, ""),
        (b'{"reward": 1, "note": "fast"}', {}, UNREADABLE),
        (b"1", {}, UNREADABLE),
        (b'{"reward": -1}', {"threshold": 0}, "the reward is -1"),
        (b'{"a\\u001b[1m": 0}', {}, "the reward 'a\\x1b[1m' is 0"),
        (b'{"a": "x"}', {}, UNREADABLE),
        (b"NaN", {}, UNREADABLE),
    ],
)
def test_rewards_pass_by_the_rule_and_a_failure_names_the_key(
    text: bytes, rule: dict[str, Any], why: str
) -> None:
    """All keys are kept; a part of a reward is no pass unless the task says so."""
    entry = ArchiveEntry(name=b"logs/verifier/reward.json", kind="file", size=len(text))
    logs = io.BytesIO(header(entry) + text + padding(len(text)) + END)
    reward = read_reward(logs, {})
    verdict = verdict_of_tests(
        Diagnosis("finished", exit_code=0), report_of(), reward, PassRule(source="both", **rule)
    )
    assert verdict == (("failed", why) if why else ("passed", ""))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"1", ""),
        (b"0", "the reward is 0; reward.json says 1 and reward.txt less, and the smaller counts"),
    ],
)
def test_a_reason_says_that_the_smaller_of_two_files_counts(text: bytes, why: str) -> None:
    """The format reads reward.json alone, which a program of the agent may have written."""
    logs = io.BytesIO()
    for name, content in ((b"reward.json", b'{"reward": 1}'), (b"reward.txt", text)):
        entry = ArchiveEntry(name=b"logs/verifier/" + name, kind="file", size=len(content))
        logs.write(header(entry) + content + padding(len(content)))
    logs.write(END)
    logs.seek(0)
    verdict = verdict_of_tests(
        Diagnosis("finished", exit_code=0),
        report_of(),
        read_reward(logs, {}),
        PassRule(source="both"),
    )
    assert verdict == (("failed", why) if why else ("passed", ""))


@pytest.mark.parametrize(
    ("source", "exit_code", "value", "outcome", "reason"),
    [
        ("exit_code", 0, 0.0, "passed", "the tests ended with exit code 0, although the reward is 0"),  # noqa: E501
        ("exit_code", 1, 1.0, "failed", "the tests ended with exit code 1, although the reward passes"),  # noqa: E501
        ("reward_file", 1, 1.0, "passed", "the reward passes, although the tests ended with exit code 1"),  # noqa: E501
        ("both", 1, 1.0, "failed", "the tests ended with exit code 1, although the reward passes"),
        ("both", 1, 0.0, "failed", ""),
        ("both", 0, 1.0, "passed", ""),
    ],
)  # fmt: skip
def test_a_reason_says_what_counts_where_exit_code_and_reward_disagree(
    source: RewardSource, exit_code: int, value: float, outcome: str, reason: str
) -> None:
    """A reader of the record else wonders at a pass with reward 0."""
    report = ProcessReport(
        exit_code=exit_code, seconds=1.0, left=0, out_of_memory=0, out_of_processes=0
    )
    ended = Diagnosis("finished", exit_code=exit_code)
    reward, rule = Reward({"reward": value}), PassRule(source=source)
    got, said = verdict_of_tests(ended, report, reward, rule)
    assert got == outcome
    if reason:
        assert said == f"{reason}; what counts is reward_source = {source}"
    else:
        assert "although" not in said
