"""Score a community: facts once for all users, boards and explanations on demand."""

from collections.abc import Callable, Mapping

from agon.disciplines.community import boards, explanations
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.relational_facts import RelationalFacts
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.tally import Tally
from agon.errors import NotFound, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation
from agon.records import Records
from agon.records.relational import RelationalRecords

_MAX_COMPARED = 10_000
"""Maximum number of ids a misspelled one is compared with."""


def score(records: Records, rules: CommunityRules) -> "Community":
    """Score a community's records under its rules."""
    if isinstance(records, RelationalRecords):
        return Community(RelationalFacts(records, rules))
    return Community(Facts(records, rules))


class Community:
    """A scored community; each board is computed when it is first needed."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.tally = Tally(facts)
        self._boards: dict[str, Board] = {}

    def board(self, name: str) -> Board:
        """Return ``user-score``, ``contributor``, ``reviewer`` or ``combined``.

        Raises:
            NotFound: the board does not exist.
        """
        if name not in _BOARDS:
            raise NotFound(f"community has no board {name!r}: {did_you_mean(name, _BOARDS)}")
        if name not in self._boards:
            self._boards[name] = _BOARDS[name][0](self)
        return self._boards[name]

    def explain(self, name: str, *, board: str) -> Explanation:
        """Explain a user's score on a board.

        Raises:
            NotFound: the user or board does not exist; the message suggests one.
        """
        if isinstance(self.facts, RelationalFacts):
            raise self.facts.records.needs_rows("an explanation")
        shown = self.board(board)
        person = int(self.facts.people_at([name])[0])
        if person < 0:
            known = self.facts.people.text[:_MAX_COMPARED].to_pylist()
            raise NotFound(f"there is no user {name!r}: {did_you_mean(name, known)}")
        return _BOARDS[board][1](self.tally, person, shown)


def _combined_board(community: Community) -> Board:
    names = ("user-score", "contributor", "reviewer")
    return boards.combined_board(community.tally, {name: community.board(name) for name in names})


_BOARDS: Mapping[
    str, tuple[Callable[[Community], Board], Callable[[Tally, int, Board], Explanation]]
] = {
    "user-score": (lambda scored: boards.user_score(scored.tally), explanations.user_score),
    "contributor": (lambda scored: boards.contributor(scored.facts), explanations.contributor),
    "reviewer": (lambda scored: boards.reviewer(scored.facts), explanations.reviewer),
    "combined": (_combined_board, explanations.explain_combined),
}
"""The functions that build each board and explain a row of it."""
