"""Score the arena: join rules, facts and formulas into boards and explanations."""

from dataclasses import replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena import boards, explanations, relational
from agon.disciplines.arena.facts import Bots, Facts, bots_of, facts_of
from agon.disciplines.arena.formulas import Vector
from agon.disciplines.arena.history import (
    Credibilities,
    Ratings,
    Results,
    Standings,
    credibilities_of,
    ratings_of,
    results_of,
    standings_of,
)
from agon.disciplines.arena.judges.quality import quality_of
from agon.disciplines.arena.ratings import streamed
from agon.disciplines.arena.ratings.clusters import NO_VERDICTS, Verdicts, verdicts_of
from agon.disciplines.arena.ratings.covariates import covariates_of, matches_by
from agon.disciplines.arena.ratings.deciding import RatedMatches
from agon.disciplines.arena.ratings.modeled import is_modeled
from agon.disciplines.arena.ratings.rating_history import RatingHistory, rating_history
from agon.disciplines.arena.ratings.strength_explanations import explain_strength
from agon.disciplines.arena.ratings.strengths import Strengths, strengths_board, strengths_of
from agon.disciplines.arena.ratings.substitutes import rate_anyway
from agon.disciplines.arena.rules import BOARDS, ArenaRules
from agon.errors import NotFound, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.ratings.weighted_pairs import weigh_pairs
from agon.records import Records
from agon.records.relational import RelationalRecords

_LISTED = 200  # maximum number of ids compared and listed in a message


def score(records: Records, rules: ArenaRules) -> "ScoredArena":
    """Score records under rules; boards and explanations are computed on demand."""
    if isinstance(records, RelationalRecords):
        return EngineArena(records, rules)
    if streamed.is_large(records):
        return LargeArena(records, rules)
    return ScoredArena(facts_of(records), rules, records=records)


def score_contest(records: Records, rules: ArenaRules) -> "ScoredArena":
    """Score the records of a contest: as :func:`score`, but with ratings wherever there can be any.

    See :func:`~agon.disciplines.arena.ratings.substitutes.rate_anyway`.
    """
    scored = score(records, rules)
    scored.rates_anyway = True
    return scored


