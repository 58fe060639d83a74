"""Count the outcomes of every pair: all that Bradley–Terry needs to know of a million matches."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.compiling import COMPILED_FROM, compile_loop

_OUTCOMES = 3  # of the lower-numbered player: lost, tied, won
_SMALL_TABLE = 1 << 22  # cells that fit into a cache; beyond, sorting is faster
_BLOCK = 1 << 14  # matches that are numbered before they are counted
_FEW_IN_A_PAIR = 40  # matches on average, up to which hardly a pair has 256 with one outcome
_FAULTY, _FULL = 1, 2  # why a compiled count stopped
_U0, _U1, _U2, _U3 = (np.uint64(number) for number in range(4))  # unsigned, as indices are

Amounts: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.float64]  # one number for each pair


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The wins of each side and the ties of every pair with a match.

    Pairs are in ascending order of ``(i, j)`` with ``i < j``, each once; memory grows with the
    pairs that met, not with matches or with players squared. ``players`` counts all players, also
    those without a match.
    """

    players: int
    i: npt.NDArray[np.int32]
    j: npt.NDArray[np.int32]
    won_i: npt.NDArray[np.int32]
    won_j: npt.NDArray[np.int32]
    tied: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.i)

    @property
    def matches(self) -> npt.NDArray[np.int32]:
        """Count the matches of each pair."""
        matches = self.won_i + self.tied
        matches += self.won_j  # in place: new memory takes longer than the sum
        return matches

    @property
    def exchanged(self) -> npt.NDArray[np.bool_]:
        """Return in which pairs both sides scored."""
        return (self.tied > 0) | ((self.won_i > 0) & (self.won_j > 0))

    @property
    def weights(self) -> Amounts:
        """Sum the weights of the matches of each pair, each of weight 1 here."""
        return self.matches

    @property
    def wins_i(self) -> npt.NDArray[np.float64]:
        """Sum the scores of ``i`` in each pair: wins and half the ties."""
        return self.won_i + self.tied / 2

    @property
    def wins_j(self) -> npt.NDArray[np.float64]:
        """Sum the scores of ``j`` in each pair: wins and half the ties."""
        return self.won_j + self.tied / 2

    @property
    def parts_of_wins_i(self) -> tuple[Amounts, Amounts]:
        """Return the wins and the ties of ``i``, as they are stored: half of a tie is a win."""
        return self.won_i, self.tied

    @property
    def squared_weights(self) -> Amounts:
        """Sum the squared weights of the matches of each pair, each of weight 1 here."""
        return self.weights

    def squared_residuals(self, wins: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sum (weight · (score − p))² over the matches of each pair, p the chance that i wins."""
        return self.won_i * (1.0 - wins) ** 2 + self.tied * (0.5 - wins) ** 2 + self.won_j * wins**2

    def of_players(self) -> npt.NDArray[np.float64]:
        """Count the matches of every player."""
        return self.to_players(self.matches, self.matches)

    def points(self) -> npt.NDArray[np.float64]:
        """Sum the score of every player: wins and half the ties."""
        return self.to_players(self.wins_i, self.wins_j)

    def to_players(self, to_i: npt.ArrayLike, to_j: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Add up per player what each pair gives its two sides."""
        return np.add(
            np.bincount(self.i, np.asarray(to_i, dtype=np.float64), self.players),
            np.bincount(self.j, np.asarray(to_j, dtype=np.float64), self.players),
            dtype=np.float64,
        )

    def select(self, players: npt.NDArray[np.bool_]) -> "PairCounts":
        """Return the matches among some players, who are numbered again from 0."""
        numbers = np.cumsum(players) - 1
        inner = players[self.i] & players[self.j]
        chosen = {
            name: getattr(self, name)[inner]
            for name in (field.name for field in fields(self))
            if name not in ("players", "i", "j")
        }
        return replace(
            self,
            players=int(np.count_nonzero(players)),
            i=numbers[self.i[inner]].astype(np.int32),
            j=numbers[self.j[inner]].astype(np.int32),
            **chosen,
        )

    def results(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the wins, losses and ties of every player."""

        def total(of_i: npt.NDArray[np.int32], of_j: npt.NDArray[np.int32]) -> Any:
            counted = np.zeros(self.players, dtype=np.int64)
            np.add.at(counted, self.i, of_i)
            np.add.at(counted, self.j, of_j)
            return counted

        return (
            total(self.won_i, self.won_j),
            total(self.won_j, self.won_i),
            total(self.tied, self.tied),
        )

    def resample(self, dice: np.random.Generator) -> "PairCounts":
        """Draw as many matches again, with replacement, and count them.

        One multinomial draw over the outcomes that occurred is the same lottery as drawing match
        by match. A pair that is not drawn is left out.
        """
        cells = np.column_stack([self.won_j, self.tied, self.won_i]).ravel()
        drawn = np.flatnonzero(cells)
        total = int(cells.sum())
        again = np.zeros_like(cells)
        if total:
            again[drawn] = dice.multinomial(total, cells[drawn] / total)
        return _from_table(self.players, self.i, self.j, again.reshape(-1, _OUTCOMES))


def count_pairs(
    a: npt.ArrayLike, b: npt.ArrayLike, score_a: npt.ArrayLike, *, players: int
) -> PairCounts:
    """Count the outcomes of every pair of players.

    Args:
        a: player numbers 0 … ``players`` - 1 of one side, one per match, in any order.
        b: player numbers of the other side.
        score_a: 1 when A won, 0.5 on a tie, 0 when B won.
        players: how many players there are.

    Raises:
        NotScorable: when a player is matched with itself or a score is not one of the three.
        ValueError: when the columns differ in length or a number is out of range or not an integer.

    Example:
        >>> counts = count_pairs([0, 1, 0], [1, 0, 2], [1, 0.5, 0], players=3)
        >>> counts.i.tolist(), counts.j.tolist(), counts.wins_i.tolist(), counts.wins_j.tolist()
        ([0, 0], [1, 2], [1.5, 0.0], [0.5, 1.0])
    """
    player_a, player_b = _as_integers(a), _as_integers(b)
    scores = np.asarray(score_a, dtype=np.float64)
    if not len(player_a) == len(player_b) == len(scores):
        raise ValueError(
            f"{len(player_a)}, {len(player_b)} and {len(scores)} rows; expected one per match"
        )
    if len(player_a) >= COMPILED_FROM:
        # An invalid row ends the compiled pass; the interpreted one then raises the error.
        counted = _count_compiled(player_a, player_b, scores, players)
        if counted is not None:
            return counted
    return _from_cells(
        *np.unique(_cells(player_a, player_b, scores, players), return_counts=True), players
    )


def sum_pairs(
    a: npt.ArrayLike, b: npt.ArrayLike, score_a: npt.ArrayLike, n: npt.ArrayLike, *, players: int
) -> PairCounts:
    """Add up matches that are counted already, by player numbers and score.

    Args:
        a: player numbers of one side, in any order; pairs may repeat.
        b: player numbers of the other side.
        score_a: 1 when A won, 0.5 on a tie, 0 when B won.
        n: the number of such matches.
        players: how many players there are.

    Raises:
        NotScorable, ValueError: as :func:`count_pairs` does.

    Example:
        >>> counts = sum_pairs([0, 1], [1, 0], [1, 1], [7, 2], players=2)
        >>> counts.won_i.tolist(), counts.won_j.tolist()
        ([7], [2])
    """
    player_a, player_b = _as_integers(a), _as_integers(b)
    cells = _cells(player_a, player_b, np.asarray(score_a, dtype=np.float64), players)
    distinct, place = np.unique(cells, return_inverse=True)
    count = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(count, place, np.asarray(n, dtype=np.int64))
    return _from_cells(distinct, count, players)


def merge_pairs(some: PairCounts, others: PairCounts) -> PairCounts:
    """Return the outcomes of two sets of matches of the same players.

    Example:
        >>> one, other = (count_pairs([0], [b], [1], players=3) for b in (1, 2))
        >>> both = merge_pairs(merge_pairs(one, other), one)
        >>> both.i.tolist(), both.j.tolist(), both.won_i.tolist()
        ([0, 0], [1, 2], [2, 1])
    """
    size = np.int64(max(some.players, 1))
    pairs = np.concatenate([each.i * size + each.j for each in (some, others)])
    distinct, place = np.unique(pairs, return_inverse=True)
    table = np.zeros((len(distinct), _OUTCOMES), dtype=np.int32)
    begin = 0
    for each in (some, others):
        rows = place[begin : begin + len(each)]  # each pair once
        table[rows] += np.column_stack([each.won_j, each.tied, each.won_i])
        begin += len(each)
    i, j = np.divmod(distinct, size)
    return _from_table(some.players, i.astype(np.int32), j.astype(np.int32), table)


def _as_integers(numbers: npt.ArrayLike) -> npt.NDArray[np.integer]:
    """Return player numbers unchanged if they are integers; an empty list may have any type."""
    array = np.asarray(numbers)
    if len(array) and array.dtype.kind not in "iu":
        raise ValueError(f"expected whole numbers of players, got type {array.dtype}")
    return array if array.dtype.kind in "iu" else array.astype(np.int64)


def _cells(
    player_a: npt.NDArray[np.integer],
    player_b: npt.NDArray[np.integer],
    scores: npt.NDArray[np.float64],
    players: int,
) -> npt.NDArray[np.int64]:
    """Number each match by its pair and outcome, (i · players + j) · 3 + outcome of i, checked."""
    low = np.minimum(player_a, player_b).astype(np.int64)
    high = np.maximum(player_a, player_b).astype(np.int64)
    if len(player_a) and (low.min() < 0 or high.max() >= players):
        raise ValueError(f"expected player numbers from 0 to {players - 1}, got another")
    if (alone := low == high).any():
        row = int(alone.argmax())
        raise NotScorable(f"match {row} sets player {low[row]} against itself; leave such rows out")
    if not (known := np.isin(scores, (0.0, 0.5, 1.0))).all():
        row = int(known.argmin())
        raise NotScorable(f"match {row} has score {scores[row]}; expected 1, 0.5 or 0")
    outcome = (2.0 * scores).astype(np.int64)
    return (low * players + high) * _OUTCOMES + np.where(player_a < player_b, outcome, 2 - outcome)


def _from_cells(
    cell: npt.NDArray[np.int64], count: npt.NDArray[np.int64], players: int
) -> PairCounts:
    """Return the pairs of distinct ascending cells."""
    pair, outcome = np.divmod(cell, _OUTCOMES)
    opens = np.diff(pair, prepend=-1) != 0
    table = np.zeros((np.count_nonzero(opens), _OUTCOMES), dtype=np.int32)
    table[np.cumsum(opens) - 1, outcome] = count
    i, j = np.divmod(pair[opens], max(players, 1))
    return _from_table(players, i.astype(np.int32), j.astype(np.int32), table)


def _count_compiled(
    player_a: npt.NDArray[np.integer],
    player_b: npt.NDArray[np.integer],
    scores: npt.NDArray[np.float64],
    players: int,
) -> PairCounts | None:
    """Count many matches: in a table while it is small, else by sorting; None if one is faulty."""
    size = players * (players - 1) // 2 * _OUTCOMES
    listed = size > _SMALL_TABLE
    # A block of numbers is still in the cache when it is counted.
    cells = np.empty(max(len(player_a), 1) if listed else _BLOCK, dtype=np.int64)
    # A quarter of the memory is filled in less time; a pair with more than 255 needs the whole.
    few = len(player_a) <= _FEW_IN_A_PAIR * players * players // 2
    for kind in (np.uint8, np.int32) if few else (np.int32,):
        table = np.zeros(0 if listed else size, dtype=kind)
        stopped = compile_loop(_sort_out)(
            player_a, player_b, scores, players, cells, table, np.iinfo(kind).max
        )
        if stopped != _FULL:
            break
    if stopped == _FAULTY:
        return None
    # One column more: it is written before it is known whether its pair met.
    columns = min(len(player_a), size // _OUTCOMES) + 1
    counted = np.empty((2 + _OUTCOMES, columns), dtype=np.int32)
    if listed:
        cells = cells[: len(player_a)]
        cells.sort()
        pairs = compile_loop(_read_cells)(cells, players, *counted)
    else:
        pairs = compile_loop(_read_table)(table, players, *counted)
    i, j, won_j, tied, won_i = counted[:, :pairs]
    return PairCounts(players, i, j, won_i, won_j, tied)


def _sort_out(  # a compiled loop takes its columns one by one
    player_a: Any, player_b: Any, scores: Any, players: int, cells: Any, table: Any, most: int
) -> int:
    """Check and number each match as :func:`_cells` does, as many at a time as there are cells.

    If there is a table, count the numbers in it, less those of no pair with low < high; else there
    are cells for all of them. Return 0, or why it stopped: a faulty match, or a full cell.
    """
    counted = len(table) > 0
    for begin in range(0, len(player_a), len(cells)):
        rows = slice(begin, begin + len(cells))
        of_a, of_b, of_score = player_a[rows], player_b[rows], scores[rows]
        # A loop without branches: the processor takes several matches in one instruction.
        sound = True
        for row in range(len(of_a)):
            a, b = np.int64(of_a[row]), np.int64(of_b[row])
            low, high = min(a, b), max(a, b)
            doubled = 2.0 * of_score[row]
            outcome = np.int64(doubled)
            sound &= (outcome == doubled) & (outcome >= 0) & (outcome < _OUTCOMES)
            sound &= (low >= 0) & (low < high) & (high < players)
            of_low = outcome + np.int64(a > b) * (2 - 2 * outcome)
            no_pairs = counted * ((low + 1) * (low + 2) >> 1)  # numbers up to here
            cells[row] = (low * players + high - no_pairs) * _OUTCOMES + of_low
        if not sound:
            return _FAULTY
        for row in range(len(of_a) if counted else 0):
            cell = np.uint64(cells[row])  # a signed index is compared with 0 first
            count = table[cell]
            if count == most:
                return _FULL
            table[cell] = count + 1
    return 0


def _read_cells(  # a compiled loop writes its columns one by one
    cells: Any, players: int, i: Any, j: Any, lost: Any, tied: Any, won: Any
) -> int:
    """Read the pairs off ascending cells; return how many there are."""
    pair, last = -1, -1
    for cell in cells:
        number = cell // _OUTCOMES
        if number != last:
            pair += 1
            last = number
            i[pair] = number // players
            j[pair] = number - (number // players) * players
            lost[pair] = tied[pair] = won[pair] = 0
        doubled = cell - number * _OUTCOMES
        lost[pair] += doubled == 0
        tied[pair] += doubled == 1
        won[pair] += doubled > 1
    return pair + 1


def _read_table(  # a compiled loop writes its columns one by one
    table: Any, players: int, i: Any, j: Any, lost: Any, tied: Any, won: Any
) -> int:
    """Read the pairs off a table of cells; return how many there are."""
    pair = cell = _U0
    for low in range(players):
        for high in range(low + 1, players):
            losses, ties, wins = table[cell], table[cell + _U1], table[cell + _U2]
            i[pair], j[pair] = low, high
            lost[pair], tied[pair], won[pair] = losses, ties, wins
            # Without a branch on it: whether a pair met is a toss.
            pair += np.uint64((losses > 0) | (ties > 0) | (wins > 0))
            cell += _U3
    return int(pair)


def _from_table(
    players: int,
    i: npt.NDArray[np.int32],
    j: npt.NDArray[np.int32],
    table: npt.NDArray[np.integer],
) -> PairCounts:
    """Return the pairs with a match from a table of (lost, tied, won) per pair."""
    met = table[:, 0] + table[:, 1] + table[:, 2] > 0
    if not met.all():
        i, j, table = i[met], j[met], table[met]
    won_j, tied, won_i = np.ascontiguousarray(table.T, dtype=np.int32)
    return PairCounts(players=players, i=i, j=j, won_i=won_i, won_j=won_j, tied=tied)


def names_text(players: npt.ArrayLike, names: Sequence[str] | None, *, most: int = 5) -> str:
    """Return players' names for a message: the first few in order, then how many more."""
    numbers = np.atleast_1d(np.asarray(players)).tolist()
    shown = [f"player {p}" if names is None else names[p] for p in numbers[:most]]
    rest = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return ", ".join(shown) + rest
