"""Rounds of arenas and their matches."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from agon.api.models.base import Resource
from agon.entities import arena_reports
from agon.kernel import figures


class Round(Resource):
    """A round; pairs are shown when it is settled, because judges must not know them before."""

    id: str
    number: int
    state: Literal["committed", "answering", "voting", "judging", "settling", "settled"]
    began_at: datetime
    matches: int = Field(description="Number of matches.")
    void: int | None = Field(
        description="Number of those without a record, because they are void or are played again; "
        "null until it is settled."
    )
    waiting: tuple[str, ...] | None = Field(
        description="Bots without an opponent; null until it is settled."
    )
    missing: dict[str, int] = Field(description="Number of answers and votes that are missing.")
    waits_for: str | None = Field(description="Why the round does not go on.")
    degraded: bool | None = Field(description="Whether no bot could be reached; null: not known.")
    pairs: tuple[tuple[str, str], ...] | None = Field(description="Null until it is settled.")
    settled_seq: int | None = Field(description="Position in the ledger.")


class NextRound(Resource):
    """The round that is due next."""

    at: datetime | None = Field(description="Null: no round is due.")
    cause: str | None = Field(
        description="Why the last round that was due did not begin; null: it began."
    )
    missing: tuple[str, ...] = Field(
        description="Everything that is missing for a round to begin now; empty: one can begin."
    )


class RatingChange(Resource):
    """What a match changed of a bot's rating."""

    before: float
    change: float


class MatchSummary(Resource):
    """The result of a match, at the position of the published boards."""

    id: str
    index: int = Field(description="Its index in the order of play, from 0.")
    played_at: datetime | None
    kind: Literal["rated", "honeypot", "skipped"]
    bot_a: str | None = Field(description="Null on the robotic side of a honeypot.")
    bot_b: str | None
    names: dict[str, str] = Field(
        description="Names of the bots by id, where they are shown; of a single match those of its "
        "judges as well."
    )
    votes: dict[str, int] = Field(description="Number of votes for a, for b, for a tie.")
    panel: str | None = Field(description="The consensus of the votes: a, b or tie.")
    winner: str | None = Field(description="What is rated; null: nothing.")
    audit: str | None = Field(description="The verdict of an audit.")
    honeypot_real: str | None = Field(description="The real side of a honeypot.")
    rating: dict[str, RatingChange] | None = Field(
        description="Of both bots; null: the match changed no rating."
    )


class DisabledProtection(Resource, arena_reports.DisabledProtection):
    """A protection that the rules of an arena promise and that does not work now."""

    rule: str = Field(description="The rule that promises it.")
    cause: str = Field(description="Why it is off.")
    matches: int = Field(description="Matches in the latest rounds that went without it.")


class CopiedAnswer(Resource, arena_reports.CopiedAnswer):
    """An answer of a match that copies an earlier one of another owner."""


class Match(Resource):
    """A match; everything but its state is null until it is settled."""

    id: str
    round: str | None = Field(
        description="Null: not shown yet, or it was recorded, not played in a round here."
    )
    state: Literal["playing", "settled"]
    outcome: str | None = None
    prompt: str | None = None
    answers: dict[str, Any] | None = None
    votes: tuple[dict[str, Any], ...] | None = None
    faults: tuple[dict[str, Any], ...] | None = None
    degraded: bool | None = Field(
        default=None, description="Whether no bot could be reached in its round."
    )
    audit_missed: str | None = Field(
        default=None, description="Why an audit was drawn and not made."
    )
    unjudged: str | None = Field(default=None, description="Why the match had no judge.")
    undecided: str | None = Field(
        default=None,
        description="Why no model decided it: it preferred neither answer, or did not judge it.",
    )
    protections_off: tuple[DisabledProtection, ...] | None = Field(
        default=None, description="What the rules promise and this match went without."
    )
    copies: tuple[CopiedAnswer, ...] | None = Field(
        default=None,
        description="The answers that copy earlier ones; null: not settled, or recorded elsewhere.",
    )
    draw: dict[str, Any] | None = Field(default=None, description="The match as it was drawn.")
    proof: dict[str, Any] | None = Field(
        default=None,
        description="The secret number, its commitment and the head that the draw follows from.",
    )
    result: MatchSummary | None = Field(
        default=None, description="What the published boards say of it; null until they do."
    )


class Latency(Resource, arena_reports.LatencySummary):
    """How long answers or votes took, in milliseconds."""


class RankRobustness(Resource, figures.RankRobustness):
    """How many matches decide between a bot and the one ranked after it."""


class NoiseFloor(Resource, figures.NoiseFloor):
    """How far Elo ratings vary by chance alone."""


class EloBand(Resource, figures.EloBand):
    """An Elo rating with the band that chance alone explains."""


class Probe(Resource, figures.Probe):
    """One question about a board, with its answer."""

    figure: float | None = Field(description="What was found; null: it cannot be computed.")
    expected: float | None = Field(description="What a board without the defect has.")
    verdict: Literal["fine", "look", "cannot tell"]


class Robustness(Resource, arena_reports.Robustness):
    """How sure the ranks of an arena are."""

    ranks: tuple[RankRobustness, ...]
    noise: tuple[NoiseFloor, NoiseFloor] = Field(description="Of new and of established bots.")
    bands: tuple[EloBand, ...]
    probes: tuple[Probe, ...] = Field(
        default=(), description="What the Bradley–Terry board does not know, as an audit says it."
    )
    names: dict[str, str] = Field(description="Names of bots by id, where they are shown.")


class DecidedRank(Resource, arena_reports.DecidedRank):
    """How few matches would change a published rank."""


class BoardRobustness(Resource, arena_reports.BoardRobustness):
    """What boards of an arena state of robustness, as it is stored."""

    ranks: tuple[DecidedRank, ...] = Field(description="The first Bradley–Terry ranks.")
    noise: tuple[NoiseFloor, NoiseFloor] = Field(description="Of new and of established bots.")


class JudgeFigure(Resource, figures.JudgeFigure):
    """A figure of a judge, with the number of cases it is from."""


class JudgeReport(Resource, arena_reports.JudgeReport):
    """How a judge judges, and what keeps it from the pool."""

    kind: Literal["bot", "person", "api"]
    figures: tuple[JudgeFigure, ...]
