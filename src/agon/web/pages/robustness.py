"""The page that states how robust the ranks of an arena's bots are."""

from agon.web import addresses
from agon.web.page import Page, Visit
from agon.web.pages.arena import arena
from agon.web.pages.empty import or_empty


@or_empty
def robustness(visit: Visit) -> Page:
    """Return how few matches change the first ranks, and the noise of Elo ratings as bands."""
    contest = arena(visit)
    shown = visit.api.rounds.robustness(contest.id, as_of=visit.as_of)
    ends = [end for band in shown.bands for end in (band.low, band.high)]
    lowest, highest = min(ends, default=0.0), max(ends, default=1.0)
    return Page(
        template="robustness.html",
        title=f"Robustness · {contest.title}",
        values={
            "contest": contest,
            "shown": shown,
            "lowest": lowest,
            "scale": 100 / (highest - lowest) if highest > lowest else 0.0,
            "as_of": visit.as_of,
        },
        data=addresses.api("contests", contest.id, "robustness", as_of=visit.as_of),
    )
