"""Values that state how sure ranks, ratings and judges of an arena are."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RankRobustness:
    """How many matches decide between a bot and the one ranked after it.

    Attributes:
        rank: the bot's place by Bradley–Terry strength, from 1.
        next: the bot ranked after it.
        margin: how much higher the bot's rating is.
        matches: so many matches, if they were left out, put ``next`` before it, as a refit without
            them proves; None: no such number was found. There may be a smaller one.
        share: ``matches`` as a share of the rated matches between bots with a rating.
        left_out: the ids of these matches.
    """

    rank: int
    bot: str
    next: str
    margin: float
    matches: int | None
    share: float | None
    left_out: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class NoiseFloor:
    """How far Elo ratings wander by chance alone.

    Attributes:
        k: the K-factor of the bots.
        deviation: standard deviation of a rating around its mean.
        width: half the width of the band at the level of confidence.
        confidence: that level, 0.95 for 95 %.
    """

    k: float
    deviation: float
    width: float
    confidence: float


@dataclass(frozen=True, kw_only=True)
class EloBand:
    """An Elo rating with the band that chance alone explains.

    Attributes:
        rank: the bot's rank by Elo.
        matches: its rated matches, which decide the K-factor.
        low: the rating less half the width of the noise floor.
        high: the rating plus half of it.
        rank_low: the best rank among the bots whose ratings differ from it by no more than chance
            explains.
        rank_high: the worst of these ranks.
    """

    rank: int
    bot: str
    rating: float
    matches: int
    low: float
    high: float
    rank_low: int
    rank_high: int


@dataclass(frozen=True, kw_only=True)
class JudgeFigure:
    """A figure of a judge.

    Attributes:
        name: what it measures.
        value: the figure; None without cases, or where it is not defined.
        low, high: its interval at the rules' confidence; None: it has none.
        cases: the number of cases it is from.
        meaning: how to read it.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    cases: int
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One question about a board, with its answer.

    Attributes:
        name: what is examined.
        figure: what was found; None: it cannot be computed.
        expected: what a board without the defect has; None: there is no such value.
        verdict: ``fine``, ``look`` or ``cannot tell``.
        sentence: the answer in words.
        records: ids of the records behind it: bots, matches, prompts or judges.
    """

    name: str
    figure: float | None
    expected: float | None
    verdict: str
    sentence: str
    records: tuple[str, ...] = ()