class ScoredArena:
    """A scored arena; records are read and ratings computed once for all its boards.

    Attributes:
        facts: the records.
        rules: the rules.
        rates_anyway: whether rules of Bradley–Terry give way where records do not say what they
            ask for.
    """

    rates_anyway = False

    def __init__(self, facts: Facts, rules: ArenaRules, *, records: Records | None = None) -> None:
        self.facts = facts
        self.rules = rules
        self._source = records

    @cached_property
    def results(self) -> Results:
        """The outcome of each match."""
        return results_of(self.facts, self.rules)

    @cached_property
    def ratings(self) -> Ratings:
        """The Elo ratings and the matches that made them."""
        return ratings_of(self.facts, self.results, self.rules)

    @property
    def bots(self) -> Bots:
        """The bots in id order."""
        return self.facts.bots

    @property
    def rating(self) -> Vector:
        """The Elo rating of every bot."""
        return self.ratings.rating

    @cached_property
    def standings(self) -> Standings:
        """The results of all bots."""
        return standings_of(self.facts, self.ratings)

    @cached_property
    def pairs(self) -> PairCounts:
        """The outcomes of every pair of bots."""
        made = self.ratings
        return weigh_pairs(made.a, made.b, made.score, made.weight, players=len(self.bots))

    @cached_property
    def credibilities(self) -> Credibilities:
        """The judges' credibility and the events that made it."""
        return credibilities_of(self.facts, self.results, self.rules)

    @cached_property
    def strengths(self) -> Strengths:
        """The Bradley–Terry strengths with their intervals.

        Raises:
            NotScorable: where no finite rating fits best and no regularization is set.
        """
        return self._rated[0]

    @property
    def strength_rules(self) -> ArenaRules:
        """The rules that the strengths follow from."""
        return self._rated[1]

    @cached_property
    def _rated(self) -> tuple[Strengths, ArenaRules]:
        if self.rates_anyway:
            return rate_anyway(self._rate, self.rules)
        return self._rate(self.rules), self.rules

    def _rate(self, rules: ArenaRules) -> Strengths:
        return strengths_of(
            self.bots, self.standings, self.pairs, rules, verdicts=lambda: self._verdicts(rules)
        )

    def _verdicts(self, rules: ArenaRules) -> Verdicts:
        """Return the rated matches, with what they may depend on."""
        made = verdicts_of(self.facts.matches, self.ratings)
        if not is_modeled(rules):
            return made
        match = self.ratings.match
        covariates = covariates_of(self.facts, match, rules, records=self._source)
        return replace(made, covariates=covariates)

    def _rated_matches(self) -> RatedMatches | None:
        """Return the rated matches with their ids; None: single ones are not at hand."""
        places = self.ratings.match
        return RatedMatches(
            self.bots,
            ScoredArena._verdicts(self, self.strength_rules),
            self.strength_rules,
            lambda index: self.facts.matches.names(places[index]),
        )

    def within(self, column: str) -> dict[str, "ScoredArena"]:
        """Return the arena of the matches with each value of a column of the matches.

        Raises:
            NotScorable: the matches have no such column, or too many values of it.
        """
        parts = matches_by(column, self.facts, records=self._source)
        return {
            value: ScoredArena(facts, self.rules, records=self._source)
            for value, facts in parts.items()
        }

    @cached_property
    def _boards(self) -> dict[str, Board]:
        return {}

    def board(self, name: str) -> Board:
        """Return a board.

        Raises:
            NotFound: the board does not exist.
            NotScorable: Bradley–Terry strengths do not exist, with the bots and the remedy.
        """
        if name not in self._boards:
            self._boards[name] = self._make_board(name)
        return self._boards[name]

    def _make_board(self, name: str) -> Board:
        if name == boards.BOTS:
            return boards.bots_board(self.bots, self.rating, self.standings, self.rules)
        if name == boards.JUDGES:
            quality = quality_of(self.facts, self.results, self.rules)
            return boards.judges_board(
                self.facts, self.standings.games, self.credibilities, quality, self.rules
            )
        if name == boards.BRADLEY_TERRY:
            return strengths_board(self.bots, self.standings, self.strengths, self.strength_rules)
        raise NotFound(f"arena has no board {name!r}: {did_you_mean(name, BOARDS)}")

    def explain(self, name: str, *, board: str) -> Explanation:
        """Explain an id's score on a board; an unscored one with its reason.

        Raises:
            NotFound: the id is not in the records.
            NotScorable: as for the board.
        """
        board_shown = self.board(board)
        if board == boards.JUDGES:
            return explanations.explain_judge(
                self._number(name, board),
                board=board_shown,
                facts=self.facts,
                games=self.standings.games,
                results=self.results,
                credibilities=self.credibilities,
                rules=self.rules,
            )
        bot = self._number(name, board)
        if board == boards.BRADLEY_TERRY:
            return explain_strength(
                bot,
                board=board_shown,
                bots=self.bots,
                strengths=self.strengths,
                rules=self.strength_rules,
                matches_of=self._rated_matches,
            )
        return explanations.explain_bot(
            bot,
            board=board_shown,
            facts=self.facts,
            ratings=self.ratings,
            history=self.rating_history,
            rules=self.rules,
        )

    @cached_property
    def rating_history(self) -> RatingHistory:
        """The ratings of both bots before each rated match."""
        return rating_history(self.ratings, start=self.rules.elo_start)

    def _number(self, name: str, board: str) -> int:
        """Return the index of an id among bots or judges, whichever the board ranks."""
        kind, other_kind = ("judge", "bot") if board == boards.JUDGES else ("bot", "judge")
        ids = self._ids(kind)
        index = int(pc.index(ids, pa.scalar(name, pa.string())).as_py())
        if index >= 0:
            return index
        if pc.index(self._ids(other_kind), pa.scalar(name, pa.string())).as_py() >= 0:
            other_board = boards.BOTS if other_kind == "bot" else boards.JUDGES
            raise NotFound(f"{name!r} is a {other_kind}, not a {kind}: look at board {other_board}")
        few = len(ids) <= _LISTED
        hint = did_you_mean(name, ids.to_pylist()) if few else f"there are {len(ids):,}"
        raise NotFound(f"there is no {kind} {name!r} in the records: {hint}")

    def _ids(self, kind: str) -> pa.Array:
        """Return the ids of all bots or judges."""
        return self.bots.ids if kind == "bot" else self.facts.judges.ids


