"""Rate players by Elo: a fold over matches in order of play, which resumes from any state."""

from dataclasses import dataclass
from math import copysign, exp, floor, log
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.compiling import COMPILED_FROM, compile_loop
from agon.kernel.rounding import half_away

_HALF = 0.5
_MAX_EXPONENT = 700.0  # exp overflows just above; beyond it an expectation is 0 or 1 all the same


@dataclass(frozen=True, eq=False)
class EloState:
    """Every player's rating and number of rated matches, player ``p`` at index ``p``."""

    ratings: npt.NDArray[np.float64]
    games: npt.NDArray[np.int64]

    @classmethod
    def fresh(cls, players: int = 0, *, start: float) -> "EloState":
        """Return the state of ``players`` new players, all at ``start`` and without a match."""
        return cls(np.full(players, float(start)), np.zeros(players, dtype=np.int64))

    def with_players(self, players: int, *, start: float) -> "EloState":
        """Return the state with new players, up to ``players`` in all, rated ``start``."""
        newcomers = EloState.fresh(max(0, players - len(self.ratings)), start=start)
        return EloState(
            np.concatenate([self.ratings, newcomers.ratings]),
            np.concatenate([self.games, newcomers.games]),
        )


@dataclass(frozen=True, eq=False)
class Fold:
    """The state after the matches, and by how much each match moved its two players.

    A player's rating is ``start`` plus its changes added up in order of play, to the last bit.
    """

    state: EloState
    change_a: npt.NDArray[np.float64]
    change_b: npt.NDArray[np.float64]


def expected_score(rating: float, opponent: float, *, scale: float) -> float:
    """Expect a score against an opponent: E = 1 / (1 + 10^((R_opp - R) / scale)).

    Source: document 003, Elo; ``scale`` is the rating distance at which the odds are ten to one.

    Example:
        >>> expected_score(1000, 1000, scale=400)
        0.5
        >>> round(expected_score(1400, 1000, scale=400), 6)  # 10 / 11
        0.909091
    """
    return 1.0 / (1.0 + exp(min((opponent - rating) * (log(10.0) / scale), _MAX_EXPONENT)))


def rating_change(
    rating: float,
    opponent: float,
    score: float,
    *,
    k: float,
    scale: float,
    round_changes: bool,
) -> float:
    """Return a rating's change by one match: K (S - E), rounded half away from zero on request.

    ``score`` is 1 for a win, 0.5 for a tie, 0 for a loss. Source: document 003, Elo.

    Example:
        >>> rating_change(1200, 1000, 1, k=32, scale=400, round_changes=True)
        8.0
        >>> rating_change(1000, 1200, 1, k=32, scale=400, round_changes=True)
        24.0
    """
    change = k * (score - expected_score(rating, opponent, scale=scale))
    return half_away(change) if round_changes else change


def fold(  # noqa: PLR0913  # the state, three columns and each number of the rule
    state: EloState,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score_a: npt.ArrayLike,
    *,
    k_new: float,
    k_established: float,
    games_established: int,
    scale: float,
    start: float,
    round_changes: bool,
    compiled: bool | None = None,
) -> Fold:
    """Play matches in order from a state: each moves A by K_A (S - E) and B by -K_B (S - E).

    Both expectations come from the ratings before the match (B's is 1 - E, its score 1 - S). A
    player's K is ``k_new`` while it has fewer than ``games_established`` rated matches *before*
    this one, else ``k_established``; with unequal K a match is not zero-sum. Folding a prefix and
    then the rest gives the same bits as folding all. The input state is not modified.

    Args:
        state: where to resume; players beyond it enter at ``start``.
        a: player numbers of one side, one per match, in order of play.
        b: player numbers of the other side.
        score_a: 1 when A won, 0.5 on a tie, 0 when B won.
        k_new: K-factor of newcomers.
        k_established: K-factor from ``games_established`` matches on.
        games_established: rated matches after which a player counts as established.
        scale: rating distance at which the odds are ten to one.
        start: rating of a newcomer.
        round_changes: round each change to an integer, half away from zero.
        compiled: whether to run compiled code; None: where there are enough matches for it.

    Raises:
        NotScorable: when a player is matched with itself or a score is outside 0 … 1.
        ValueError: when the three columns differ in length or a player number is negative.

    Source: document 003, Elo.

    Example:
        >>> rule = {"k_new": 32, "k_established": 16, "games_established": 30, "scale": 400,
        ...         "start": 1000, "round_changes": True}
        >>> after = fold(EloState.fresh(start=1000), [0, 0], [1, 1], [1, 0.5], **rule)
        >>> after.state.ratings.tolist(), after.change_a.tolist()
        ([1015.0, 985.0], [16.0, -1.0])
    """
    player_a, player_b, scores = _matches(a, b, score_a)
    players = int(max(player_a.max(), player_b.max())) + 1 if len(player_a) else 0
    grown = state.with_players(players, start=start)
    rule = (
        float(k_new), float(k_established), games_established, log(10.0) / scale, round_changes,
    )  # fmt: skip
    if len(player_a) >= COMPILED_FROM if compiled is None else compiled:
        changes = np.empty((2, len(player_a)))
        compile_loop(_play)(grown.ratings, grown.games, player_a, player_b, scores, *changes, *rule)
        return Fold(grown, changes[0], changes[1])
    return _interpret(grown, player_a, player_b, scores, rule)


