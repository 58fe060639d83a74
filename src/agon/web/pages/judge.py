"""The page of a judge: its credibility, how it judges, and what keeps it from the pool."""

from dataclasses import replace

from agon.web.page import SitePage, Visit
from agon.web.pages.live.arena import arena
from agon.web.pages.person import person


def judge(visit: Visit) -> SitePage:
    """Return why a judge has its credibility, how it judges, and what keeps it from the pool.

    Raises:
        NotFound: there is no such judge, or the discipline has no rounds.
    """
    _, rounds = arena(visit)
    page = person(replace(visit, query={"board": rounds.judges, **visit.query}))
    report = visit.api.rounds.judge(visit.path["contest"], visit.path["id"], as_of=visit.as_of)
    return replace(page, template="judge.html", values={**page.values, "report": report})
