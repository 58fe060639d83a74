"""Read and store which honeypots the judges of a round saw, so that none is shown to one twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from agon.app.arena.live.matches import matches_of
from agon.disciplines.arena.rounds.honeypot_memory import HoneypotMemory, remember
from agon.entities.arena import ArenaRound
from agon.entities.contests import Contest
from agon.store.session import Session


def memory_of(session: Session, contest: Contest, arena_round: ArenaRound) -> HoneypotMemory:
    """Return the honeypots that a round's judges saw, in their latest votes and in this round."""
    drawable = {
        judge
        for drawn, match in matches_of(arena_round)
        for judge in (*drawn["judges"], *drawn["reserves"], *shown_to(match))
    }
    memory = HoneypotMemory(session.arena.recent_templates(contest.no, drawable))
    for drawn, match in matches_of(arena_round):
        templates = templates_of(drawn, match)
        memory.show(shown_to(match), templates)
        if "weak" in match:  # who wrote a text knows it
            memory.show([match["weak"]["bot"]], templates)
    return memory


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


def remember_round(session: Session, contest: Contest, arena_round: ArenaRound) -> None:
    """Record what the judges of a settled round saw; an ordinary vote ends the memory, too."""
    matches = []
    for drawn, match in matches_of(arena_round):
        templates = templates_of(drawn, match)
        voters = [vote["judge_id"] for vote in match["votes"]]
        matches.append(([*voters, *(shown_to(match) if templates else ())], templates))
    judges = {judge for shown, _ in matches for judge in shown}
    recent = session.arena.recent_templates(contest.no, judges)
    session.arena.set_recent_templates(contest.no, remember(recent, matches))
