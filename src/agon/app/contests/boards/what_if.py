"""The scores of a published board under other rules, by the same engine; nothing is stored."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.analysis.compare import Difference, changed_rules, difference
from agon.app.analysis.score import Result
from agon.app.contests.ledgers.positions import require_storable_name, snapshot_at
from agon.app.replay.unscored import explanation_or_reason
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.contests import Snapshot
from agon.errors import Conflict, Unreadable
from agon.kernel.boards import ranking
from agon.kernel.explanations import Explanation

MAX_ENTRIES: Final = 100_000
"""Maximum length of a ledger that is scored for a request; of longer ones it takes too long."""


@dataclass(frozen=True, kw_only=True)
class OtherRules:
    """Rules other than those in force.

    Attributes:
        edition: another edition; None: the one in force.
        overrides: values of rules, on top of the overrides in force unless another edition is
            chosen.
    """

    edition: str | None = None
    overrides: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """A score under the rules in force and under others.

    Attributes:
        before, after: the explanations.
        rules: the rules that differ: name → ``left`` and ``right``.
    """

    before: Explanation
    after: Explanation
    rules: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RulesEffect:
    """What other rules would do to a board.

    Attributes:
        snapshot: the published board.
        difference: the ranks that would change.
        rules: the rules that differ: name → ``left`` and ``right``.
    """

    snapshot: Snapshot
    difference: Difference
    rules: Mapping[str, Mapping[str, Any]]


def what_if(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    other: OtherRules,
    *,
    counts: Mapping[str, float] | None = None,
    as_of: str | None = None,
) -> WhatIf:
    """Return a participant's explanation as it is, and under other rules or with other counts.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        participant: the id the score is of.
        other: the other rules.
        counts: part of the score → its count; parts that are left out stay.
        as_of: as for :func:`agon.app.contests.boards.pages.page`.

    Raises:
        Conflict: the contest is too long, or its verdicts are not disclosed yet.
        InvalidRule: with all unknown rules and values out of bounds.
        NotFound: as for :func:`agon.app.contests.boards.explain.explain`.
        Unreadable: the same, or the counts are not those of the score.
    """
    require_storable_name(participant)
    with _results(service, view, board, other, as_of) as (snapshot, before, after):
        changed = explanation_or_reason(after, participant, board=snapshot.board)
        return WhatIf(
            before=explanation_or_reason(before, participant, board=snapshot.board),
            after=_with_counts(after, changed, counts) if counts else changed,
            rules=dict(changed_rules(before, after)),
        )


def rules_effect(
    service: Service,
    view: View,
    board: str | None,
    other: OtherRules,
    *,
    as_of: str | None = None,
) -> RulesEffect:
    """Return the ranks that other rules would change on a board; arguments as of :func:`what_if`.

    Raises:
        Conflict, InvalidRule, NotFound, NotScorable, Unreadable: as for :func:`what_if`.
    """
    with _results(service, view, board, other, as_of) as (snapshot, before, after):
        return RulesEffect(
            snapshot=snapshot,
            difference=difference(before.board(snapshot.board), after.board(snapshot.board)),
            rules=dict(changed_rules(before, after)),
        )


def _with_counts(
    result: Result, explanation: Explanation, counts: Mapping[str, float]
) -> Explanation:
    """Return an explanation with other counts, and its rank if all other scores stay.

    Raises:
        Unreadable: the score has no such counts.
    """
    recounts = result.discipline.traits.recounts
    recount = recounts.get(explanation.board)
    if recount is None or explanation.score is None:
        raise Unreadable(
            f"counts: {explanation.id} has no score of counts on board {explanation.board}; "
            f"choose another board: {', '.join(recounts) or 'there is none'}"
        )
    changed = recount(explanation, result.rules, counts)
    table = result.board(explanation.board).table
    index = table["id"].to_pylist().index(explanation.id)
    scores = table["score"].to_numpy().copy()
    scores[index] = changed.score
    shared = result.discipline.traits.shares_ranks(result.rules)
    order, ranks = ranking(table["id"], [-scores], shared=shared)
    return replace(changed, rank=int(ranks[order.tolist().index(index)]))


@contextmanager
def _results(
    service: Service, view: View, board: str | None, other: OtherRules, as_of: str | None
) -> Iterator[tuple[Snapshot, Result, Result]]:
    """Lend the results under the rules in force and under others, at a visible snapshot."""
    contest = view.contest
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, board, as_of)
    hides = discipline(contest.discipline).withhold is not None
    if hides and not view.staff and not contest.was_finalized:
        remedy = (
            "which stays hidden: the contest is void"
            if contest.is_over
            else ("look again when the contest is final")
        )
        raise Conflict(
            f"scores under other rules would show what verdicts do not disclose yet; {remedy}"
        )
    if snapshot.seq > MAX_ENTRIES:
        raise Conflict(
            f"{contest.id} has {snapshot.seq:,} entries, more than the {MAX_ENTRIES:,} that are "
            "scored for a page; export the contest and use agon compare"
        )
    with service.replicas.current(service.store, contest) as live:
        before = live.result(at=snapshot.seq)
        is_other_edition = other.edition is not None
        in_force = {} if is_other_edition else live.contest_state(snapshot.seq).overrides
        overrides = {**in_force, **(other.overrides or {})}
        after = live.result(at=snapshot.seq, edition=other.edition, overrides=overrides)
        yield snapshot, before, after
