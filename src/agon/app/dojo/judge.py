"""Judge the submissions to a problem: each gets exactly one verdict, and keeps it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from agon.app.dojo.grading import Grader, PendingSubmission, Row
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.inspection import rules_in_force
from agon.app.dojo.lifecycle import is_judged, submission_row
from agon.app.dojo.packages import Place, Submission, find_packages, read_package
from agon.app.dojo.problems import Problem
from agon.app.dojo.season import Season
from agon.app.dojo.setter_validation import validate_setter
from agon.app.files import FileIssue, InvalidPackage, json_line
from agon.app.sandbox import RunLimits, Sandbox
from agon.records.writing import write_atomically

REFUSED: Final = "refused.ndjson"
"""Packages that could not be judged, and why; they are looked at again the next time."""


@dataclass(frozen=True)
class Progress:
    """Hold how far a judge is: submissions done, of how many, and the newest verdict."""

    done: int
    total: int
    row: Row | None = None


@dataclass(frozen=True)
class Judged:
    """Hold what a judge did.

    Attributes:
        problem_id: the problem.
        rows: the verdicts reached now.
        kept: how many submissions had their verdict already.
        faults: packages that could not be judged.
        remarks: what is wrong with packages that have a verdict all the same.
        late: ids of the submissions judged now that came after the freeze.
    """

    problem_id: str
    rows: tuple[Row, ...]
    kept: int
    faults: tuple[FileIssue, ...]
    remarks: tuple[FileIssue, ...]
    late: tuple[str, ...]


@dataclass
class _Tally:
    """Count, while packages are read, what needs no verdict."""

    kept: int = 0
    unfit: int = 0
    faults: list[FileIssue] = field(default_factory=list)
    remarks: list[FileIssue] = field(default_factory=list)


def judge(
    problem: Problem,
    submissions: Path,
    out: Path,
    sandbox: Sandbox,
    *,
    limits: RunLimits | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Judged:
    """Judge a folder of submissions into a season's folder; go on where an earlier judge stopped.

    A submission that has a verdict keeps it, unless that was ``sandbox_error``, which is ours to
    repeat. Submissions after the freeze are judged and recorded too: the rule ``after_freeze``
    leaves them unscored.

    Args:
        problem: the setter's package.
        submissions: the folder with ``<user>/<submission>/solver.py``.
        out: the season's folder; it may hold other problems.
        sandbox: where programs run.
        limits: what a solver may use; None takes those of the dojo page.
        progress: called for every verdict.

    Raises:
        InvalidSetter: the setter is not valid.
        Conflict: ``out`` is no season, or is being judged by another process.
        NotFound: the folder of submissions is not there.
    """
    places, misplaced = find_packages(submissions)
    tally = _Tally(faults=misplaced)
    rows: list[Row] = []
    with Season.opened(out) as season:
        answer = HiddenAnswer(problem, validate_setter(problem, sandbox))
        season.publish(answer)
        rules = rules_in_force()
        grader = Grader(answer.terms, sandbox, rules, limits or RunLimits())
        cases = _pending(places, problem.id, season, tally, longest=rules.max_source_bytes)
        for row in grader.verdicts(cases):
            season.record(row)
            rows.append(row)
            done = tally.kept + tally.unfit + len(rows)
            progress(Progress(done, len(places), row))
        season.finish()
        _list_refused(season.folder / REFUSED, problem.id, tally.faults)
    freeze = problem.declared()["freeze_started_at"]
    return Judged(
        problem_id=problem.id,
        rows=tuple(sorted(rows, key=lambda row: str(row["id"]))),
        kept=tally.kept,
        faults=tuple(tally.faults),
        remarks=tuple(tally.remarks),
        late=tuple(sorted(row["id"] for row in rows if freeze and row["created_at"] > freeze)),
    )


def _pending(
    places: Sequence[Place], problem_id: str, season: Season, tally: _Tally, *, longest: int
) -> Iterator[PendingSubmission]:
    """Read the packages that have no verdict yet, one whenever the next is wanted."""
    for place in places:
        known = season.rows["submissions"].get(place.id_on(problem_id))
        settled = is_judged(known)
        try:
            submission = read_package(place)
        except InvalidPackage as unfit:
            tally.unfit += not settled
            tally.kept += settled
            tally.faults += unfit.faults
            continue
        if known is None or not settled:
            tally.remarks += submission.remarks
            row = _row(place, problem_id, submission, longest=longest)
            season.receive(row)
            yield PendingSubmission(row, submission.source, submission.refusal)
            continue
        tally.kept += 1
        if known["source_hash"] != submission.source_hash:
            what = "changed after it was judged, and keeps its verdict"
            remedy = "submit the new source under another name"
            tally.remarks.append(FileIssue(str(place.folder), what, remedy))


def _row(place: Place, problem_id: str, submission: Submission, *, longest: int) -> dict[str, Any]:
    """Return a submission's row of the table ``submissions``, its verdict still open.

    A source beyond every program that could be read is recorded by hash and length alone.
    """
    source = submission.source
    content = {
        "source": source.decode() if source is not None and len(source) <= longest else None,
        "source_hash": submission.source_hash,
        "l_chars": submission.l_chars,
        "method_tag": submission.method_tag,
        "notes": submission.notes,
    }
    return submission_row(
        place.id_on(problem_id),
        problem=problem_id,
        user=place.user,
        created_at=submission.created_at,
        content=content,
    )


def _list_refused(file: Path, problem_id: str, faults: Sequence[FileIssue]) -> None:
    """List what could not be judged of a problem beside that of others; no file for nothing."""
    listed = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    mark = f'{{"problem_id": "{problem_id}", '.encode()
    lines = [line for line in listed if not line.startswith(mark)]
    lines += [json_line({"problem_id": problem_id, **asdict(fault)}) for fault in faults]
    if lines:
        write_atomically(file, lines)
    else:
        file.unlink(missing_ok=True)
