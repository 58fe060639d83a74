"""Read the settled rounds of a live arena from its ledger."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agon.app.analysis.score import rules_of
from agon.disciplines.arena.rounds.reliability import RoundRecord, forfeit_findings, reliability_of
from agon.entities.contests import Contest
from agon.kernel.findings import Finding
from agon.ledger.entry import read_line
from agon.store.session import Session


def settled_rounds(lines: Iterable[bytes]) -> Iterator[RoundRecord]:
    """Yield the settled rounds of a ledger, oldest first; attempts to qualify are left out."""
    drawn: dict[str, Mapping[str, Any]] = {}
    for line in lines:
        if b'"kind":"draw-made"' not in line and b'"kind":"round-settled"' not in line:
            continue
        entry = read_line(line)
        if entry.kind == "draw-made":
            drawn[str(entry.body["purpose"]).removeprefix("round ")] = entry.body
        elif entry.kind == "round-settled" and entry.body["outcome"]["kind"] == "round":
            yield RoundRecord.of(drawn.pop(entry.body["round"]), entry.body)


@dataclass(frozen=True, kw_only=True)
class ArenaReport:
    """How the rounds of an arena were played.

    Attributes:
        rows: a row for every bot: games, waits, rematches, streaks, faults, forfeits.
        degraded: the rounds in which no bot could be reached, oldest first.
        undecided: the matches that a model judged and preferred neither answer, each with why.
    """

    rows: list[dict[str, Any]]
    degraded: list[str]
    undecided: list[dict[str, str]]


def report_of(lines: Iterable[bytes]) -> ArenaReport:
    """Return the report on the settled rounds of a ledger."""
    degraded: list[str] = []
    undecided: list[dict[str, str]] = []

    def rounds() -> Iterator[RoundRecord]:
        for settled in settled_rounds(lines):
            degraded.extend([settled.name] if settled.is_degraded else ())
            undecided.extend(
                {"match": match["match"], "cause": match["undecided"]}
                for match in settled.outcomes
                if "undecided" in match
            )
            yield settled

    rows = [
        {
            "bot": bot.bot,
            "games": bot.games,
            "waited": bot.waited,
            "longest_wait": bot.longest_wait,
            "rematches": bot.rematches,
            "longest_streak": bot.longest_streak,
            "faults_bot": bot.faults["bot"],
            "faults_transport": bot.faults["transport"],
            "faults_ours": bot.faults["ours"],
            "forfeits": bot.forfeits,
            "latest_forfeits": bot.latest_forfeits,
            "probability": bot.probability,
        }
        for bot in reliability_of(rounds())
    ]
    return ArenaReport(rows=rows, degraded=degraded, undecided=undecided)


def round_findings(session: Session, contest: Contest, seq: int) -> list[Finding]:
    """Return what the settled rounds of a contest show that its records do not.

    Args:
        session: the database.
        contest: a contest of any discipline.
        seq: the position of the ledger up to which it is examined.
    """
    kinds = ("draw-made", "round-settled")
    lines = (entry.line for entry in session.entries.of_kind(contest.no, kinds, until=seq))
    bots = reliability_of(settled_rounds(lines))
    if not bots:
        return []
    rules: Any = rules_of(contest.discipline, contest.edition, contest.overrides)[1]
    return list(forfeit_findings(bots, surprise=rules.surprise))
