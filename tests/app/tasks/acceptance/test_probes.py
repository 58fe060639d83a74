"""Forged programs are tried on the solution; a condition of a pass is advised only if it works."""

import tarfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agon.app.containers import Outcome
from agon.app.tasks.acceptance import Acceptance, CheckStep, TrialOptions, accept_tasks
from agon.app.tasks.acceptance.forgeries import PROBES
from agon.app.tasks.formats.discovery import read_tasks
from agon.wiring.agents import acceptance_agents
from app.tasks.folders import TOML, harbor
from fakes.containers import FakeContainers

STOCK = (
    "#!/bin/sh\ntimeout 5 sh /app/solve.sh | grep -qx 42\n"
    "if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt;\n"
    "else echo 0 > /logs/verifier/reward.txt; fi\n"
)
LEFT = {"/app/solve.sh": "echo 42\n", "/app/note.txt": "text\n"}
DEFAULTS = TrialOptions()
SOUND: dict[str, Outcome] = {"oracle": "passed"}
TRACE = {"/logs/agon-probe-0": "user 0\nwritable python3\n"}


def fake(
    ends: Mapping[str, Outcome],
    *,
    left: Mapping[str, str] = LEFT,
    traces: Mapping[str, str] = TRACE,
) -> FakeContainers:
    """Return containers whose trials end as specified, by the names of their parts, or fail."""
    return FakeContainers(
        verdict=lambda name, _: ends.get(name.partition("__")[2], "failed"),
        left=lambda name: left if name.endswith("__oracle") else {},
        logs=lambda _: traces,
    )


def accept(
    folder: Path,
    containers: FakeContainers,
    *,
    test: str = STOCK,
    toml: str = TOML,
    options: TrialOptions = DEFAULTS,
    watch: Callable[[CheckStep], None] = lambda _: None,
) -> Acceptance:
    """Check a task."""
    harbor(folder / "t", test=test, toml=toml)
    (acceptance,) = accept_tasks(
        read_tasks([folder / "t"]),
        acceptance_agents(),
        containers=containers,
        run="check",
        jobs=2,
        now=lambda: datetime(2026, 11, 21, tzinfo=UTC),
        options=options,
        watch=watch,
    )
    return acceptance


def advice(acceptance: Acceptance) -> list[str]:
    """Return the remedies about conditions of a pass."""
    return [
        str(remedy)
        for weakness in acceptance.weaknesses
        for remedy in weakness.remedies
        if remedy.text.startswith("reward_source")
    ]


def test_every_probe_is_tried_with_the_program_replaced(tmp_path: Path) -> None:
    """The tests run again on the outputs of the oracle; its agent does not."""
    forged: dict[str, bytes] = {}

    def look(step: CheckStep) -> None:
        if step.name.startswith("probe-"):
            path = dict(containers.verified)[f"t__{step.name}"]
            with tarfile.open(path) as archive:
                content = archive.extractfile("app/solve.sh")
                assert content is not None
                forged[step.name] = content.read()
                note = archive.extractfile("app/note.txt")
                assert note is not None
                assert note.read() == b"text\n"
                assert archive.getmember("app/solve.sh").mode == 0o755

    containers = fake(SOUND)
    acceptance = accept(tmp_path, containers, watch=look)
    assert acceptance.accepted
    assert acceptance.programs == ("/app/solve.sh",)
    assert acceptance.to_dict()["runs"] == [
        {"program": "/app/solve.sh", "other_user": False, "writable": ["python3"]}
    ]
    assert {probe.probe: probe.result for probe in acceptance.probes} == dict.fromkeys(
        (probe.name for probe in PROBES), "failed"
    )
    assert [name.partition("__")[2] for name in containers.ran] == ["oracle", "nothing", "cheat"]
    names = ["hollow", *(probe.name for probe in PROBES)]
    assert sorted(forged) == sorted(f"probe-{name}-both" for name in names)
    assert all(b"agon-probe-0" in text for text in forged.values())
    assert len(set(forged.values())) == len(forged)


def test_a_probe_that_passes_is_a_weakness_and_no_rejection(tmp_path: Path) -> None:
    """The cheat of the task's author decides; a common forgery is named."""
    acceptance = accept(tmp_path, fake({**SOUND, "probe-byte-both": "passed"}))
    assert acceptance.accepted
    (weakness,) = [found for found in acceptance.weaknesses if found.passed]
    assert (weakness.kind, weakness.passed) == ("forged-reward", ("byte",))
    assert acceptance.to_dict()["probes"]["byte"] == {"result": "passed", "reason": ""}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ({"nothing-exit_code": "passed"}, "no remedy: {} (tried: doing nothing passes)"),
        ({"cheat-exit_code": "passed"}, "no remedy: {} (tried: the cheat passes)"),
        ({"oracle-exit_code": "failed"}, "no remedy: {} (tried: the oracle does not pass)"),
        ({"oracle-exit_code": "unscored"}, "no remedy: {} (tried: oracle is unscored)"),
        ({"probe-exit-exit_code": "passed"}, "no remedy: {} (tried: the probe exit passes)"),
        ({"probe-memory-exit_code": "passed"}, "no remedy: {} (tried: the probe memory passes)"),
        ({}, "remedy: {} (tried: oracle passes; nothing, cheat, exit, memory fail)"),
    ],
)
def test_a_condition_of_a_pass_is_advised_only_if_it_works(
    tmp_path: Path, ends: Mapping[str, Outcome], expected: str
) -> None:
    """Under exit_code, doing nothing passes tests that always end with 0."""
    containers = fake({**SOUND, "oracle-exit_code": "passed", **ends})
    acceptance = accept(tmp_path, containers)
    assert advice(acceptance) == [expected.format("reward_source exit_code")]
    assert ("remedies" if "no" not in expected[:3] else "no_remedies") == next(
        key
        for weakness in acceptance.to_dict()["weaknesses"]
        for key in ("remedies", "no_remedies")
        if any("exit_code" in remedy["text"] for remedy in weakness[key])
    )


