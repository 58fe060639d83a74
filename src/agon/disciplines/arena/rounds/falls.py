"""State which judges fell below the active threshold by the matches of a round judged so far."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agon.disciplines.arena.rules import ArenaRules


@dataclass(frozen=True, kw_only=True)
class JudgedMatch:
    """A match of a round with all votes of its panel.

    Attributes:
        match: its id.
        real: the real side of a honeypot; None: an ordinary match.
        sides: the side that each judge voted for, or ``tie``.
    """

    match: str
    real: str | None
    sides: Mapping[str, str]


def fallen_judges(
    credibility: Mapping[str, int], judged: Iterable[JudgedMatch], *, rules: ArenaRules
) -> dict[str, str]:
    """Return the match by which each judge fell below the threshold, in the order of the matches.

    Audits are not known yet; otherwise the credibility moves as by the records of the round.

    Args:
        credibility: of the judges before the round.
        judged: the matches that were judged, in the order of the round.
        rules: what moves a credibility, and the threshold.

    Example:
        >>> fooled = JudgedMatch(match="r7-1", real="a", sides={"ann": "b", "bob": "a"})
        >>> fallen_judges({"ann": 60, "bob": 60}, [fooled], rules=ArenaRules())
        {'ann': 'r7-1'}
    """
    now, fell = dict(credibility), dict[str, str]()
    for judged_match in judged:
        for judge, side in judged_match.sides.items():
            if judge not in now:
                continue
            now[judge] = max(
                rules.credibility_floor,
                now[judge] + _change(judged_match, judge, side, rules=rules),
            )
            if rules.credibility_ceiling is not None:
                now[judge] = min(rules.credibility_ceiling, now[judge])
            if now[judge] < rules.credibility_active:
                fell.setdefault(judge, judged_match.match)
    return fell


def worst_change(*, is_honeypot: bool, rules: ArenaRules) -> int:
    """Return how much one match can take from a judge, apart from its audit."""
    return rules.credibility_honeypot if is_honeypot else rules.credibility_disagree


def _change(judged_match: JudgedMatch, judge: str, side: str, *, rules: ArenaRules) -> int:
    """Return what a vote changes."""
    if judged_match.real is not None:
        return 0 if side in {judged_match.real, "tie"} else -rules.credibility_honeypot
    others = rules.credibility_consensus == "others"
    sides = [each for who, each in judged_match.sides.items() if not (others and who == judge)]
    verdict = most_voted(sides)
    if others and verdict == "tie" and not _is_most("tie", sides):
        verdict = None
    if side == verdict:
        return rules.credibility_agree
    return 0 if verdict is None else -rules.credibility_disagree


def most_voted(sides: Iterable[str]) -> str | None:
    """Return the side with strictly most votes, otherwise a tie; None without votes.

    Example:
        >>> most_voted(["a", "b", "a"]), most_voted(["a", "b"]), most_voted([])
        ('a', 'tie', None)
    """
    voted = list(sides)
    return next((side for side in ("a", "b") if _is_most(side, voted)), "tie" if voted else None)


def _is_most(side: str, sides: list[str]) -> bool:
    """Return whether a side has more votes than each other."""
    return all(sides.count(side) > sides.count(other) for other in {"a", "b", "tie"} - {side})
