"""Judge the submissions to a problem: each gets exactly one permanent verdict."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from agon.app.dojo.grading import Grader, PendingSubmission, Row
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.lifecycle import is_judged, submission_row
from agon.app.dojo.packages import PackageFolder, SolverPackage, find_packages, read_package
from agon.app.dojo.problems import Problem
from agon.app.dojo.season import SeasonFolder
from agon.app.dojo.setter_validation import validate_setter
from agon.app.files import FileIssue, InvalidPackage, json_line
from agon.app.sandbox import RunLimits, Sandbox
from agon.records.writing import write_atomically

REFUSED: Final = "refused.ndjson"
"""File that lists packages that could not be judged, and why; they are read again next time."""


@dataclass(frozen=True)
class JudgingProgress:
    """The progress of judging: submissions done, of how many, and the newest verdict."""

    done: int
    total: int
    row: Row | None = None


@dataclass(frozen=True)
class JudgeSummary:
    """The summary of judging a folder of submissions.

    Attributes:
        problem_id: the problem.
        rows: the verdicts reached now.
        repeated: how many submissions had their verdict already.
        issues: packages that could not be judged.
        remarks: issues of packages that were judged in spite of them.
        late: ids of the submissions judged now that came after the freeze.
    """

    problem_id: str
    rows: tuple[Row, ...]
    repeated: int
    issues: tuple[FileIssue, ...]
    remarks: tuple[FileIssue, ...]
    late: tuple[str, ...]


@dataclass
class _Tally:
    """Counts of packages that need no verdict, made while packages are read."""

    repeated: int = 0
    invalid: int = 0
    issues: list[FileIssue] = field(default_factory=list)
    remarks: list[FileIssue] = field(default_factory=list)


def judge(
    problem: Problem,
    submissions: Path,
    out: Path,
    sandbox: Sandbox,
    *,
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    limits: RunLimits | None = None,
    progress: Callable[[JudgingProgress], None] = lambda _: None,
) -> JudgeSummary:
    """Judge a folder of submissions into a season's folder; continue an interrupted one.

    A verdict does not change, unless it is ``sandbox_error``: such a submission is judged again.
    Submissions after the freeze are judged and recorded too: the rule ``after_freeze`` leaves them
    unscored.

    Args:
        problem: the setter's package.
        submissions: the folder with ``<user>/<submission>/solver.py``.
        out: the season's folder; it may contain other problems.
        sandbox: where programs run.
        edition: the edition by whose rules programs are judged; None: the season's, which is the
            reference edition in a new folder.
        overrides: rules that differ from it.
        limits: what a solver may use; None: those of the dojo page.
        progress: called for every verdict.

    Raises:
        InvalidSetter: the setter is not valid.
        Conflict: ``out`` is not a season, was begun under other rules, or is being judged by
            another process.
        NotFound: there is no such folder of submissions.
    """
    packages, misplaced = find_packages(submissions)
    tally = _Tally(issues=misplaced)
    rows: list[Row] = []
    with SeasonFolder.open(out) as season:
        season.choose_rules(edition, overrides)
        problem = season.resolve(problem)
        answer = HiddenAnswer(problem, validate_setter(problem, sandbox))
        season.publish(answer)
        rules = season.rules
        allowed = limits or RunLimits()
        grader = Grader(answer.terms, sandbox, rules, allowed, first_index=problem.first_index)
        pending = _pending(packages, problem.id, season, tally, max_length=rules.max_source_bytes)
        for row in grader.verdicts(pending):
            season.record(row)
            rows.append(row)
            finished = tally.repeated + tally.invalid + len(rows)
            progress(JudgingProgress(finished, len(packages), row))
        season.finish()
        _list_invalid(season.folder / REFUSED, problem.id, tally.issues)
    return _summary(problem, rows, tally)


def _summary(problem: Problem, rows: Sequence[Row], tally: _Tally) -> JudgeSummary:
    freeze = problem.declaration()["freeze_started_at"]
    return JudgeSummary(
        problem_id=problem.id,
        rows=tuple(sorted(rows, key=lambda row: str(row["id"]))),
        repeated=tally.repeated,
        issues=tuple(tally.issues),
        remarks=tuple(tally.remarks),
        late=tuple(sorted(row["id"] for row in rows if freeze and row["created_at"] > freeze)),
    )


def _pending(
    packages: Sequence[PackageFolder],
    problem_id: str,
    season: SeasonFolder,
    tally: _Tally,
    *,
    max_length: int,
) -> Iterator[PendingSubmission]:
    """Yield the packages that have no verdict yet, each read when it is needed."""
    for package in packages:
        record = season.rows["submissions"].get(package.id_on(problem_id))
        judged = is_judged(record)
        try:
            submission = read_package(package)
        except InvalidPackage as error:
            tally.invalid += not judged
            tally.repeated += judged
            tally.issues += error.issues
            continue
        if record is None or not judged:
            tally.remarks += submission.remarks
            row = _row(package, problem_id, submission, max_length=max_length)
            season.receive(row)
            yield PendingSubmission(row, submission.source, submission.unreadable)
            continue
        tally.repeated += 1
        if record["source_hash"] != submission.source_hash:
            fact = "changed after it was judged; its verdict stays"
            remedy = "submit the new source under another name"
            tally.remarks.append(FileIssue(str(package.folder), fact, remedy))


def _row(
    package: PackageFolder, problem_id: str, submission: SolverPackage, *, max_length: int
) -> dict[str, Any]:
    """Return a submission's row of the table ``submissions``, not judged yet.

    A source longer than any program may be is recorded by hash and length only.
    """
    source = submission.source
    content = {
        "source": source.decode() if source is not None and len(source) <= max_length else None,
        "source_hash": submission.source_hash,
        "l_chars": submission.l_chars,
        "method_tag": submission.method_tag,
        "notes": submission.notes,
    }
    return submission_row(
        package.id_on(problem_id),
        problem=problem_id,
        user=package.user,
        created_at=submission.created_at,
        content=content,
    )


def _list_invalid(file: Path, problem_id: str, issues: Sequence[FileIssue]) -> None:
    """Replace a problem's part of the list of packages not judged; no file for none."""
    listed = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    mark = f'{{"problem_id": "{problem_id}", '.encode()
    lines = [line for line in listed if not line.startswith(mark)]
    lines += [json_line({"problem_id": problem_id, **asdict(issue)}) for issue in issues]
    if lines:
        write_atomically(file, lines)
    else:
        file.unlink(missing_ok=True)
