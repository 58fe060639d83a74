"""Hold a round of a live arena's ledger while its draws are repeated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agon.disciplines.arena.rules import ArenaRules


@dataclass(frozen=True, kw_only=True)
class DrawnRound:
    """A draw that was repeated.

    Attributes:
        inputs: its recorded inputs.
        matches: its matches by their ids, in order.
        seed: the seed of all its draws.
        rules: the rules at its commitment.
        committed_at: the position of its commitment.
    """

    inputs: Mapping[str, Any]
    matches: Mapping[str, Mapping[str, Any]]
    seed: str
    rules: ArenaRules
    committed_at: int


@dataclass(frozen=True, kw_only=True)
class SettledRound:
    """A settled round, or an attempt to qualify, and the records that follow its entry.

    Attributes:
        drawn: its draw.
        outcome: what its entry states.
        at: the position of that entry.
        texts: the recorded answers of each match, by side.
        votes: the judges whose votes are recorded, by match.
    """

    drawn: DrawnRound
    outcome: Mapping[str, Any]
    at: int
    texts: dict[str, Mapping[str, str | None]] = field(default_factory=dict)
    votes: dict[str, list[str]] = field(default_factory=dict)
