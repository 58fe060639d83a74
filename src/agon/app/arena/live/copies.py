"""State which answers of a settled match copy earlier ones, and whose those are."""

from collections.abc import Iterator, Mapping
from typing import Any

from agon.app.arena.live.earlier_answers import author_of
from agon.app.arena.live.matches import SIDES, matches_of
from agon.disciplines.arena.checks.plagiarism import are_copies
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound
from agon.entities.arena_reports import CopiedAnswer
from agon.store.session import Session


def copied_answers(
    session: Session, arena_round: ArenaRound, drawn: Mapping[str, Any], match: Mapping[str, Any]
) -> Iterator[CopiedAnswer]:
    """Yield the answers of a match that copy an earlier one (rule ``plagiarism_scope``).

    Answers of one match that equal each other are not among them: which is the copy is unknown.

    Args:
        session: the database.
        arena_round: the settled round.
        drawn: the match as it was drawn.
        match: what is stored of it.
    """
    threshold = ArenaRules(**arena_round.body["rules"]).plagiarism_jaccard
    for copied in match.get("copies", ()):
        side, source = copied["side"], copied["of"]
        earlier = session.arena.round(arena_round.contest_no, source.rpartition("-")[0])
        author = author_of(arena_round, drawn[f"bot_{side}"])
        bots = (
            bot
            for before, stored in matches_of(earlier)
            if before["match"] == source
            for other in SIDES
            if (bot := before[f"bot_{other}"]) is not None
            and other in stored["answers"]
            and author_of(earlier, bot) != author
            and are_copies(
                match["answers"][side]["text"],
                stored["answers"][other]["text"],
                threshold=threshold,
            )
        )
        if (bot := next(bots, None)) is not None:
            yield CopiedAnswer(side=side, match=source, bot=bot)
