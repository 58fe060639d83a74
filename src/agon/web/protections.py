"""Which protections that the rules of a contest promise are off, for pages of its rules."""

from agon.api.models.contests import Contest
from agon.disciplines import discipline
from agon.web.page import Visit


def protections_off(visit: Visit, contest: Contest) -> dict[str, str]:
    """Return why protections that rules promise are off, by rule; for the rules in force."""
    if visit.as_of is not None or discipline(contest.discipline).rounds is None:
        return {}
    return {each.rule: each.cause for each in visit.api.rounds.protections(contest.id).items}
