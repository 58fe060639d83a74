"""Rank bots by Elo and judges by credibility: two bots answer, judges pick the more human."""

from agon.disciplines.arena.integrity import CHECKS, find
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import BOARDS, score
from agon.disciplines.arena.simulate import ATTACKS, simulate
from agon.disciplines.arena.strengths import intervals_of
from agon.disciplines.definition import Demo, Discipline

DISCIPLINE = Discipline(
    name="arena",
    schema=SCHEMA,
    rules=ArenaRules,
    boards=BOARDS,
    score=score,
    find=find,
    simulate=simulate,
    size_unit="matches",
    checks=CHECKS,
    attacks=ATTACKS,
    participants=("bots.id", "judges.id", "votes.judge_id", "reinstatements.judge_id"),
    board_ids={"bots": "bots.id", "judges": "judges.id", "bradley-terry": "bots.id"},
    shares_ranks=lambda _: True,
    intervals=intervals_of,
    addresses={"owners": ("ip", "network")},
    demo=Demo(
        dataset="llmfao",
        commands=(
            "agon score arena {source} --board judges --top 5",
            "agon arena rate {source} --method bradley-terry --ci --top 10",
        ),
    ),
)
"""The discipline ``arena``."""
