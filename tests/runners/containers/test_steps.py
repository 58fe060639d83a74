"""A task of several steps in real containers, with agents that try to reach a later step."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from agon.app.containers import AgentTrial, Containers
from agon.app.tasks.agents import Agent
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.services import build
from agon.app.tasks.trials import TrialResult, TrialRunner
from agon.runners.agents.builtin import NopAgent, OracleAgent
from app.tasks.folders import prepared, stepped, write
from runners.containers.script_agent import Script

FORGERIES: Final = {
    "tests of the next step": "mkdir -p tests /tests; printf '#!/bin/sh\\nexit 0\\n' "
    "| tee check.sh tests/check.sh /tests/check.sh",
    "a reward": "mkdir -p /logs/verifier; for f in /logs /logs/verifier /logs/artifacts . ; do "
    "echo 1 > $f/reward.txt; echo '{\"reward\": 1}' > $f/reward.json; done",
    "a process that outlives its step": "(while :; do [ ! -e /app/data ] || echo 42 "
    "> /app/sum; sleep 0.02; done) >/dev/null 2>&1 &",
    "a link in place of the next step's files": "ln -s /tmp data",
    "a folder in place of the next step's files": "mkdir -p data/in.txt/x setup.sh/x",
    "a file in place of the next step's folder": "echo 42 > data",
    "links to what the tests write": "ln -s /logs/verifier/reward.txt sum; ln -s /tests t",
}
"""What the first step's agent does besides its work; the second step's agent does nothing."""


def result_of(containers: Containers, agent: Agent, folder: Path) -> TrialResult:
    """Return the result of one trial of a task."""
    task = read_task(folder)
    image = build(task, containers)
    place = folder.parent / "trial"
    place.mkdir()
    trial = AgentTrial(run="steps", name="steps", folder=place)
    return TrialRunner(
        agent=agent, containers=containers, image=image, now=lambda: datetime.now(UTC)
    ).run(task, trial)


@pytest.mark.exhaustive
def test_a_step_begins_with_what_the_one_before_left_and_sees_no_tests(
    containers: Containers, tmp_path: Path
) -> None:
    """The second solution needs the first's file, and would be seen with tests or rewards."""
    result = result_of(containers, OracleAgent(), stepped(tmp_path / "task"))
    assert (result.result, result.reason, result.rewards) == ("passed", "", {"reward": 1.0})
    assert [step["name"] for step in result.steps] == ["one", "two"]
    streams = [step["parts"]["verifier"]["stdout"]["file"] for step in result.steps]
    assert all((tmp_path / "trial" / name).is_file() for name in streams)
    assert TrialResult.from_dict(result.to_dict()) == result


@pytest.mark.exhaustive
def test_a_step_below_its_min_reward_ends_the_trial(containers: Containers, tmp_path: Path) -> None:
    """An agent that does nothing in the first step never begins the second."""
    result = result_of(containers, NopAgent(), stepped(tmp_path / "task"))
    assert (result.result, len(result.steps)) == ("failed", 1)
    assert "min_reward is 1" in result.reason


@pytest.mark.exhaustive
def test_a_step_brings_its_files_sets_them_up_and_lays_its_tests_over_those_of_all(
    containers: Containers, tmp_path: Path
) -> None:
    """In the reference's order; a script that removes itself is nowhere for the agent."""
    result = result_of(containers, OracleAgent(), prepared(tmp_path / "task"))
    assert (result.result, result.reason, result.rewards) == ("passed", "", {"reward": 1.0})
    assert not list((tmp_path / "trial").rglob("start.tar"))  # the state of a step is stored once


@pytest.mark.exhaustive
def test_a_set_up_that_fails_is_no_pass_and_says_so(containers: Containers, tmp_path: Path) -> None:
    """The agent does not begin, so tests that pass by themselves do not run."""
    folder = write(
        prepared(tmp_path / "task"),
        {"steps/two/workdir/setup.sh": "exit 3\n", "steps/two/tests/check.sh": "true\n"},
    )
    result = result_of(containers, OracleAgent(), folder)
    assert (result.result, len(result.steps)) == ("failed", 2)
    assert "step two: agent: the step's setup.sh did not exit with 0" in result.reason


