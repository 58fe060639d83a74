"""Draw a match's judges from the eligible ones, and report why the others are not eligible."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from agon.disciplines.arena.judges.pool import Candidate, obstacles
from agon.disciplines.arena.rounds.draws import sample, shown_first
from agon.disciplines.arena.rules import ArenaRules


@dataclass(frozen=True)
class Panel:
    """The judges of a match, bots or the API judge.

    Attributes:
        judges: the drawn judges, in the order drawn; empty for an API panel.
        shown_first: which response each of them sees as A.
        api: whether the API judge alone is the panel; its votes change no credibility.
        is_pool_small: whether the pool is below its minimum.
        eligible: how many judges are eligible for any match.
        excluded: why each of the others does not judge this match.
    """

    judges: tuple[str, ...]
    shown_first: Mapping[str, str]
    api: bool
    is_pool_small: bool
    eligible: int
    excluded: Mapping[str, tuple[str, ...]]


def draw_panel(  # a panel depends on all of these
    candidates: Iterable[Candidate],
    *,
    match: str,
    seed: str,
    owners: tuple[str | None, ...],
    bots: tuple[str, ...],
    at: datetime,
    rules: ArenaRules,
) -> Panel:
    """Draw a match's judges uniformly among the eligible whose owner owns neither bot.

    Fewer than ``judges_per_match`` of those make it an API panel; a pool (eligible for any match)
    below ``min_judge_pool`` is small.

    Args:
        candidates: all potential judges.
        match: the match's id.
        seed: the seed in its record.
        owners: the owners of both bots, None where unknown.
        bots: the ids of both bots; a bot never judges itself.
        at: the time of the match.
        rules: thresholds and sizes.

    Source: document 003, 3. Judge Eligibility.
    """
    excluded: dict[str, tuple[str, ...]] = {}
    pool, eligible = [], 0
    for candidate in candidates:
        reasons = obstacles(candidate, at=at, rules=rules)
        eligible += not reasons
        if candidate.id in bots:
            reasons += ("plays in this match",)
        elif candidate.owner_id is not None and candidate.owner_id in owners:
            reasons += ("its owner owns a bot in this match",)
        if reasons:
            excluded[candidate.id] = reasons
        else:
            pool.append(candidate.id)
    api = len(pool) < rules.judges_per_match
    judges = [] if api else sample(seed, match, pool, size=rules.judges_per_match)
    return Panel(
        tuple(judges),
        shown_first(seed, match, judges),
        api,
        eligible < rules.min_judge_pool,
        eligible,
        excluded,
    )
