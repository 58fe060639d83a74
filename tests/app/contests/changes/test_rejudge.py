"""Test that programs are judged again by jobs, and count only when the change is applied."""

from dataclasses import replace

import orjson
import pytest

from agon.app.access.permissions import LOCAL
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes.change_sets import (
    apply,
    dry_run,
    dry_run_error,
    propose,
    roll_back,
)
from agon.app.sandbox import DeterminismCheck, RunRequest, RunResult
from agon.app.service import Service
from agon.app.worker.handlers import sandbox_runners, service_runners
from agon.entities.contests import Change
from agon.errors import CheckFailed, Conflict, NotFound
from app.worker.contests import RIGHT, dojo, entries, published, submitted, work
from fakes.sandbox import FakeSandbox


class Moody(FakeSandbox):
    """Make the verdict of ``s1`` another one, as on another machine."""

    def run(self, job: RunRequest) -> RunResult:
        """Run one job."""
        if job.name == "s1":
            return self._ended("time_limit", reason="this machine is slower")
        if job.name == "s3":
            return self._ended("sandbox_error", reason="a lost worker")
        return super().run(job)


@pytest.fixture
def judged(service: Service) -> Service:
    """Return a contest with three judged submissions and published boards."""
    dojo(service)
    problem = published(service)
    for name in ("s1", "s2", "s3"):
        submitted(service, problem, name=name, source=f"{RIGHT}# {name}\n")
    work(service, sandbox_runners(FakeSandbox()))
    publish(service, "autumn")
    return service


def again(service: Service, sandbox: FakeSandbox, **params: object) -> Change:
    """Propose a rejudge, and run its jobs."""
    made = propose(service, "autumn", kind="rejudge", params=params, reason="a fix", by=LOCAL)
    work(service, {**sandbox_runners(sandbox), **service_runners(service)})
    with service.store.read() as session:
        return session.changes.get(session.contests.get("autumn").no, made.id)


def verdict(service: Service, name: str) -> str:
    """Return the last verdict in the ledger."""
    rows = [one.body["row"] for one in entries(service, "record-added", "record-replaced")]
    return str([row["verdict"] for row in rows if row["id"] == name][-1])


def test_changed_verdicts_count_when_the_change_is_applied(judged: Service) -> None:
    """A rejudge is previewed as a unit; until it is applied the verdicts do not change."""
    made = again(judged, Moody())
    assert made.report is not None
    assert (made.report["done"], [row["id"] for row in made.report["rows"]]) == (3, ["s1"])
    assert made.dry_run_at is not None
    assert (verdict(judged, "s1"), verdict(judged, "s2")) == ("ok", "ok")
    applied = apply(judged, "autumn", made.id, by=LOCAL)
    assert (verdict(judged, "s1"), verdict(judged, "s3")) == ("time_limit", "ok")
    after = {one.board: one.board_sha256 for one in publish(judged, "autumn").snapshots}
    shown = made.report["boards"]
    assert after == {name: one["board_sha256"]["after"] for name, one in shown.items()}
    (replaced,) = entries(judged, "record-replaced")
    assert (replaced.body["change"], replaced.seq) == (made.id, applied.applied_at)


@pytest.mark.exhaustive
def test_a_rejudge_is_rolled_back_as_a_unit(judged: Service) -> None:
    """The earlier verdicts and boards are restored."""
    before = [one.board_sha256 for one in publish(judged, "autumn").snapshots]
    made = again(judged, Moody())
    apply(judged, "autumn", made.id, by=LOCAL)
    assert [one.board_sha256 for one in publish(judged, "autumn").snapshots] != before
    roll_back(judged, "autumn", made.id, reason="the machine was slow", by=LOCAL)
    assert [one.board_sha256 for one in publish(judged, "autumn").snapshots] == before


@pytest.mark.exhaustive
def test_equal_verdicts_change_nothing(judged: Service) -> None:
    """The report has no moves, and no entry is appended."""
    made = again(judged, FakeSandbox())
    assert made.report is not None
    assert made.report["rows"] == []
    assert all(not one["moves"] for one in made.report["boards"].values())
    with pytest.raises(Conflict, match="no verdict has changed"):
        apply(judged, "autumn", made.id, by=LOCAL)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("outcome", "cause"),
    [("other terms", "gives another term 3 than when it was judged"), ("crash", "runtime_error")],
)
def test_a_setter_that_gives_other_terms_than_before_makes_its_rejudge_fail(
    judged: Service, outcome: str, cause: str
) -> None:
    """Verdicts by terms that the setter no longer gives would be wrong."""

    class Updated(Moody):
        """A sandbox in which the setter's sequence has changed."""

        def run_with_two_seeds(self, request: RunRequest) -> DeterminismCheck:
            """Run a setter."""
            check = super().run_with_two_seeds(request)
            changed = replace(check.first, terms=(*check.first.terms[:2], "7"))
            changed = replace(changed, terms=(*changed.terms, *check.first.terms[3:]))
            if outcome == "crash":
                changed = self._ended("runtime_error", reason="sympy is gone")
            return DeterminismCheck(changed, changed)

    made = again(judged, Updated())
    assert made.dry_run_at is None
    assert cause in str(dry_run_error(judged, made))
    with pytest.raises(CheckFailed, match=cause):
        dry_run(judged, "autumn", made.id)
    with pytest.raises(Conflict, match="no dry run yet"):
        apply(judged, "autumn", made.id, by=LOCAL)


@pytest.mark.exhaustive
def test_while_programs_run_there_is_no_report(judged: Service) -> None:
    """A report of half the programs would be misleading."""
    made = propose(judged, "autumn", kind="rejudge", params={}, reason="a fix", by=LOCAL)
    assert dry_run(judged, "autumn", made.id).dry_run_at is None
    with pytest.raises(Conflict, match="no dry run yet"):
        apply(judged, "autumn", made.id, by=LOCAL)


def test_single_submissions_can_be_judged_again(judged: Service) -> None:
    """A complaint is about one program, not about a season."""
    made = again(judged, Moody(), submissions=["s2"])
    assert made.report is not None
    assert (len(made.report["jobs"]), made.report["rows"]) == (1, [])


def test_an_unknown_submission_is_not_found(judged: Service) -> None:
    """A misspelt id would give a rejudge without programs."""
    with pytest.raises(NotFound, match="no submission"):
        propose(
            judged, "autumn", kind="rejudge", params={"submissions": ["s9"]}, reason="r", by=LOCAL
        )


@pytest.mark.exhaustive
def test_the_jobs_of_a_rejudge_have_no_terms(judged: Service) -> None:
    """Workers may be untrusted; the setter's terms and source stay on the server."""
    made = propose(judged, "autumn", kind="rejudge", params={}, reason="a fix", by=LOCAL)
    assert made.report is not None
    with judged.store.read() as session:
        payloads = [session.queue.get(job).payload for job in made.report["jobs"]]
    text = orjson.dumps(payloads).decode()
    assert "324" not in text  # 18 squared, a term of the answer
    assert "def seq" not in text