def test_without_probes_nothing_is_tried_or_advised(tmp_path: Path) -> None:
    """What is read in the files is reported all the same."""
    containers = fake(SOUND)
    acceptance = accept(tmp_path, containers, options=TrialOptions(probes=False))
    assert len(containers.verified) == 3
    assert (acceptance.probes, advice(acceptance)) == ((), [])
    (weakness,) = acceptance.weaknesses
    assert {remedy.tried for remedy in weakness.remedies} == {"not tried"}


@pytest.mark.parametrize(
    ("ends", "left", "traces", "reason"),
    [
        ({"probe-hollow-both": "passed"}, LEFT, TRACE, "do nothing, so they do not judge them"),
        ({}, LEFT, {}, "the tests ran none of these programs"),
        ({"probe-hollow-both": "unscored"}, LEFT, TRACE, "set to be unscored"),
    ],
)
def test_probes_that_would_prove_nothing_are_not_tried(
    tmp_path: Path,
    ends: Mapping[str, Outcome],
    left: Mapping[str, str],
    traces: Mapping[str, str],
    reason: str,
) -> None:
    """A pass counts only if hollow programs fail, and if a program ran."""
    acceptance = accept(tmp_path, fake({**SOUND, **ends}, left=left, traces=traces))
    assert len(acceptance.probes) == len(PROBES)
    assert all(probe.result is None for probe in acceptance.probes)
    assert all(reason in probe.reason for probe in acceptance.probes)


@pytest.mark.parametrize(
    ("test", "toml", "skipped"),
    [
        (
            "#!/bin/sh\n[ $(/app/solve.sh) = 42 ]\n",
            TOML,
            {probe.name for probe in PROBES if probe.of_reward},
        ),
        (STOCK.replace("timeout 5 ", ""), TOML, {"loop"}),
        (STOCK.replace("timeout 5 ", "timeout 500 "), TOML, {"loop"}),
        (STOCK, TOML.replace("storage_mb = 16", "storage_mb = 64"), {"full"}),
    ],
)
def test_a_probe_that_would_show_nothing_says_why(
    tmp_path: Path, test: str, toml: str, skipped: set[str]
) -> None:
    """No reward counts; no time-out is stated; memory ends before /logs is full."""
    acceptance = accept(tmp_path, fake(SOUND), test=test, toml=toml)
    without = {probe.probe: probe.reason for probe in acceptance.probes if probe.result is None}
    assert set(without) == skipped
    assert all(without.values())


def test_no_probe_runs_on_a_task_that_is_not_solvable_or_passes_unsolved(tmp_path: Path) -> None:
    """There is nothing to compare with."""
    for number, ends in enumerate(({}, {"oracle": "passed", "nothing": "passed"})):
        containers = fake(ends)  # type: ignore[arg-type]  # outcomes
        assert not accept(tmp_path / str(number), containers).accepted
        assert len(containers.verified) == 3


def test_a_task_with_a_server_of_the_agent_is_not_probed(tmp_path: Path) -> None:
    """The server ends with the trial of the oracle: its files alone say nothing."""
    toml = TOML.replace("[verifier]\n", "[verifier]\nkeep_servers = true\n")
    containers = fake(SOUND)
    acceptance = accept(tmp_path, containers, toml=toml)
    assert (acceptance.accepted, acceptance.probes, advice(acceptance)) == (True, (), [])
    assert len(containers.verified) == 3


def test_a_reward_is_a_remedy_for_tests_that_can_be_ended(tmp_path: Path) -> None:
    """Where the tests write one; all probes are tried under it, also those of rewards alone."""
    ends: dict[str, Outcome] = {**SOUND, "probe-exit-exit_code": "passed", "oracle-both": "passed"}
    toml = TOML.replace("[verifier]\n", '[verifier]\nreward_source = "exit_code"\n')
    (text,) = advice(accept(tmp_path / "both", fake(ends), toml=toml))
    assert text.startswith("remedy: reward_source both (tried: oracle passes; nothing, cheat, exit")
    assert "byte" in text
    forged = fake({**ends, "probe-kill-both": "passed"})
    assert advice(accept(tmp_path / "forged", forged, toml=toml)) == [
        "no remedy: reward_source both (tried: the probe kill passes)"
    ]
    alone = "#!/bin/sh\n[ $(/app/solve.sh) = 42 ]\n"
    assert advice(accept(tmp_path / "alone", fake(ends), toml=toml, test=alone)) == []
