"""Count in several tables at once: planning a statement takes longer than reading few rows."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

Numbers: TypeAlias = Callable[[], tuple[int, ...]]
"""Returns numbers that were asked for; their statement runs by then at the latest."""

T = TypeVar("T")


class Counts:
    """Whole numbers that are asked of relations, which are read when the first is needed.

    Args:
        connection: the engine.
        together: whether one statement answers all that was asked by then, as of few rows. Of many
            rows, each relation is read by a statement of its own, so that one sort or hash table
            at a time needs memory, and numbers that are never needed cost nothing.

    Example:
        >>> import duckdb
        >>> counts = Counts(duckdb.connect(), together=True)
        >>> three = counts.ask(["count(*)", "max(range)"], "range(3)")
        >>> five = counts.ask(["count(*)"], "range(5)")
        >>> three(), five()
        ((3, 2), (5,))
    """

    def __init__(self, connection: Any, *, together: bool) -> None:
        self.connection = connection
        self.together = together
        self._asked: list[str] = []
        self._answers: dict[int, tuple[int, ...]] = {}

    def ask(self, values: Sequence[str], relation: str) -> Numbers:
        """Ask for the values of aggregates over a relation; return a function that gives them.

        Args:
            values: SQL of whole numbers.
            relation: the SQL after ``FROM``.
        """
        if not values:
            return tuple
        place = len(self._asked)
        self._asked.append(f"SELECT {place}, [{', '.join(values)}] FROM {relation}")
        return lambda: self._answer(place)

    def _answer(self, place: int) -> tuple[int, ...]:
        if place not in self._answers:
            places = range(len(self._asked)) if self.together else [place]
            queries = (self._asked[each] for each in places if each not in self._answers)
            rows = self.connection.execute(" UNION ALL ".join(queries)).fetchall()
            self._answers.update({each: tuple(numbers) for each, numbers in rows})
        return self._answers[place]


def failing(
    connection: Any, conditions: Iterable[tuple[T, str, str]], *, together: bool = False
) -> set[T]:
    """Return the subjects of which a condition is not true in every row.

    Args:
        connection: the engine.
        conditions: subjects, each with a relation and a condition that is never NULL there.
        together: as of :class:`Counts`.

    Example:
        >>> import duckdb
        >>> conditions = [("small", "range(3)", "range < 3"), ("odd", "range(3)", "range % 2 = 1")]
        >>> failing(duckdb.connect(), conditions)
        {'odd'}
    """
    asked_of = list(conditions)
    first = {subject: (subject, relation, condition) for subject, relation, condition
             in reversed(asked_of)}  # fmt: skip
    # What does not hold mostly shows it in the first row: look at one condition of each there.
    found = _violated(connection, first.values(), "(SELECT * FROM {} LIMIT 1)", together=together)
    rest = [each for each in asked_of if each[0] not in found]
    return found | _violated(connection, rest, "{}", together=together)


def _violated(
    connection: Any, conditions: Iterable[tuple[T, str, str]], rows: str, *, together: bool
) -> set[T]:
    """Return the subjects of which a condition is not true in some rows of their relation."""
    by_relation: dict[str, list[tuple[T, str]]] = {}
    for subject, relation, condition in conditions:
        by_relation.setdefault(relation, []).append((subject, f"count_if(NOT ({condition}))"))
    counts, found = Counts(connection, together=together), set[T]()
    asked = [
        ([subject for subject, _ in items],
         counts.ask([counted for _, counted in items], rows.format(relation)))
        for relation, items in by_relation.items()
    ]  # fmt: skip
    for subjects, numbers in asked:
        if not found.issuperset(subjects):
            found |= {subject for subject, count in zip(subjects, numbers(), strict=True) if count}
    return found
