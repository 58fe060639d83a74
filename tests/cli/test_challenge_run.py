"""``agon challenge run``, ``check`` and ``clean`` with real containers.

Nothing here is skipped: where no engine works, these tests fail.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agon.app.examples import example_tasks
from app.tasks.folders import TOML, harbor, terminal_bench, write
from app.tasks.loopback import serving
from cli.command import Cli
from sizes import ALL

HELLO = "echo hello > /app/hello.txt"
TIMEOUT_S = 100.0
TRIALS = 2 if ALL else 1


def result_of(out: Path, trial: str) -> dict[str, Any]:
    """Return a trial's result."""
    summary: dict[str, Any] = json.loads((out / trial / "result.json").read_text())
    return summary


def containers_of(out: Path) -> list[str]:
    """List the containers of a run, running or not."""
    run = json.loads((out / "run.json").read_text())["run"]
    process = subprocess.run(
        ["podman", "ps", "-a", "-q", f"--filter=label=agon.run={run}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return process.stdout.split()


def wait_for(what: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + TIMEOUT_S
    while not what():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.2)  # conditions ask the engine


def begun(*arguments: object) -> "subprocess.Popen[bytes]":
    """Start a command in the background."""
    return subprocess.Popen(
        [sys.executable, "-m", "agon", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.exhaustive
def test_every_example_task_is_accepted(agon: Cli) -> None:
    """The oracle passes, doing nothing fails and the cheat fails; no forged program passes."""
    folders = sorted(path for path in Path(example_tasks()).iterdir() if path.is_dir())
    assert len(folders) >= 8
    folders = folders[:: 1 if ALL else 4]
    quick = () if ALL else ("--no-probes",)
    ended = agon("challenge", "check", *folders, *quick, "--format", "json")
    summary = ended.json()
    rejected = [task for task in summary["tasks"] if not task["accepted"]]
    assert (rejected, ended.code) == ([], 0)
    assert summary["accepted"] == summary["total"] == len(folders)
    assert all("cheat" in task for task in summary["tasks"])
    assert not any(found["observed"] for task in summary["tasks"] for found in task["weaknesses"])


@pytest.mark.exhaustive
def test_an_unacceptable_task_is_reported_with_the_reason(agon: Cli, tmp_path: Path) -> None:
    """Wrong solutions, tests that always pass and working cheats have exit code 1."""
    harbor(tmp_path / "forged", cheat=f"#!/bin/sh\n{HELLO}\n")
    harbor(tmp_path / "open", test="#!/bin/sh\nexit 0\n")
    harbor(tmp_path / "unsolved", solve="#!/bin/sh\necho bye > /app/hello.txt\n")
    ended = agon("challenge", "check", tmp_path, "--format", "json")
    assert ended.code == 1
    held = {
        task["task"]: [part for part in ("oracle", "nothing", "cheat") if task[part]["holds"]]
        for task in ended.json()["tasks"]
    }
    assert held == {
        "forged": ["oracle", "nothing"],
        "open": ["oracle"],
        "unsolved": ["nothing", "cheat"],
    }


@pytest.mark.exhaustive
def test_check_tries_forged_programs_and_what_it_advises(agon: Cli, tmp_path: Path) -> None:
    """A stock test.sh always ends with 0, so the exit code is no remedy for a forged reward."""
    test = (
        '#!/bin/sh\n[ "$(sh /app/answer.sh)" = 42 ]\nif [ $? -eq 0 ]; then\n'
        "  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n"
    )
    solve = "#!/bin/sh\necho echo 42 > /app/answer.sh\n"
    harbor(tmp_path / "stock", test=test, solve=solve, leave_out="tests/cheat.sh")
    ended = agon("challenge", "check", tmp_path, "--format", "json")
    (task,) = ended.json()["tasks"]
    assert (ended.code, task["reward_source"], task["programs"]) == (0, "both", ["/app/answer.sh"])
    results = {name: probe["result"] for name, probe in task["probes"].items()}
    assert results == dict.fromkeys(results, "failed") | {"loop": None}
    (run,) = task["runs"]
    assert run == {"program": "/app/answer.sh", "other_user": False, "writable": []}
    (weakness,) = task["weaknesses"]
    assert (weakness["class"], weakness["files"]) == ("forged-reward", ["tests/test.sh"])
    assert weakness["observed"] is False
    assert weakness["no_remedies"] == [
        {"text": "reward_source exit_code", "tried": "doing nothing passes"}
    ]
    assert "stock: probe-byte-both failed" in ended.err
    other = agon("challenge", "check", tmp_path, "--reward-source", "exit_code", "--no-probes")
    assert other.code == 1
    reason = "nothing: the tests ended with exit code 0, although the reward is 0"
    assert f"stock exit_code no passed passed {reason}" in " ".join(other.out.split())


def test_a_run_prints_the_documented_summary(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent is a command; its /app is verified in another container; paths may be relative."""
    harbor(tmp_path / "tasks/hello")
    harbor(tmp_path / "tasks/other", test="#!/bin/sh\ntest -e /app/other\n")
    monkeypatch.chdir(tmp_path)
    ended = agon("challenge", "run", "tasks", "--agent", HELLO, "--out", "out", "--jobs", "2",
                 "--trials", TRIALS, "--format", "json")  # fmt: skip
    assert ended.code == 0
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert ended.json() == summary
    assert {key: summary[key] for key in ("pass_rate", "passed", "total", "unscored")} == {
        "pass_rate": 0.5, "passed": TRIALS, "total": 2 * TRIALS, "unscored": 0,
    }  # fmt: skip
    assert summary["tasks"]["hello"]["passed"] == TRIALS
    assert summary["tasks"]["other"]["reason"] == "the tests ended with exit code 1"
    result = result_of(tmp_path / "out", "other__1")
    assert (result["result"], result["score"], result["exit_code"]) == ("failed", 0.0, 1)
    assert (tmp_path / "out/other__1" / result["parts"]["agent"]["stdout"]["file"]).is_file()
    assert f"[{2 * TRIALS}/{2 * TRIALS}]" in ended.err
    assert containers_of(tmp_path / "out") == []


@pytest.mark.exhaustive
def test_the_agent_gets_task_and_instruction_unchanged(agon: Cli, tmp_path: Path) -> None:
    """They are passed as arguments, as a file, and to the agent's own program."""
    words = 'It\'s "quoted"; $(touch /app/forged) `id`\nsecond line\n'
    test = (
        "#!/bin/sh\nset -e\n[ ! -e /app/forged ]\n"
        "for name in given quoted file own; do cmp /tests/said /app/$name; done\n"
        '[ "$(cat /app/task)" = hello ]\n'
    )
    write(harbor(tmp_path / "hello", instruction=words, test=test), {"tests/said": words})
    write(tmp_path / "agent", {"run": 'printf %s "$1" > /app/own\n'})
    command = (
        'printf %s {instruction} > given; printf %s "{instruction}" > quoted; '
        'cat /instruction.md > file; printf %s "$AGON_TASK" > task; '
        "sh /agent/run {instruction}"
    )
    ended = agon("challenge", "run", tmp_path / "hello", "--agent", command, "--agent-files",
                 tmp_path / "agent", "--out", tmp_path / "out")  # fmt: skip
    assert "pass rate 1.000 (1 of 1)" in ended.out
    assert result_of(tmp_path / "out", "hello__1")["result"] == "passed"


@pytest.mark.exhaustive
def test_a_reward_of_zero_fails_though_the_tests_exit_with_zero(agon: Cli, tmp_path: Path) -> None:
    """Harbor's templates do that; exit_code alone would pass them."""
    test = "#!/bin/sh\necho 0 > /logs/verifier/reward.txt\nexit 0\n"
    harbor(tmp_path / "hello", test=test)
    forge = "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt"
    run = ("challenge", "run", tmp_path / "hello", "--agent", forge)
    assert agon(*run, "--out", tmp_path / "both").code == 0
    both = result_of(tmp_path / "both", "hello__1")
    assert (both["result"], both["reward_source"], both["reward"]) == ("failed", "both", 0.0)
    agon(*run, "--out", tmp_path / "code", "--reward-source", "exit_code")
    assert result_of(tmp_path / "code", "hello__1")["result"] == "passed"


@pytest.mark.exhaustive
def test_a_timeout_scores_zero(agon: Cli, tmp_path: Path) -> None:
    """Both the agent's timeout, even if solved, and the tests' (document 001, Test Execution)."""
    short = TOML.replace("timeout_sec = 30", "timeout_sec = 1")
    harbor(tmp_path / "tasks/agent", toml=short)
    harbor(tmp_path / "tasks/tests", test="#!/bin/sh\nsleep 60\n",
           toml=TOML.replace("timeout_sec = 20", "timeout_sec = 1"))  # fmt: skip
    agent = f"{HELLO}; [ {{task}} = tests ] || sleep 60"
    ended = agon("challenge", "run", tmp_path / "tasks", "--agent", agent, "--out", tmp_path / "o",
                 "--format", "json", "--jobs", "2")  # fmt: skip
    assert (ended.code, ended.json()["passed"], ended.json()["total"]) == (0, 0, 2)
    for name in ("agent", "tests"):
        result = result_of(tmp_path / "o", f"{name}__1")
        assert (result["result"], result["score"], result["limits_hit"]) == (
            "timeout", 0.0, ["time"],
        )  # fmt: skip


@pytest.mark.exhaustive
def test_a_task_of_terminal_bench_1_runs(agon: Cli, tmp_path: Path) -> None:
    """It uses ``run-tests.sh`` with ``TEST_DIR``; its solution is not in the image."""
    terminal_bench(tmp_path / "old")
    write(tmp_path / "old", {"Dockerfile": "FROM localhost/agon-base:1\nCOPY . /task\n"})
    run = ("challenge", "run", tmp_path / "old")
    agon(*run, "--agent", "oracle", "--out", tmp_path / "oracle")
    agon(*run, "--agent", "sh /task/solution.sh", "--out", tmp_path / "thief")
    assert result_of(tmp_path / "oracle", "old__1")["result"] == "passed"
    assert result_of(tmp_path / "thief", "old__1")["result"] == "failed"


@pytest.mark.exhaustive
def test_the_reference_agent_solves_a_task_with_a_model(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It queries the model outside the container and acts inside; the transcript omits the key."""
    harbor(tmp_path / "hello")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    looks = "```sh\nls; id -u\n```"
    with serving(looks, f"```sh\n{HELLO}\n```", "DONE") as endpoint:
        ended = agon("challenge", "run", tmp_path / "hello", "--agent", "openai", "--model", "m",
                     "--endpoint", endpoint.url, "--price", "2", "10",
                     "--out", tmp_path / "out")  # fmt: skip
    assert ended.code == 0
    result = result_of(tmp_path / "out", "hello__1")
    assert result["result"] == "passed"
    assert result["usage"] == {
        "steps": 2, "input_tokens": 30, "output_tokens": 9, "cost_usd": pytest.approx(0.00015),
        "cached_tokens": 0, "source": "endpoint",
    }  # fmt: skip
    transcript = (tmp_path / "out/hello__1" / result["parts"]["agent"]["transcript"]).read_text()
    assert "exit code 0\\nstdout:\\n0\\n" in transcript
    for path in (tmp_path / "out").rglob("*"):
        assert not path.is_file() or b"secret-key" not in path.read_bytes()


INSTALLED = """\
name = "writer"
variables = ["AGON_MODEL", "WORD"]
setup = '''
set -e
mkdir -p "$HOME/bin"
cp /agent/writer.sh "$HOME/bin/writer"
echo installed
'''
command = 'sh "$HOME/bin/writer" "$AGON_INSTRUCTION"'
"""
WRITER = """\
test "$1" = "$(cat /instruction.md)" || exit 3
echo "$WORD" > /app/hello.txt
cat > /logs/agent/trajectory.json <<END
{"schema_version": "ATIF-v1.6", "agent": {"name": "writer", "version": "1", "model_name": "m"},
 "steps": [{"step_id": 1, "source": "agent", "message": "by $AGON_MODEL",
            "metrics": {"prompt_tokens": 1000, "completion_tokens": 10}}]}
END
"""


@pytest.mark.exhaustive
def test_a_defined_agent_is_installed_and_says_what_it_used(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set-up, command and trajectory in a real container; a limit ends the run with exit code 5."""
    for name in ("a", "b"):
        harbor(tmp_path / "tasks" / name, instruction="Write hello.")
    write(tmp_path, {"writer.toml": INSTALLED, "files/writer.sh": WRITER})
    monkeypatch.setenv("WORD", "hello")
    run = ("challenge", "run", tmp_path / "tasks", "--agent", tmp_path / "writer.toml",
           "--agent-files", tmp_path / "files", "--out", tmp_path / "out", "--jobs", "1",
           "--price", "1", "100", "--max-cost", "0.001")  # fmt: skip
    missing = agon(*run)
    assert (missing.code, "add --model and --agent-env WORD" in missing.err) == (2, True)
    ended = agon(*run, "--model", "m", "--agent-env", "WORD")
    assert ended.code == 5
    assert "0.0020 USD are spent, of 0.0010; 1 of 2 trials are finished" in ended.err
    result = result_of(tmp_path / "out", "a__1")
    assert (result["result"], result["usage"]["input_tokens"]) == ("passed", 1000)
    assert result["parts"]["agent"]["logs"] == ["setup.log", "agent.log"]
    assert (tmp_path / "out/a__1/setup.log").read_text() == "installed\n"
    assert (tmp_path / "out/a__1/trajectory.json").is_file()


def test_an_unreachable_endpoint_ends_the_command(agon: Cli, tmp_path: Path) -> None:
    """It ends before a trial with exit code 5, and no trial is scored as 0."""
    harbor(tmp_path / "hello")
    run = ("challenge", "run", tmp_path / "hello", "--agent", "openai", "--model", "m",
           "--out", tmp_path / "out")  # fmt: skip
    with serving((401, b"bad key", {})) as endpoint:
        denied = agon(*run, "--endpoint", endpoint.url)
    result = agon(*run, "--endpoint", endpoint.url)
    assert (denied.code, result.code) == (5, 5)
    assert "bad key" in denied.err
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
def test_a_model_that_declines_a_task_fails_it(agon: Cli, tmp_path: Path) -> None:
    """Otherwise the model could choose the tasks that count."""
    harbor(tmp_path / "tasks/a")
    harbor(tmp_path / "tasks/b")
    solved = (f"```sh\n{HELLO}\n```", "DONE")
    with serving(*solved, (400, b"context too long", {})) as endpoint:
        ended = agon("challenge", "run", tmp_path / "tasks", "--agent", "openai", "--model", "m",
                     "--endpoint", endpoint.url, "--jobs", "1", "--out", tmp_path / "out",
                     "--format", "json")  # fmt: skip
    summary = ended.json()
    assert (summary["passed"], summary["total"], summary["unscored"]) == (1, 2, 0)
    assert "context too long" in summary["tasks"]["b"]["reason"]


@pytest.mark.exhaustive
def test_every_rate_is_shown_with_its_unscored_trials(agon: Cli, tmp_path: Path) -> None:
    """A pass rate of 1 over one of three trials must not look like one over all three."""
    harbor(tmp_path / "tasks/a")
    harbor(tmp_path / "tasks/b", dockerfile="FROM localhost/agon-base:1\nRUN false\n")
    ended = agon("challenge", "run", tmp_path / "tasks", "--agent", "oracle", "--trials", "2",
                 "--out", tmp_path / "out")  # fmt: skip
    printed = " ".join(ended.out.split())
    unscored = "2 of 4 trials unscored"
    assert f"pass rate 1.000 (2 of 2), {unscored}, with them 0.500 to 1.000, 95 %" in printed
    assert f"pass@2 1.000 · {unscored}" in printed
    assert "0/0 (2 unscored)" in ended.out
    assert "warning: 2 of 4 trials unscored; the same command tries them again" in ended.err
    imported = agon("import", "challenge-runs", tmp_path / "out", "--out", tmp_path / "records")
    assert "2 of 4 trials without a score are left out" in imported.err


SLOW = f"#!/bin/sh\nsleep 5\n{HELLO}\n"


SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


@pytest.mark.exhaustive
@pytest.mark.sample(1)
@pytest.mark.parametrize("sign", SIGNALS if ALL else SIGNALS[:2])
def test_an_interrupted_run_leaves_no_containers_and_can_be_resumed(
    agon: Cli, tmp_path: Path, sign: signal.Signals
) -> None:
    """Finished trials are preserved, others are repeated, and each counts once."""
    harbor(tmp_path / "tasks/a-quick")
    harbor(tmp_path / "tasks/b-slow", solve=SLOW)
    out = tmp_path / "out"
    arguments = ("challenge", "run", tmp_path / "tasks", "--agent", "oracle", "--out", out,
                 "--trials", "2", "--jobs", "2")  # fmt: skip
    with begun(*arguments) as process:
        wait_for((out / "a-quick__1/result.json").exists)
        wait_for(lambda: (out / "b-slow__1/agent").is_dir() and bool(containers_of(out)))
        os.kill(process.pid, sign)
        process.wait(timeout=TIMEOUT_S)
    wait_for(lambda: containers_of(out) == [])
    assert not (out / "b-slow__1/result.json").exists()
    assert not (out / "summary.json").exists()
    result_bytes = (out / "a-quick__1/result.json").read_bytes()
    ended = agon(*arguments, "--format", "json")
    assert ended.code == 0
    assert (ended.json()["passed"], ended.json()["total"], ended.json()["unscored"]) == (4, 4, 0)
    assert (out / "a-quick__1/result.json").read_bytes() == result_bytes
    assert containers_of(out) == []


@pytest.mark.exhaustive
def test_a_repeatedly_killed_run_counts_each_trial_once(agon: Cli, tmp_path: Path) -> None:
    """This holds in every phase: starting, running, verifying and writing results."""
    names, trials = (("a", "b", "c"), 3) if ALL else (("a", "b"), 2)
    total = len(names) * trials
    for name in names:
        harbor(tmp_path / "tasks" / name)
    out = tmp_path / "out"
    arguments = ("challenge", "run", tmp_path / "tasks", "--agent", "oracle", "--out", out,
                 "--trials", trials, "--jobs", "2")  # fmt: skip
    written: dict[Path, bytes] = {}
    for seconds in (0.4, 1.1, 1.3, 1.7, 2.0) if ALL else (1.1, 1.7):
        with begun(*arguments) as process:
            time.sleep(seconds)
            process.kill()
        assert {path: path.read_bytes() for path in written} == written
        written = {path: path.read_bytes() for path in out.glob("*/result.json")}
    ended = agon(*arguments, "--format", "json")
    assert (ended.code, ended.json()["passed"], ended.json()["total"]) == (0, total, total)
    assert {path: path.read_bytes() for path in written} == written
    assert len(list(out.glob("*/result.json"))) == total
    wait_for(lambda: containers_of(out) == [])


@pytest.mark.exhaustive
def test_a_second_run_in_the_same_folder_is_rejected(agon: Cli, tmp_path: Path) -> None:
    """Its exit code is 4 until the first run has ended."""
    harbor(tmp_path / "slow", solve=SLOW)
    arguments = (
        "challenge",
        "run",
        tmp_path / "slow",
        "--agent",
        "oracle",
        "--out",
        tmp_path / "o",
    )
    with begun(*arguments) as process:
        wait_for((tmp_path / "o/slow__1").is_dir)
        ended = agon(*arguments)
        assert (ended.code, process.wait(timeout=TIMEOUT_S)) == (4, 0)
    assert "another agon process is running" in ended.err


@pytest.mark.exhaustive
def test_runs_of_three_validators_are_scored(agon: Cli, tmp_path: Path) -> None:
    """The commands alone lead from task folders to the network's board."""
    harbor(tmp_path / "tasks/hello")
    harbor(tmp_path / "tasks/never", test="#!/bin/sh\nexit 1\n")
    for validator in ("v1", "v2", "v3"):
        ran = agon("challenge", "run", tmp_path / "tasks", "--agent", HELLO, "--out",
                   tmp_path / "runs" / validator, "--validator", validator,
                   "--submission", "mine", "--miner-uid", 7)  # fmt: skip
        assert ran.code == 0
    imported = agon("import", "challenge-runs", tmp_path / "runs", "--out", tmp_path / "records")
    assert imported.code == 0
    scored = agon("score", "challenge", tmp_path / "records", "--board", "submissions",
                  "--format", "json")  # fmt: skip
    (row,) = scored.json()["rows"]
    assert (row["id"], row["score"], row["miner_uid"]) == ("mine", 0.5, 7)


@pytest.mark.exhaustive
def test_clean_removes_the_containers_of_a_crashed_run(agon: Cli, tmp_path: Path) -> None:
    """It removes those of one run and no other containers."""
    harbor(tmp_path / "hello")
    agon("challenge", "run", tmp_path / "hello", "--agent", HELLO, "--out", tmp_path / "out")
    run = json.loads((tmp_path / "out/run.json").read_text())["run"]
    subprocess.run(
        ["podman", "create", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
         f"--label=agon.run={run}", "localhost/agon-base:1", "sleep", "60"],
        check=True, capture_output=True,
    )  # fmt: skip
    ended = agon("challenge", "clean", tmp_path / "out")
    assert (ended.code, ended.out) == (0, "removed 1 containers and 0 images\n")
    assert containers_of(tmp_path / "out") == []


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("run", "{here}/empty", "--agent", "nop"), 2, "there is no task to run"),
        (("run", "{here}/nowhere", "--agent", "nop"), 3, "nowhere"),
        (("run", "{here}/broken", "--agent", "nop"), 2, "0.1 to 86400"),
        (("run", "--agent", "nop"), 2, "Missing argument 'TASKS...'"),
        (("run", "{here}/good"), 2, "Missing option '--agent'"),
        (("run", "{here}/good", "--agent", " "), 2, "empty command"),
        (("run", "{here}/good", "--agent", "x {{instuction}}"), 2, "write {{instruction}}"),
        (("run", "{here}/good", "--agent", "openai"), 2, "needs --model and --endpoint"),
        (("run", "{here}/good", "--agent", "nop", "--trials", "0"), 2, "--trials"),
        (("run", "{here}/good", "--agent", "nop", "--jobs", "0"), 2, "--jobs"),
        (
            ("run", "{here}/good", "--agent", "nop", "--out", "{here}/good"),
            4,
            "does not contain a run",
        ),
        (("run", "{here}/good", "--agent", "nop", "--engine", "dokcer"), 5, "did you mean docker"),
        (("run", "{here}/good", "--agent", "nop", "--engine", "/no/podman"), 5, "podman and runc"),
        (("check", "{here}/empty"), 2, "there is no task"),
        (("check", "{here}/broken"), 2, "instruction.md: is missing"),
        (("clean", "{here}/good"), 2, "run.json"),
    ],
)
def test_every_error_has_its_exit_code_and_a_remedy(
    agon: Cli, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """Errors are found before a container starts, and printed without a traceback."""
    (tmp_path / "empty").mkdir()
    harbor(tmp_path / "good")
    harbor(tmp_path / "broken", toml="[agent]\ntimeout_sec = 0\n", leave_out="instruction.md")
    ended = agon("challenge", *(task.format(here=tmp_path) for task in arguments))
    assert (ended.code, ended.out) == (code, "")
    assert message.format() in ended.err
    assert "Traceback" not in ended.err


def test_a_dry_run_writes_nothing(agon: Cli, tmp_path: Path) -> None:
    """It validates the tasks and prints the planned trials."""
    harbor(tmp_path / "hello")
    ended = agon("challenge", "run", tmp_path / "hello", "--agent", "nop", "--out",
                 tmp_path / "out", "--dry-run")  # fmt: skip
    assert (ended.code, (tmp_path / "out").exists()) == (0, False)
    assert "would run nop on 1 tasks" in ended.out


def test_variables_that_are_missing_are_named_before_anything_runs(
    agon: Cli, tmp_path: Path
) -> None:
    """All of them at once, without a container and without a folder."""
    harbor(tmp_path / "t", toml='[verifier.env]\nA = "${JUDGE_MODEL}"\n')
    ended = agon("challenge", "run", tmp_path / "t", "--agent", "nop", "--env", "NOT_SET_HERE",
                 "--out", tmp_path / "out")  # fmt: skip
    assert "NOT_SET_HERE is not set" in ended.err
    assert "--verifier-env JUDGE_MODEL" in ended.err
    assert (ended.code == 0, (tmp_path / "out").exists()) == (False, False)


@pytest.mark.exhaustive
def test_a_variable_reaches_agent_and_tests_and_no_file_of_the_run(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record has its name; the value is in no file, and an agent's variable in no test."""
    secret = "v4lue-of-a-variable"  # noqa: S105  # a value to look for
    monkeypatch.setenv("MODEL_KEY", secret)
    monkeypatch.setenv("JUDGE_KEY", f"{secret}-2")
    digest = 'printf %s "$K" | sha256sum'
    harbor(
        tmp_path / "t",
        toml='[verifier.env]\nK = "${JUDGE_KEY}"\n',
        test=f'#!/bin/sh\n[ -z "$MODEL_KEY" ] && [ "$(cat sum)" != "$({digest})" ]\n',
    )
    agent = f'[ -z "$JUDGE_KEY" ] && K=$MODEL_KEY && [ -n "$K" ] && {digest} > sum || echo x'
    ended = agon("challenge", "run", tmp_path / "t", "--agent", agent, "--agent-env", "MODEL_KEY",
                 "--verifier-env", "JUDGE_KEY", "--timeout-multiplier", 2,
                 "--out", tmp_path / "out", "--format", "json")  # fmt: skip
    summary = ended.json()
    assert (ended.code, summary["passed"]) == (0, 1)
    assert summary["variables"] == {"agent": ["MODEL_KEY"], "verifier": ["JUDGE_KEY"]}
    assert summary["overrides"] == {"timeout_multiplier": 2.0}
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
    assert secret not in ended.out + ended.err