@pytest.mark.sample(1)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_nothing_that_a_step_plants_passes_the_next(
    containers: Containers, tmp_path: Path, forgery: str
) -> None:
    """The first step is solved honestly; the second is not, and its files arrive all the same."""
    script = f"[ ! -e ready ] || exit 0; touch first; {FORGERIES[forgery]}"
    result = result_of(containers, Script(script), prepared(tmp_path / "task"))
    rewards = [step["rewards"].get("reward") for step in result.steps]
    assert (result.result, rewards) == ("failed", [1.0, 0.0]), result.reason


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("settings", "end"),
    [
        (lambda text: text, "dd if=/dev/zero of=big bs=1M count=16 2>/dev/null; :"),
        (
            lambda text: text.replace("[environment]\n", '[environment]\nworkdir = "/app/in"\n'),
            "rm -rf /app/in",
        ),
    ],
    ids=["full storage", "no working folder"],
)
def test_a_step_that_keeps_the_next_from_beginning_fails(
    containers: Containers, tmp_path: Path, settings: Callable[[str], str], end: str
) -> None:
    """Unscored trials are tried again, and are in no rate: an agent must not choose that."""
    folder = prepared(tmp_path / "task")
    text = (folder / "task.toml").read_text()
    dockerfile = "FROM localhost/agon-base:1\nWORKDIR /app/in\n"
    write(folder, {"task.toml": settings(text), "environment/Dockerfile": dockerfile})
    write(folder, {"tests/check.sh": "true\n"})
    result = result_of(containers, Script(f"touch first; {end}"), folder)
    assert result.result == "failed", result.reason


COLLECTING: Final = """\
[[steps]]
name = "one"
[[steps]]
name = "two"
artifacts = ["/srv/sum"]
[[steps.verifier.collect]]
command = "cat /app/sum > /srv/sum"
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("if [ -e ready ]; then echo 42 > sum; else touch first; fi", "passed"),
        ("touch first; [ -e ready ] || echo 42 > /srv/sum", "failed"),
    ],
    ids=["honest", "planted by the step before"],
)
def test_a_step_collects_at_its_own_end(
    containers: Containers, tmp_path: Path, script: str, result: str
) -> None:
    """What the step before left under the name of what is collected is written again."""
    folder = prepared(tmp_path / "task")
    text = (folder / "task.toml").read_text().partition("[[steps]]")[0]
    checks = '[ "$(cat /srv/sum)" = 42 ]\n'
    write(folder, {"task.toml": text + COLLECTING, "steps/two/tests/check.sh": checks})
    assert result_of(containers, Script(script), folder).result == result


@pytest.mark.exhaustive
def test_tests_that_receive_artifacts_alone_take_nothing_from_the_next_step(
    containers: Containers, tmp_path: Path
) -> None:
    """The first step's tests see one path; the second step begins with the others too."""
    folder = prepared(tmp_path / "task")
    text = (folder / "task.toml").read_text().replace(
        'name = "one"\n',
        'name = "one"\nartifacts = ["/app/first"]\n'
        '[steps.verifier]\nenvironment_mode = "separate"\n',
    )  # fmt: skip
    alone = "[ -e /app/first ] && [ ! -e /app/kept ]\n"
    write(folder, {"task.toml": text, "tests/check.sh": alone})
    honest = "if [ -e ready ]; then [ -e kept ] && echo 42 > sum; else touch first kept; fi"
    result = result_of(containers, Script(honest), folder)
    assert (result.result, result.reason) == ("passed", "")


USERS: Final = """\
[agent]
user = "ada"
timeout_sec = 30
[verifier]
reward_source = "exit_code"
[[verifier.collect]]
command = "cat /app/private/key > /app/collected"
[[steps]]
name = "one"
[[steps]]
name = "two"
[steps.healthcheck]
command = "id -u > /tmp/health"
interval_sec = 1
[[steps]]
name = "three"
[steps.agent]
user = "bea"
"""
OF_USERS: Final = """\
FROM localhost/agon-base:1
RUN printf '%s:x:%s::/:/bin/sh\\n' ada 1000:1000 bea 1001:1001 >> /etc/passwd \\
    && echo 42 > /app/hidden && chmod 600 /app/hidden \\
    && mkdir /app/own && echo 42 > /app/own/key && chmod 600 /app/own/key && chown 1000 /app/own
WORKDIR /app
"""
BY_STEP: Final = {
    "one": "umask 077; mkdir private; echo one > private/key; echo o > 'two  spaces'; ln -s key l; "
    "(cd own; while :; do mv key k; echo mine > key; mv -f k key; done) 2>/dev/null >&2 &",
    "two": "umask 077; echo two >> private/key; cat hidden own/* > seen 2>/dev/null; "
    "echo t > by-two; "
    "cat laid /tmp/health > prepared",
    "three": "echo bea > by-three; cat hidden > seen 2>/dev/null; "
    "echo x 2>/dev/null >> private/key",
}
TESTS_OF_USERS: Final = """\
#!/bin/sh
cd /app; for f in private/key collected by-two prepared by-three seen; do
    [ ! -e $f ] || echo "$f: $(tr '\\n' ' ' < $f)"
done
[ -O hidden ] && [ -O private/key ]
"""