def _interpret(
    state: EloState,
    a: npt.NDArray[np.int32],
    b: npt.NDArray[np.int32],
    score_a: npt.NDArray[np.float64],
    rule: tuple[float, float, int, float, bool],
) -> Fold:
    """Play matches without compiled code, which takes longer to load than a few matches take."""
    # Lists: the interpreter reads them three times faster than arrays.
    ratings, games = state.ratings.tolist(), state.games.tolist()
    change_a, change_b = [0.0] * len(a), [0.0] * len(a)
    a_list, b_list, scores = a.tolist(), b.tolist(), score_a.tolist()
    _play(ratings, games, a_list, b_list, scores, change_a, change_b, *rule)
    return Fold(
        EloState(np.array(ratings, dtype=np.float64), np.array(games, dtype=np.int64)),
        np.array(change_a, dtype=np.float64),
        np.array(change_b, dtype=np.float64),
    )


def _play(  # noqa: PLR0913, PLR0917  # a compiled loop takes its columns and numbers one by one
    ratings: Any,
    games: Any,
    a: Any,
    b: Any,
    score_a: Any,
    change_a: Any,
    change_b: Any,
    k_new: float,
    k_established: float,
    games_established: int,
    step: float,
    round_changes: bool,  # noqa: FBT001  # numba calls by position
) -> None:
    """Apply the matches in place: the source of both the interpreted and the compiled fold."""
    for match in range(len(a)):
        player_a, player_b = a[match], b[match]
        gap = (ratings[player_b] - ratings[player_a]) * step
        # exp of a large gap overflows; the bound changes no double, since the share is 0 either
        # way.
        expected = 1.0 / (1.0 + exp(min(gap, _MAX_EXPONENT)))
        surprise = score_a[match] - expected
        moved_a = (k_new if games[player_a] < games_established else k_established) * surprise
        moved_b = -(k_new if games[player_b] < games_established else k_established) * surprise
        if round_changes:
            floor_moved = floor(abs(moved_a))
            # Half away from zero, as in the source document; + 0.0 turns −0.0 into 0.0, whose
            # bytes are stored.
            moved_a = copysign(floor_moved + (abs(moved_a) - floor_moved >= _HALF), moved_a) + 0.0
            floor_moved = floor(abs(moved_b))
            moved_b = copysign(floor_moved + (abs(moved_b) - floor_moved >= _HALF), moved_b) + 0.0
        ratings[player_a] += moved_a
        ratings[player_b] += moved_b
        games[player_a] += 1
        games[player_b] += 1
        change_a[match] = moved_a
        change_b[match] = moved_b


def _matches(
    a: npt.ArrayLike, b: npt.ArrayLike, score_a: npt.ArrayLike
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Check the three columns of matches once, so that the loop need not."""
    player_a = np.ascontiguousarray(a, dtype=np.int32)
    player_b = np.ascontiguousarray(b, dtype=np.int32)
    scores = np.ascontiguousarray(score_a, dtype=np.float64)
    if not len(player_a) == len(player_b) == len(scores):
        raise ValueError(
            f"{len(player_a)}, {len(player_b)} and {len(scores)} rows; expected one per match"
        )
    if len(player_a) and min(player_a.min(), player_b.min()) < 0:
        raise ValueError("a player number is negative; expected numbers from 0 on")
    if (alone := player_a == player_b).any():
        raise NotScorable(
            f"match {int(alone.argmax())} sets player {player_a[alone.argmax()]} against itself; "
            "leave such rows out"
        )
    if len(scores) and not (scores.min() >= 0.0 and scores.max() <= 1.0):  # NaN fails as well
        row = int(((scores >= 0.0) & (scores <= 1.0)).argmin())
        raise NotScorable(f"match {row} has score {scores[row]}; it must lie between 0 and 1")
    return player_a, player_b, scores
