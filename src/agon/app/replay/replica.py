"""Read a contest's ledger into columns in memory, entry by entry, and score it at any position.

A score is a pure function of the records at a position, so no part of a score is carried over to
the next: new records are appended to the columns, and the same formulas run on them. To replay a
contest is to read its ledger into an empty :class:`ContestReplica` from line 1.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from agon.app.analysis.score import Result, rules_of
from agon.app.garbage import gc_paused
from agon.app.replay.adjustments import AdjustedScores
from agon.app.replay.unscored import UnscorableRecords
from agon.disciplines import ScoredRecords, discipline
from agon.entities.contests import Contest
from agon.errors import Conflict, NotScorable
from agon.kernel.progress import count_steps
from agon.ledger.fold import Adjustment, ContestState, LedgerState, empty_ledger, fold
from agon.ledger.spans import FOREVER, Integers, Spans
from agon.records.append_only import AppendOnlyTables
from agon.records.raw import MemoryEngine
from agon.records.tables import TablesView

if TYPE_CHECKING:
    from agon.store.session import Session  # whose packages are those of an extra

_CHUNK = 50_000
_HEAD = 32  # bytes of a head
_MAX_REUSED_ENTRIES = 100_000
"""Maximum length of a ledger whose results are kept in memory to be used again."""
_MAX_REUSED = 2
"""Maximum number of results and views kept: of a position, and of one to compare it with."""


class ContestReplica:
    """The part of a contest's ledger that was read: its state, and its records as columns.

    For use by one thread at a time; results read its columns when they are used.

    Args:
        contest: the contest's id.
        engine: where to store the columns; None starts a new engine.

    Example:
        >>> replica = ContestReplica("spring")
        >>> replica.seq
        0
        >>> replica.close()
    """

    def __init__(self, contest: str, *, engine: MemoryEngine | None = None) -> None:
        self.contest = contest
        self._engine = engine
        self._state = empty_ledger(contest)
        self._growing: AppendOnlyTables | None = None
        self._heads = bytearray(self._state.contest.head)
        self._results: dict[int, Result] = {}
        self._views: dict[int, TablesView] = {}

    @property
    def seq(self) -> int:
        """Return the position of the newest entry read; 0 before the first."""
        return self._state.contest.seq

    @property
    def state(self) -> LedgerState:
        """Return the contest's state at the last position that was read."""
        return self._state

    def contest_state(self, at: int | None = None) -> ContestState:
        """Return what the contest was at a position (None: the newest), with the head there.

        Raises:
            Conflict: the ledger was not read as far as that.
        """
        if at is None or at == self.seq:
            return self._state.contest
        self._expect(at)
        head = bytes(self._heads[_HEAD * at : _HEAD * (at + 1)])
        return replace(self._state.contest_at(at), seq=at, head=head)

    def catch_up(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Read further lines of the ledger with their positions; those read already are skipped.

        Raises:
            InvalidEntry: a line cannot follow those before it; what came before its batch of
                the lines has been taken in.
        """
        last = self.seq
        new = iter(line for seq, line in lines if seq > last)
        while chunk := list(islice(new, _CHUNK)):
            with gc_paused():
                self._take(chunk)

    def read(self, session: "Session", contest: Contest) -> None:
        """Read further entries of a contest in a database, up to the newest."""
        entries = session.entries.after(contest.no, self.seq)
        counted = count_steps(entries, label="reading entries", total=contest.seq - self.seq)
        self.catch_up((entry.seq, entry.line) for entry in counted)

    def records(self, at: int | None = None, *, without: Collection[int] = ()) -> TablesView:
        """Return the records at a position.

        Args:
            at: the position (None: the newest).
            without: positions of records to leave out.

        Raises:
            Conflict: nothing has been read, or not as far as that.
        """
        position = self.seq if at is None else at
        self._expect(position)
        if self._growing is None:
            raise Conflict(f"nothing of {self.contest} has been read; catch up first")
        if without:
            return self._growing.records(position, without=without)
        if position not in self._views:
            _keep(self._views, position, self._growing.records(position))
        return self._views[position]

    def result(
        self,
        *,
        at: int | None = None,
        edition: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        without: Collection[int] = (),
        adjustments: Sequence[Adjustment] = (),
        discloses: Callable[[str], bool] | None = None,
    ) -> Result:
        """Score the contest at a position, including the adjustments in force there.

        Other values than the ledger's serve to preview a change. Where the records cannot be
        scored, the boards and explanations of the result raise NotScorable with the reason.

        Args:
            at: the position (None: the newest).
            edition: another edition than the one in force there.
            overrides: other overrides than those in force there.
            without: positions of records to leave out.
            adjustments: more adjustments than those in force there.
            discloses: whether explanations disclose how many terms of submissions to a problem
                are right; None: as the rules say.

        Raises:
            Conflict: nothing has been read, or not as far as that.
            NotFound, InvalidRule: there are no such rules.
        """
        position = self.seq if at is None else at
        if edition is None and overrides is None and not without:
            result = self._reusable(position)
        else:
            result = self._result(position, edition, overrides, without)
        scored, withhold = result.scored, result.discipline.withhold
        is_scorable = not isinstance(scored, UnscorableRecords)
        if discloses is not None and withhold is not None and is_scorable:
            scored = withhold(scored, discloses)
        in_force = (*self.state.adjustments_at(position), *adjustments)
        if in_force:
            shared = result.discipline.traits.shares_ranks(result.rules)
            scored = AdjustedScores(scored, in_force, shared=shared)
        return replace(result, scored=scored)

    def _reusable(self, position: int) -> Result:
        """Return the result at a position; the last ones of a short ledger are reused."""
        if (result := self._results.get(position)) is not None:
            return result
        result = self._result(position, None, None, ())
        if self.seq <= _MAX_REUSED_ENTRIES and not isinstance(result.scored, UnscorableRecords):
            _keep(self._results, position, result)
        return result

    def _result(
        self,
        position: int,
        edition: str | None,
        overrides: Mapping[str, Any] | None,
        without: Collection[int],
    ) -> Result:
        """Score the records at a position, before adjustments."""
        records = self.records(position, without=without)
        state = self.contest_state(position)
        chosen = discipline(state.discipline)
        released, rules = rules_of(
            chosen.name,
            state.edition if edition is None else edition,
            state.overrides if overrides is None else overrides,
        )
        scored: ScoredRecords
        try:
            scored = (chosen.score_contest or chosen.score)(records, rules)
        except NotScorable as error:
            scored = UnscorableRecords(error)
        return Result(chosen, released, rules, records, None, scored)

    def records_about(self, people: Collection[str]) -> tuple[list[int], set[str]]:
        """Return the positions of the records about some participants, and whom there are any of.

        Participants are named by their ids on boards; the discipline's columns of participants
        (``Discipline.participant_columns``) determine which a record is about.
        """
        records = self.records()
        positions: set[int] = set()
        known: set[str] = set()
        for table, column in discipline(self.contest_state().discipline).participant_columns:
            rows = records.rows_where(table, column, people)
            positions.update(rows)
            known.update(rows.values())
        return sorted(positions), known

    def close(self) -> None:
        """Release the columns; a second call does nothing."""
        self._results = {}
        self._views = {}
        if self._growing is not None:
            self._growing.close()

    def _expect(self, at: int) -> None:
        if at > self.seq:
            raise Conflict(
                f"{self.contest} was read to entry {self.seq}, not to {at}; catch up first"
            )

    def _take(self, lines: list[bytes]) -> None:
        rows: dict[str, tuple[list[Mapping[str, Any]], list[int]]] = {}

        def add(seq: int, table: str, row: Mapping[str, Any]) -> None:
            if table not in rows:
                rows[table] = ([], [])
            rows[table][0].append(row)
            rows[table][1].append(seq)

        before = self._state
        heads = bytearray()
        state = fold(lines, start=before, on_record=add, heads=heads)
        growing = self._growing or self._start_tables(state.contest.discipline)
        for table, (values, seqs) in rows.items():
            growing.append(table, values, seqs)
        _show(growing, before.spans, state.spans)
        self._state = state
        self._heads += heads

    def _start_tables(self, discipline_name: str) -> AppendOnlyTables:
        source = f"ledger of {self.contest}"
        schema = discipline(discipline_name).schema
        self._growing = AppendOnlyTables(schema, engine=self._engine, source=source)
        return self._growing


def _keep(cache: dict[int, Any], position: int, value: object) -> None:
    """Keep what was made of a position, instead of the oldest if there are too many."""
    cache[position] = value
    if len(cache) > _MAX_REUSED:
        del cache[next(iter(cache))]


def _show(growing: AppendOnlyTables, old: Spans, new: Spans) -> None:
    """Hide and show records where their validity intervals have changed."""
    for (seq, ending), turns in groupby(sorted(_turns(old, new)), key=lambda turn: turn[:2]):
        seqs = [record for _, _, record in turns]
        if ending:
            growing.end(seqs, at=seq)
        else:
            growing.begin(seqs, at=seq)


def _turns(old: Spans, new: Spans) -> Iterator[tuple[int, bool, int]]:
    """Return the differences of new spans from old ones: position, whether it ends, record."""
    size = len(old)
    begun = np.zeros(len(new), dtype=bool)
    ended = np.zeros(len(new), dtype=bool)
    if np.array_equal(new.record[:size], old.record) and np.array_equal(
        new.since[:size], old.since
    ):
        begun[:size] = True
        ended[:size] = old.until != FOREVER
    else:
        # Spans have been put in between: find the old ones by record and beginning.
        keys, old_keys = _keys(new), _keys(old)
        begun = np.isin(keys, old_keys)
        ended = np.isin(keys, old_keys[old.until != FOREVER])
    begins = ~begun & (new.since != new.record)
    ends = ~ended & (new.until != FOREVER)
    for index in np.flatnonzero(begins).tolist():
        yield int(new.since[index]), False, int(new.record[index])
    for index in np.flatnonzero(ends).tolist():
        yield int(new.until[index]), True, int(new.record[index])


def _keys(spans: Spans) -> Integers:
    # Positions are far below 2^31: a ledger of so many lines would not fit a disk.
    keys: Integers = (spans.record << 31) + spans.since
    return keys
