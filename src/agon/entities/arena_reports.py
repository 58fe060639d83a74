"""What the service reports about a live arena, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from agon.entities.arena import WorkKind
from agon.kernel.figures import EloBand, JudgeFigure, NoiseFloor, Probe, RankRobustness

AttemptState = Literal["none", "playing", "qualified", "not-qualified", "no-verdict"]


@dataclass(frozen=True, kw_only=True)
class AttemptStatus:
    """How a bot's last attempt to qualify stands.

    Attributes:
        state: ``no-verdict``: the network, the service or the panel failed; it does not count.
        attempt: its id, q3; its match is q3-1.
        waits_for: what it waits for; None: nothing.
        cause: why it has no verdict; None: it has one, or is being played.
        next_attempt_at: from when the bot may try again; None: now.
    """

    state: AttemptState
    attempt: str | None = None
    began_at: datetime | None = None
    waits_for: str | None = None
    cause: str | None = None
    next_attempt_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class BankCounts:
    """How many texts of its own an arena has for honeypots.

    Attributes:
        unused: answers that honeypots may still show; without any, built-in templates are shown.
        used: answers that a honeypot shows; each is shown once.
        retired: answers that were retired before one showed them.
    """

    unused: int
    used: int
    retired: int


@dataclass(frozen=True)
class LatencySummary:
    """Quantiles of latencies in milliseconds.

    Attributes:
        participant: a bot or a judge; None: all together.
        count: number of answers or votes.
        p50: median.
    """

    participant: str | None
    kind: WorkKind
    count: int
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, kw_only=True)
class Robustness:
    """How robust the ranks of an arena are.

    Attributes:
        matches: number of rated matches, without those with bots that have no Bradley–Terry
            rating.
        ranks: how many matches decide each of the first Bradley–Terry ranks; empty where there are
            no such ranks.
        reason: why no rank has a number of matches; None: some have.
        noise: Elo's noise floor for new and for established bots.
        bands: the first Elo ratings with the band that chance alone explains.
        probes: what the Bradley–Terry board does not know, of published boards; empty where no
            bot has a rating.
        notes: what was decided when the records were read, and what limits the ratings.
        names: names of the bots by id, of published boards that show them.
    """

    matches: int
    ranks: tuple[RankRobustness, ...]
    reason: str | None
    noise: tuple[NoiseFloor, NoiseFloor]
    bands: tuple[EloBand, ...]
    probes: tuple[Probe, ...] = ()
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DecidedRank:
    """How few matches would change a published rank: :class:`RankRobustness` without their ids.

    Attributes:
        next: the bot ranked after it.
        matches: at most so many matches, if left out, change the rank; None: none found.
        share: of the rated matches.
    """

    rank: int
    bot: str
    next: str
    matches: int | None
    share: float | None


@dataclass(frozen=True, kw_only=True)
class BoardRobustness:
    """What boards of an arena state of robustness; nothing is computed for it.

    Attributes:
        seq: the position of the Bradley–Terry board; None: none is published.
        is_computed: whether the ranks are examined; a job does it after they were published.
        matches: number of rated matches, as above; None: not computed yet.
        ranks: the first Bradley–Terry ranks.
        reason: why no rank has a number of matches; None: some have, or they are not computed yet.
        noise: Elo's noise floor for new and for established bots.
        matches_established: rated matches from which a bot is established.
    """

    seq: int | None
    is_computed: bool
    matches: int | None
    ranks: tuple[DecidedRank, ...]
    reason: str | None
    noise: tuple[NoiseFloor, NoiseFloor]
    matches_established: int


@dataclass(frozen=True, kw_only=True)
class DisabledProtection:
    """A protection that the rules of an arena promise and that does not work now.

    Attributes:
        name: ``audits``, ``pool of judges``, ``API judge`` or ``honeypots``.
        rule: the rule that promises it.
        meaning: what it does, in plain words.
        setting: the section of the settings with the model that it needs; None: it needs none.
        cause: why it is off, in words.
        matches: number of matches in the latest rounds that went without it.
    """

    name: str
    rule: str
    meaning: str
    setting: str | None
    cause: str
    matches: int


@dataclass(frozen=True, kw_only=True)
class CopiedAnswer:
    """An answer of a match that copies an earlier one of another owner.

    Attributes:
        side: the side of the copy.
        match: the match of the earlier answer.
        bot: the bot that wrote it.
        name: the name of that bot; None: it has none, or the contest hides names.
    """

    side: Literal["a", "b"]
    match: str
    bot: str
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeReport:
    """How a judge judges.

    Attributes:
        figures: its figures, with the number of cases of each.
        obstacles: what keeps it from the pool, in words; empty: nothing.
    """

    id: str
    kind: str
    figures: tuple[JudgeFigure, ...]
    obstacles: tuple[str, ...]
