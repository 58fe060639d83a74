"""Define what the runner needs to know of a discipline to attack it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agon.attacks.results import Effort
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines import ScoredRecords
from agon.records import Records


class SeasonRecords(Protocol):
    """A season after it was played: the records of all who took part."""

    @property
    def accounts(self) -> tuple[str, ...]:
        """The attacker's accounts, as boards and findings name them, the honest one included."""
        ...

    @property
    def honest(self) -> tuple[str, ...]:
        """The honest participants, as boards and findings name them."""
        ...

    @property
    def epochs(self) -> range:
        """The epochs in which the attacker could act."""
        ...

    @property
    def effort(self) -> Effort:
        """What the attacker used."""
        ...

    def actions_until(self, epoch: int) -> int:
        """Return the number of actions by the end of an epoch."""
        ...

    def tables(self, epoch: int) -> Mapping[str, Any]:
        """Return the records by the end of an epoch, as tables."""
        ...


@dataclass(frozen=True)
class Standing:
    """What a board says of the attacker and of the honest participants.

    Attributes:
        rank: of the attacker: of all accounts added up where accounts are paid, else of the best.
        points: best score of an account's work.
        share: part of all that is paid, of all accounts together.
        ranks: rank of each honest participant whom the board can rank.
    """

    rank: int
    points: float
    share: float
    ranks: Mapping[str, int]


class Lab(Protocol):
    """The attack lab of one discipline."""

    @property
    def discipline(self) -> str:
        """The name of the discipline."""
        ...

    @property
    def strategies(self) -> tuple[Strategy[Any], ...]:
        """The catalog."""
        ...

    def simulate(self, *, size: int, seed: int) -> Any:
        """Return a world of simulated honest participants.

        Raises:
            Unreadable: the size is too small for a contest.
        """
        ...

    def observe(self, records: Records, *, seed: int) -> Any:
        """Return a world that begins where real records end."""
        ...

    def play(
        self, world: Any, rules: Any, strategy: Strategy[Any] | None, plan: Plan, *, wait: int
    ) -> SeasonRecords:
        """Return the season with a strategy; None: the attacker takes part honestly."""
        ...

    def rules_at(self, rules: Any, epoch: int) -> Any:
        """Return the rules that score the end of an epoch."""
        ...

    def standing(self, scored: ScoredRecords, played: SeasonRecords) -> Standing:
        """Return who stands where."""
        ...