def of_users(folder: Path) -> Path:
    """Write a task whose steps have agents with two users."""
    files = {
        "task.toml": USERS,
        "environment/Dockerfile": OF_USERS,
        "tests/test.sh": TESTS_OF_USERS,
        "steps/two/workdir/laid": "laid\n",
        "steps/two/workdir/setup.sh": "id -u > /tmp/setup && cat /tmp/setup > set-up\n",
    }
    for name, script in BY_STEP.items():
        files[f"steps/{name}/instruction.md"] = "Work.\n"
        files[f"steps/{name}/solution/solve.sh"] = f"#!/bin/sh\n{script}\nexit 0\n"
    return write(folder, files)


@pytest.mark.exhaustive
def test_each_step_has_its_user_whose_files_stay_its_own(
    containers: Containers, tmp_path: Path
) -> None:
    """What the user ada left it can read and write again, and the user bea cannot.

    What the image keeps from both stays closed, also where a process moves it as the step ends.
    """
    result = result_of(containers, OracleAgent(), of_users(tmp_path / "task"))
    assert (result.result, result.reason) == ("passed", "")
    printed = [
        (tmp_path / "trial" / step["parts"]["verifier"]["stdout"]["file"]).read_text().splitlines()
        for step in result.steps
    ]
    assert printed[0] == ["private/key: one ", "collected: one "]
    assert printed[1][:4] == [
        "private/key: one two ", "collected: one two ", "by-two: t ", "prepared: laid 1000 ",
    ]  # fmt: skip
    assert printed[2][0] == "private/key: one two "
    assert "by-three: bea " in printed[2]
    assert all(lines[-1].startswith("seen: ") and "42" not in lines[-1] for lines in printed[1:])


SERVICES: Final = """\
artifacts = [{ source = "/var/state/total", service = "ledger" }]
[agent]
timeout_sec = 30
[verifier]
reward_source = "exit_code"
[[steps]]
name = "one"
[[steps.verifier.collect]]
command = "echo one >> /var/state/total"
service = "ledger"
[[steps]]
name = "two"
artifacts = [{ source = "/var/state/more", service = "ledger" }]
[[steps.verifier.collect]]
command = "cp /var/state/total /var/state/more"
service = "ledger"
[steps.verifier]
environment_mode = "separate"
"""
LEDGER: Final = """\
services:
  ledger:
    image: localhost/agon-base:1
    command: nc -ll -p 7001 -e sh -c "read -r word && echo $$word >> /var/state/total && echo ok"
    tmpfs: [/var/state]
    expose: [7001]
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("until echo {} | nc -w 5 ledger 7001 | grep -q ok; do sleep 0.1; done", "passed"),
        ("mkdir -p /var/state; printf '1\\none\\n2\\n' | tee /var/state/total /var/state/more",
         "failed"),
    ],
    ids=["honest", "own files"],
)  # fmt: skip
def test_services_go_on_from_step_to_step_and_are_collected_after_each(
    containers: Containers, tmp_path: Path, script: str, result: str
) -> None:
    """One service stores what both agents send; a step's tests see it as the step ended."""
    seen = '#!/bin/sh\ncd /var/state; [ "$(echo $(cat {}))" = "{}" ]\n'
    folder = write(
        tmp_path / "task",
        {
            "task.toml": SERVICES,
            "environment/Dockerfile": "FROM localhost/agon-base:1\nWORKDIR /app\n",
            "environment/docker-compose.yaml": LEDGER,
            "steps/one/instruction.md": "Send 1.\n",
            "steps/two/instruction.md": "Send 2.\n",
            "steps/one/solution/solve.sh": f"#!/bin/sh\n{script.format(1)}\n",
            "steps/two/solution/solve.sh": f"#!/bin/sh\n{script.format(2)}\n",
            "steps/one/tests/test.sh": seen.format("total", "1 one"),
            "steps/two/tests/test.sh": seen.format("more", "1 one 2"),
        },
    )
    assert result_of(containers, OracleAgent(), folder).result == result
