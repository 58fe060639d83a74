"""Rounds of arenas and their matches."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from agon.api.models.base import Resource


class Round(Resource):
    """A round; pairs are shown when it is settled, because judges must not know them before."""

    id: str
    number: int
    state: Literal["committed", "answering", "voting", "judging", "settling", "settled"]
    began_at: datetime
    matches: int = Field(description="Number of matches.")
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
    votes: dict[str, int] = Field(description="Number of votes for a, for b, for a tie.")
    panel: str | None = Field(description="The consensus of the votes: a, b or tie.")
    winner: str | None = Field(description="What is rated; null: nothing.")
    audit: str | None = Field(description="The verdict of an audit.")
    honeypot_real: str | None = Field(description="The real side of a honeypot.")
    rating: dict[str, RatingChange] | None = Field(
        description="Of both bots; null: the match changed no rating."
    )


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
    draw: dict[str, Any] | None = Field(default=None, description="The match as it was drawn.")
    proof: dict[str, Any] | None = Field(
        default=None,
        description="The seed, its commitment and the head that the draw follows from.",
    )
    result: MatchSummary | None = Field(
        default=None, description="What the published boards say of it; null until they do."
    )


class Latency(Resource):
    """How long answers or votes took, in milliseconds."""

    participant: str | None = Field(description="A bot or a judge; null: all together.")
    kind: Literal["answer", "vote"]
    count: int = Field(description="Number of answers or votes.")
    p50: float = Field(description="Median.")
    p95: float
    p99: float


class RankRobustness(Resource):
    """How many matches decide between a bot and the one ranked after it."""

    rank: int
    bot: str
    next: str
    margin: float = Field(description="How much higher the bot's rating is.")
    matches: int | None = Field(
        description="So many matches, if they were left out, put the next bot before it."
    )
    share: float | None = Field(description="Of all rated matches.")
    left_out: tuple[str, ...] = Field(description="The ids of these matches.")


class NoiseFloor(Resource):
    """How far Elo ratings vary by chance alone."""

    k: float
    deviation: float
    width: float = Field(description="Half the width of the band.")
    confidence: float


class EloBand(Resource):
    """An Elo rating with the band that chance alone explains."""

    rank: int
    bot: str
    rating: float
    matches: int
    low: float
    high: float
    rank_low: int
    rank_high: int


class Robustness(Resource):
    """How robust the ranks of an arena are."""

    matches: int = Field(description="Number of rated matches.")
    ranks: tuple[RankRobustness, ...]
    reason: str | None = Field(description="Why no rank has a number of matches.")
    noise: tuple[NoiseFloor, NoiseFloor] = Field(description="Of new and of established bots.")
    bands: tuple[EloBand, ...]


class DecidedRank(Resource):
    """How few matches would change a published rank."""

    rank: int
    bot: str
    next: str = Field(description="The bot ranked after it.")
    matches: int | None = Field(
        description="At most so many matches, if left out, change the rank; null: none found."
    )
    share: float | None = Field(description="Of all rated matches.")


class BoardRobustness(Resource):
    """What boards of an arena state of robustness, as it is stored."""

    seq: int | None = Field(description="Position of the Bradley–Terry board; null: there is none.")
    is_computed: bool = Field(description="Whether the ranks are examined; a job does it.")
    matches: int | None = Field(description="Number of rated matches.")
    ranks: tuple[DecidedRank, ...] = Field(description="The first Bradley–Terry ranks.")
    reason: str | None = Field(description="Why no rank has a number of matches.")
    noise: tuple[NoiseFloor, NoiseFloor] = Field(description="Of new and of established bots.")
    matches_established: int = Field(description="Rated matches from which a bot is established.")


class JudgeFigure(Resource):
    """A figure of a judge, with the number of cases it is from."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    cases: int
    meaning: str


class JudgeReport(Resource):
    """How a judge judges, and what keeps it from the pool."""

    id: str
    kind: Literal["bot", "person", "api"]
    figures: tuple[JudgeFigure, ...]
    obstacles: tuple[str, ...] = Field(description="What keeps it from the pool.")
