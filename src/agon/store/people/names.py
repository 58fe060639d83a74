"""Store the names of participants, and the texts by which a search finds them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from sqlalchemy import delete, select

from agon.kernel.text.names import beginnings
from agon.store.connection.transaction import Transaction
from agon.store.paging import next_text
from agon.store.schema import NAME_BEGINNINGS, NAME_POSITIONS, PARTICIPANT_NAMES

_AT_A_TIME: Final = 500
_SHOWN: Final = "since <= ? AND (until IS NULL OR until > ?)"
_NOT_HIDDEN: Final = """NOT EXISTS (
  SELECT 1 FROM member_terms t
  WHERE t.contest_no = {0}.contest_no AND t.user_id = {0}.id AND t.hidden_at IS NOT NULL)"""
_TABLES: Final = (NAME_BEGINNINGS, PARTICIPANT_NAMES, NAME_POSITIONS)


class Names:
    """The names of participants of contests that show them; derived from records.

    Each has the positions of the ledger at which it is shown: from the publication that first had
    it to the one that did not, so that a board of the past keeps its names.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def of(self, contest_no: int, ids: Sequence[str], *, at: int) -> dict[str, str]:
        """Return the names at a position of those participants that have one, by id.

        Names that organizers hide are left out at every position.
        """
        return self._read(contest_no, ids, at=at, only=_NOT_HIDDEN.format("participant_names"))

    def _read(
        self, contest_no: int, ids: Sequence[str], *, at: int, only: str = "1 = 1"
    ) -> dict[str, str]:
        names: dict[str, str] = {}
        for start in range(0, len(ids), _AT_A_TIME):
            part = ids[start : start + _AT_A_TIME]
            rows = self._transaction.query(
                "SELECT id, name FROM participant_names WHERE contest_no = ? "
                f"AND id IN ({', '.join('?' * len(part))}) AND {_SHOWN} AND {only}",
                [contest_no, *part, at, at],
            )
            names |= dict(rows)
        return names

    def exist(self, contest_no: int) -> bool:
        """Return whether any participant of a contest has a name, or had one."""
        sql = "SELECT 1 FROM participant_names WHERE contest_no = ? LIMIT 1"
        return bool(self._transaction.query(sql, [contest_no]))

    def beginning(
        self, contest_no: int, prefix: str, *, at: int, after: tuple[str, str] | None, limit: int
    ) -> list[tuple[str, str]]:
        """Return folded texts that begin with one, each with the id it is of, in order.

        Args:
            contest_no: the contest.
            prefix: the text, folded, at least one character.
            at: the position.
            after: text and id before the first; None: from the beginning.
            limit: maximum number of texts.
        """
        first = (prefix, "") if after is None else after
        end = next_text(prefix)
        bound, bounds = ("", []) if end is None else ("AND folded < ? ", [end])
        rows = self._transaction.query(
            "SELECT folded, id FROM name_beginnings WHERE contest_no = ? AND (folded, id) > (?, ?) "
            f"{bound}AND {_SHOWN} AND {_NOT_HIDDEN.format('name_beginnings')} "
            "ORDER BY folded, id LIMIT ?",
            [contest_no, *first, *bounds, at, at, limit],
        )
        return [(text, name) for text, name in rows]

    def position(self, contest_no: int) -> int | None:
        """Return the position at which the names of a contest were stored.

        0 or less: those at its absolute value, and a part of later ones; None: none were.
        """
        asking = select(NAME_POSITIONS.c.seq).where(NAME_POSITIONS.c.contest_no == contest_no)
        seq: int | None = self._transaction.scalar(asking)
        return seq

    def set_position(self, contest_no: int, seq: int) -> None:
        """Store the position at which names are stored, negative while only a part of others is."""
        self._transaction.upsert(NAME_POSITIONS, {"contest_no": contest_no, "seq": seq})

    def replace(
        self, contest_no: int, ids: Collection[str], names: Mapping[str, str], *, at: int
    ) -> None:
        """Store the names of participants in place of those they had, which stay those before.

        Args:
            contest_no: the contest.
            ids: all of them.
            names: their names; those without one have none any more.
            at: the position from which they are shown, not before any at which names were replaced.
        """
        before = self._read(contest_no, list(ids), at=at)
        changed = [name for name in ids if before.get(name) != names.get(name)]
        gone = {name: before[name] for name in changed if name in before}
        if gone:
            self._transaction.execute_many(
                "UPDATE name_beginnings SET until = ? WHERE contest_no = ? AND folded = ? "
                "AND id = ? AND until IS NULL",
                [(at, *text) for text in _texts(contest_no, gone)],
            )
            self._transaction.execute_many(
                "UPDATE participant_names SET until = ? WHERE contest_no = ? AND id = ? "
                "AND until IS NULL",
                [(at, contest_no, name) for name in gone],
            )
        new = {name: names[name] for name in changed if name in names}
        rows = [(contest_no, name, at, full, None) for name, full in sorted(new.items())]
        self._transaction.load(PARTICIPANT_NAMES, rows)
        texts = ((*text, at, None) for text in sorted(_texts(contest_no, new)))
        self._transaction.load(NAME_BEGINNINGS, texts)

    def clear(self, contest_no: int) -> None:
        """Delete all names of a contest."""
        for table in _TABLES:
            self._transaction.change(delete(table).where(table.c.contest_no == contest_no))


def _texts(contest_no: int, names: Mapping[str, str]) -> list[tuple[int, str, str]]:
    return [(contest_no, text, name) for name, full in names.items() for text in beginnings(full)]
