"""Define what the runner needs to know of a discipline to attack it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from agon.attacks.prices import Prices, default_prices
from agon.attacks.results import Effort
from agon.attacks.strategy import Plan, Strategy
from agon.attacks.tables import without_accounts
from agon.disciplines import Discipline, ScoredRecords, discipline
from agon.errors import Unreadable
from agon.kernel.findings import Finding
from agon.records import Records, read_rows


@dataclass(frozen=True)
class AttackStanding:
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


class RankedSeason(SeasonRecords, Protocol):
    """A season whose standing is that of its scored records."""

    def standing(self, scored: ScoredRecords) -> AttackStanding:
        """Return who stands where on the scored board."""
        ...


Remaining = Mapping[str, tuple[int, float]]
"""Rank and score of honest participants on a board without the attacker's records."""

Play = Callable[[Any, Any, Strategy[Any] | None, Plan, int], SeasonRecords]
"""Returns the season of a world under rules with a strategy and its plan (None: the attacker takes
part honestly), and with the epochs that it goes on after the last honest activity."""


def _every_day(rules: Any, _: int) -> Any:
    return rules


@dataclass(frozen=True, kw_only=True)
class Lab:
    """The attack lab of one discipline.

    Attributes:
        discipline: the name of the discipline.
        strategies: the catalog.
        simulated_world: returns a world of simulated honest participants for a size and a seed.
        observed_world: returns a world that begins where real records end, for a seed.
        play: plays a season.
        rules_at: returns the rules that score the end of an epoch.
        actors: of tables whose rows belong to accounts, the column that names the account.
        undone_boards: boards that are compared after an attack was undone.
        joint_rules: rules that are one guard of an edition together.
        further_prices: prices of accounts and actions that agon's table (``prices.toml``) lacks.
    """

    discipline: str
    strategies: tuple[Strategy[Any], ...]
    simulated_world: Callable[[int, int], Any]
    observed_world: Callable[[Records, int], Any]
    play: Play
    actors: Mapping[str, str]
    undone_boards: tuple[str, ...]
    rules_at: Callable[[Any, int], Any] = _every_day
    joint_rules: tuple[tuple[str, ...], ...] = ()
    further_prices: Prices = field(default_factory=dict)

    @property
    def prices(self) -> Prices:
        """Return the price of all that an attacker of this lab uses."""
        return {**default_prices(), **self.further_prices}

    def standing(self, played: Any, rules: Any) -> AttackStanding:
        """Return who stands where after a season."""
        season: RankedSeason = played
        with self._score(season.tables(season.epochs[-1]), rules, season) as scored:
            return season.standing(scored)

    def findings(self, played: Any, rules: Any, epoch: int) -> list[Finding]:
        """Return the findings by the end of an epoch."""
        season: SeasonRecords = played
        with read_rows(self._discipline.schema, season.tables(epoch)) as records:
            return self._discipline.find(records, self.rules_at(rules, epoch))

    def remaining(self, played: Any, rules: Any) -> Mapping[str, Remaining]:
        """Return the honest participants after a season without the attacker's records.

        Returns:
            rank and score by name, for each of the ``undone_boards``.
        """
        season: SeasonRecords = played
        schema, honest = self._discipline.schema, set(season.honest)
        tables = without_accounts(
            schema, season.tables(season.epochs[-1]), season.accounts, actors=self.actors
        )
        with self._score(tables, rules, season) as scored:
            return {
                board: {
                    str(row["id"]): (row["rank"], row["score"])
                    for row in scored.board(board).rows()
                    if str(row["id"]) in honest
                }
                for board in self.undone_boards
            }

    @contextmanager
    def _score(
        self, tables: Mapping[str, Any], rules: Any, season: SeasonRecords
    ) -> Iterator[ScoredRecords]:
        with read_rows(self._discipline.schema, tables) as records:
            yield self._discipline.score(records, self.rules_at(rules, season.epochs[-1]))

    @property
    def _discipline(self) -> Discipline:
        return discipline(self.discipline)

    def simulate(self, *, size: int, seed: int) -> Any:
        """Return a world of simulated honest participants.

        Raises:
            Unreadable: the size is too small for a contest.
        """
        try:
            return self.simulated_world(size, seed)
        except ValueError as error:
            raise Unreadable(f"cannot simulate the {self.discipline}: {error}") from None

    def observe(self, records: Records, *, seed: int) -> Any:
        """Return a world that begins where real records end.

        Raises:
            Unreadable: there are too few participants to attack.
        """
        try:
            return self.observed_world(records, seed)
        except ValueError as error:
            raise Unreadable(f"cannot attack these records: {error}") from None


class DailySeason(SeasonRecords, Protocol):
    """A season in which honest participants do nothing new."""

    day: int
    """The current day, from 1."""


def play_days(
    season: Callable[[Any, Any], DailySeason], days: int
) -> Callable[[Any, Any, Strategy[Any] | None, Plan, int], DailySeason]:
    """Return a function that plays such a season day by day."""

    def play(
        world: Any, rules: Any, strategy: Strategy[Any] | None, plan: Plan, _: int
    ) -> DailySeason:
        played = season(world, rules)
        if strategy is not None:
            for played.day in range(1, days + 1):
                strategy.act(played, plan)
        return played

    return play
