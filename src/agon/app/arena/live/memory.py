"""Remember which honeypots a judge saw lately, so that no template is shown to it twice."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from agon.app.arena.live.matches import matches_of
from agon.disciplines.arena.rounds.honeypots import MEMORY_VOTES
from agon.entities.arena import ArenaRound
from agon.entities.contests import Contest
from agon.store.session import Session

_BETWEEN: Final = "|"
"""Separates the templates of one honeypot; an ordinary vote is remembered as an empty text."""


class Memory:
    """What the judges of a round saw: in their latest votes, and in this round so far."""

    def __init__(self, session: Session, contest: Contest, of: ArenaRound) -> None:
        drawable = {
            judge
            for drawn, match in matches_of(of)
            for judge in (*drawn["judges"], *drawn["reserves"], *shown_to(match))
        }
        recent = session.arena.recent_templates(contest.no, drawable)
        self._recent = {judge: list(seen) for judge, seen in recent.items()}
        for drawn, match in matches_of(of):
            self.show(shown_to(match), templates_of(drawn, match))

    def seen(self, judges: Iterable[str]) -> list[str]:
        """Return the templates that any of some judges saw, those seen longest ago first."""
        votes = [self._votes(judge)[::-1] for judge in judges]
        latest_first = [vote for places in zip_longest(*votes, fillvalue="") for vote in places]
        return [name for vote in latest_first[::-1] for name in vote.split(_BETWEEN) if name]

    def show(self, judges: Iterable[str], templates: Sequence[str]) -> None:
        """Note that some judges of this round see a honeypot with these templates."""
        for judge in judges if templates else ():
            self._votes(judge).append(_BETWEEN.join(templates))

    def _votes(self, judge: str) -> list[str]:
        return self._recent.setdefault(judge, [])


def shown_to(match: Mapping[str, Any]) -> list[str]:
    """Return the judges that saw the answers of a match, those that were replaced too."""
    return [*match["panel"], *(each["judge"] for each in match["replaced"])]


def templates_of(drawn: Mapping[str, Any], match: Mapping[str, Any]) -> Sequence[str]:
    """Return the templates of the robotic answer of a honeypot; none for other matches."""
    if drawn["honeypot_real"] is None:
        return ()
    robotic = "b" if drawn["honeypot_real"] == "a" else "a"
    templates: Sequence[str] = match["answers"].get(robotic, {}).get("templates", ())
    return templates


def remember_round(session: Session, contest: Contest, of: ArenaRound) -> None:
    """Record what the judges of a settled round saw; an ordinary vote ends the memory, too."""
    saw: dict[str, list[str]] = {}
    for drawn, match in matches_of(of):
        templates = templates_of(drawn, match)
        voters = [vote["judge_id"] for vote in match["votes"]]
        for judge in dict.fromkeys([*voters, *(shown_to(match) if templates else ())]):
            saw.setdefault(judge, []).append(_BETWEEN.join(templates))
    before = session.arena.recent_templates(contest.no, saw)
    session.arena.set_recent_templates(
        contest.no,
        {judge: (*before.get(judge, ()), *names)[-MEMORY_VOTES:] for judge, names in saw.items()},
    )