class LargeArena(ScoredArena):
    """A scored arena that reads its matches for each board, and holds them for explanations."""

    def __init__(self, records: Records, rules: ArenaRules) -> None:
        self._records = records
        self.rules = rules

    @cached_property
    def facts(self) -> Facts:  # type: ignore[override]  # computed on first use
        """All that explanations and other boards need."""
        return facts_of(self._records)

    @cached_property
    def bots(self) -> Bots:
        """The bots in id order."""
        return bots_of(self._records)

    @property
    def rating(self) -> Vector:
        """The Elo rating of every bot."""
        return self._folded[0]

    @property
    def standings(self) -> Standings:
        """The results of all bots, of which Elo and the counts of pairs take note too."""
        return self._folded[1] if "_folded" in vars(self) else self._counted[1]

    @property
    def pairs(self) -> PairCounts:
        """The outcomes of every pair of bots."""
        return self._counted[0]

    def _verdicts(self, rules: ArenaRules) -> Verdicts:
        """Return the rated matches, which are read only where any depend on others."""
        if is_modeled(rules) or streamed.has_clusters(self._records):
            return super()._verdicts(rules)
        return NO_VERDICTS

    @cached_property
    def _folded(self) -> tuple[Vector, Standings]:
        return streamed.fold_matches(self._records, self.bots, self.rules)

    @cached_property
    def _counted(self) -> tuple[PairCounts, Standings]:
        return streamed.count_matches(self._records, self.bots, self.rules)


class EngineArena(ScoredArena):
    """A scored arena whose matches and votes are counted in an engine, for boards of bots."""

    def __init__(self, records: RelationalRecords, rules: ArenaRules) -> None:
        self._records = records
        self.rules = rules

    @property
    def facts(self) -> Facts:  # type: ignore[override]  # there are none
        """Raise ``Conflict``: matches and votes stay in the engine."""
        raise self._records.needs_rows("what names single matches or votes")

    def _make_board(self, name: str) -> Board:
        if name == boards.JUDGES:
            raise self._records.needs_rows(f"the board {name}")
        return super()._make_board(name)

    @cached_property
    def bots(self) -> Bots:
        """The bots in id order."""
        return relational.read_bots(self._records)

    @cached_property
    def rating(self) -> Vector:
        """The Elo rating of every bot."""
        return relational.fold_ratings(self._records, self.bots, self.rules)

    def _verdicts(self, rules: ArenaRules) -> Verdicts:
        """Return the rated matches, with what they may depend on."""
        if is_modeled(rules):
            raise self._records.needs_rows("ratings with a model of ties, position or styles")
        return relational.verdicts(self._records, self.bots, rules)

    def _rated_matches(self) -> None:
        """Return nothing: single matches stay in the engine."""
        return

    @cached_property
    def standings(self) -> Standings:
        """The results of all bots."""
        return relational.standings(self._records, self.bots, self.pairs, self.rules)

    @cached_property
    def pairs(self) -> PairCounts:
        """The outcomes of every pair of bots."""
        return relational.pairs(self._records, self.bots, self.rules)

    def _ids(self, kind: str) -> pa.Array:
        return self.bots.ids if kind == "bot" else pa.array([], pa.string())
