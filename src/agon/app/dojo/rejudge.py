"""Judge a season's submissions again, and show what would change before it is applied."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agon.app.dojo.grading import UNJUDGED, Grader, PendingSubmission, Row
from agon.app.dojo.judge import JudgingProgress
from agon.app.dojo.lifecycle import VerdictChange, verdict_changes
from agon.app.dojo.season import SeasonFolder
from agon.app.dojo.setter_validation import require_same_terms, validate_setter
from agon.app.sandbox import RunLimits, Sandbox
from agon.errors import NotFound, did_you_mean


@dataclass(frozen=True)
class RejudgeSummary:
    """The summary of judging a season again.

    Attributes:
        runs: how many submissions were judged again.
        changes: verdicts (or matched terms) that differ, by submission id.
        change: id of the change set, when the new verdicts were applied.
    """

    runs: int
    changes: tuple[VerdictChange, ...]
    change: str | None


def rejudge(
    folder: Path,
    sandbox: Sandbox,
    *,
    problem_id: str | None = None,
    apply: bool = False,
    new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    limits: RunLimits | None = None,
    progress: Callable[[JudgingProgress], None] = lambda _: None,
) -> RejudgeSummary:
    """Judge a season's recorded submissions again; nothing is changed unless ``apply`` is set.

    Submissions whose source is not recorded keep their verdict: they were rejected without a run.
    So does one whose new run ends in ``sandbox_error``.

    Args:
        folder: the season.
        sandbox: where programs run; the setters run too, and must give the same terms.
        problem_id: one problem, by its id or the beginning of it; None for all.
        apply: replace the verdicts that differ as one change set; the ledger keeps the earlier.
        new_id: returns the id of a change set.
        limits: what a solver may use.
        progress: called for every verdict.

    Raises:
        NotFound: no such season or problem.
        CheckFailed: a setter does not give the terms it was judged by.
    """
    with SeasonFolder.open(folder, new=False) as season:
        chosen = _choose_problems(season, problem_id)
        waiting = {
            name: [
                row
                for row in season.rows["submissions"].values()
                if row["problem_id"] == name and row["source"] is not None
            ]
            for name in chosen
        }
        total = sum(map(len, waiting.values()))
        after: dict[str, Row] = {}
        for name, rows in waiting.items():
            grader = _grader(season, name, sandbox, limits or RunLimits())
            pending = (
                PendingSubmission({**row, **UNJUDGED}, row["source"].encode()) for row in rows
            )
            for row in grader.verdicts(pending):
                after[row["id"]] = row
                progress(JudgingProgress(len(after), total, row))
        recorded = season.rows["submissions"]
        changes = verdict_changes((recorded[name], after[name]) for name in sorted(after))
        change = new_id() if apply and changes else None
        if change is not None:
            season.apply(changes, change=change)
        return RejudgeSummary(len(after), tuple(changes), change)


def _choose_problems(season: SeasonFolder, problem_id: str | None) -> list[str]:
    if problem_id is None:
        return sorted(season.problems)
    matches = [name for name in season.problems if problem_id and name.startswith(problem_id)]
    if len(matches) != 1:
        raise NotFound(
            f"{season.folder} has {'several' if matches else 'no'} problems {problem_id!r}: "
            + did_you_mean(problem_id, season.problems)
        )
    return matches


def _grader(season: SeasonFolder, problem_id: str, sandbox: Sandbox, limits: RunLimits) -> Grader:
    answer = season.problems[problem_id].answer
    require_same_terms(answer, validate_setter(answer.problem, sandbox))
    return Grader(
        answer.terms, sandbox, season.rules, limits, first_index=answer.problem.first_index
    )
