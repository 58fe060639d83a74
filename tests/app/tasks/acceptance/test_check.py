"""A task is accepted when its oracle passes, doing nothing fails and its cheat fails."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agon.app.containers import Outcome
from agon.app.tasks.acceptance import Acceptance, accept_tasks
from agon.app.tasks.formats.discovery import read_tasks
from agon.errors import Unavailable
from agon.wiring.agents import acceptance_agents
from app.tasks.folders import TOML, harbor
from fakes.containers import FakeContainers


def accept(folder: Path, containers: FakeContainers) -> list[Acceptance]:
    """Try the tasks of a folder."""
    return list(
        accept_tasks(
            read_tasks([folder]),
            acceptance_agents(),
            containers=containers,
            run="check",
            jobs=2,
            now=lambda: datetime(2026, 11, 21, tzinfo=UTC),
        )
    )


def ending(oracle: Outcome, nothing: Outcome, cheat: Outcome) -> FakeContainers:
    """Return containers in which each of the three ends as specified."""
    ends = {"oracle": oracle, "nothing": nothing, "cheat": cheat}
    return FakeContainers(verdict=lambda name, _: ends[name.rpartition("__")[2]])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("oracle", "nothing", "cheat", "accepted"),
    [
        ("passed", "failed", "failed", True),
        ("passed", "timeout", "failed", True),
        ("failed", "failed", "failed", False),
        ("timeout", "failed", "failed", False),
        ("passed", "passed", "failed", False),
        ("passed", "failed", "passed", False),
        ("unscored", "failed", "failed", False),
        ("passed", "unscored", "failed", False),
        ("passed", "failed", "unscored", False),
    ],
)
def test_all_three_proofs_must_hold(
    tmp_path: Path, oracle: Outcome, nothing: Outcome, cheat: Outcome, *, accepted: bool
) -> None:
    """An engine's error proves nothing either way."""
    harbor(tmp_path / "t")
    (acceptance,) = accept(tmp_path, ending(oracle, nothing, cheat))
    assert acceptance.accepted is accepted
    assert [proof.part for proof in acceptance.proofs] == ["oracle", "nothing", "cheat"]
    assert acceptance.to_dict()["oracle"]["result"] == oracle


def test_a_task_without_a_cheat_has_two_proofs(tmp_path: Path) -> None:
    """A cheat is welcome and not required (challenge, Running tasks)."""
    harbor(tmp_path / "t", leave_out="tests/cheat.sh")
    (acceptance,) = accept(tmp_path, ending("passed", "failed", "failed"))
    assert (acceptance.accepted, len(acceptance.proofs)) == (True, 2)


def test_a_task_without_a_solution_is_not_accepted(tmp_path: Path) -> None:
    """Nobody knows that it can be solved."""
    harbor(tmp_path / "t", leave_out="solution/solve.sh")
    (acceptance,) = accept(tmp_path, ending("passed", "failed", "failed"))
    assert not acceptance.accepted
    assert "no solution/solve.sh" in acceptance.proofs[0].reason


def test_a_task_that_cannot_be_built_is_not_accepted(tmp_path: Path) -> None:
    """And says why; the others are tried."""
    for name in ("a", "b"):
        harbor(tmp_path / name, toml=TOML + "timeout = 1\n")
    acceptances = accept(tmp_path, FakeContainers(unbuildable=["a"],
                   verdict=lambda name, _: "passed" if "oracle" in name else "failed"))  # fmt: skip
    assert [task.accepted for task in acceptances] == [False, True]
    assert acceptances[0].proofs[0].reason.startswith("RUN false")


def test_the_cheat_sees_none_of_the_other_tests(tmp_path: Path) -> None:
    """It stands among them, but is shown alone."""
    harbor(tmp_path / "t")
    containers = ending("passed", "failed", "failed")
    accept(tmp_path, containers)
    assert [(mount.source.name, mount.target) for mount in containers.mounts] == [
        ("solution", "/solution"),
        ("cheat.sh", "/cheat/cheat.sh"),
    ]


def test_an_engine_that_is_gone_ends_the_check(tmp_path: Path) -> None:
    """And closes what is under way."""

    class Gone(FakeContainers):
        def build(self, recipe: object) -> object:  # type: ignore[override]  # noqa: ARG002 - raises
            raise Unavailable("no engine")

    harbor(tmp_path / "t")
    containers = Gone()
    with pytest.raises(Unavailable):
        accept(tmp_path, containers)
    assert containers.closed
