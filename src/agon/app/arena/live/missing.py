"""Name what is missing for a round: what bars every round, or who and what is not there yet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agon.app.arena.live.names import played_elsewhere
from agon.app.arena.live.scored import live_rules
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, LiveBot
from agon.entities.contests import Contest
from agon.ledger.transitions import over_text
from agon.store.session import Session


@dataclass(frozen=True)
class Available:
    """Who can play and judge now.

    Attributes:
        ready: the owner of each qualified bot that plays; None where unknown.
        judges: number of judges that can judge.
        newcomers: number of those that are newcomers.
        has_model: whether a model judges where judges are missing; then the numbers do not matter.
    """

    ready: Mapping[str, str | None]
    judges: int
    newcomers: int
    has_model: bool


def available_by(scores: Mapping[str, Any]) -> Available:
    """Return who can play and judge by the scores that a job read."""
    return Available(
        {entrant["id"]: entrant["owner_id"] for entrant in scores["entrants"]},
        judges=len(scores["judges"]),
        newcomers=len(scores["newcomers"]),
        has_model=scores["has_model"],
    )


def bars_to_round(
    session: Session, contest: Contest, last: Sequence[ArenaRound]
) -> tuple[str, ...]:
    """Return why no round can begin now, however many bots and judges there are."""
    if (exceeding := over_text(contest, remedy="no more rounds are drawn")) is not None:
        return (exceeding,)
    elsewhere = played_elsewhere(session, contest)
    if elsewhere is not None:
        return (elsewhere,)
    if last and last[0].phase != "settled":
        return (f"round {last[0].id} is being played; wait until it is settled",)
    return ()


def lacks_of_round(session: Session, contest: Contest, available: Available) -> tuple[str, ...]:
    """Return all that is missing for a round that nothing bars, what costs least first.

    An organizer adds prompts alone; bots come from their owners, and judges have to be there now.
    """
    rules, bots = live_rules(contest), session.arena.bots(contest.no)
    checks = (_missing_prompts(session, contest), _missing_bots(bots, available.ready, rules),
              _missing_judges(available, rules))  # fmt: skip
    return tuple(issue for issue in checks if issue is not None)


def _missing_bots(
    bots: Sequence[LiveBot], ready: Mapping[str, str | None], rules: ArenaRules
) -> str | None:
    owners = {owner or name for name, owner in ready.items()}
    if len(owners) >= 2:  # noqa: PLR2004 - a match has two bots
        return None
    paused = [bot.id for bot in bots if bot.paused is not None]
    waiting = [bot.id for bot in bots if bot.paused is None and bot.id not in ready]
    what = "qualified bots" if rules.qualification_required else "bots"
    owned = {bot.owner_id for bot in bots}
    steps = (
        f"end the pause of {_some(paused)}" if paused else "",
        f"let these qualify: {_some(waiting)}" if waiting else "",
        "register bots" if len(owned) < 2 else "",  # noqa: PLR2004 - as above
    )
    remedy = "; ".join(filter(None, steps)) or "register a bot of another owner"
    return f"{what} of two owners are needed, there are those of {len(owners)}; {remedy}"


def _some(names: Sequence[str], *, most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _missing_prompts(session: Session, contest: Contest) -> str | None:
    if any(not prompt.retired for prompt in session.arena.prompts(contest.no)):
        return None
    return f"there are no prompts; add some with agon arena prompts {contest.id} FILE"


def _missing_judges(available: Available, rules: ArenaRules) -> str | None:
    needed = rules.judges_per_match
    can_judge = available.judges - max(0, available.newcomers - rules.newcomers_per_panel)
    if can_judge >= needed or available.has_model:
        return None
    judges = "judge" if needed == 1 else "judges"
    return (
        f"a match needs {needed} {judges}, {can_judge} can judge now, and no model is configured; "
        "let people open the page Vote (or ask for work), let bots that judge qualify, or "
        "configure [arena.judge]"
    )


def no_round_text(issues: Iterable[str]) -> str:
    """Return the message of a round that cannot begin."""
    return f"no round can begin: {'; '.join(issues)}"
