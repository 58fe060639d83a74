"""An arena contest ``spring`` with generated records, in any number."""

from agon.app.access.permissions import View, find_view
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.ledgers import ImportSummary
from fakes.service import ORGANISER

BOTS = tuple("abcdefgh")
JUDGES = ("j1", "j2", "j3")


def spring(
    service: Service, *, matches: int = 8, boards: tuple[str, ...] | None = ("bots", "judges")
) -> Contest:
    """Create and open the contest with bots, judges and a number of matches."""
    new = NewContest(id="spring", discipline="arena", title="Spring", boards=boards)
    create(service, new, by=ORGANISER)
    contest = open_contest(service, "spring", by=ORGANISER)
    people = [("bots", {"id": bot, "name": bot}, None) for bot in (*BOTS, "idle")]
    people += [("judges", {"id": judge, "kind": "person"}, None) for judge in JUDGES]
    record(service, "spring", people, by=ORGANISER)
    play(service, 1, matches)
    return contest


def play(service: Service, first: int, last: int) -> ImportSummary:
    """Record the matches with these numbers, each with three votes."""
    rows = []
    for number in range(first, last + 1):
        left, right = BOTS[number % 8], BOTS[(number * 3 + 1 + number // 8) % 8]
        if left == right:
            right = BOTS[(number + 1) % 8]
        match = {"id": f"m{number}", "bot_a": left, "bot_b": right, "kind": "rated"}
        rows.append(("matches", {**match, "played_at": _time(number, 0)}, None))
        for place, judge in enumerate(JUDGES):
            vote = {"match_id": f"m{number}", "judge_id": judge, "shown_first": "a"}
            vote["vote"] = "A" if (number * 7 + place // 2) % 3 else "B"
            rows.append(("votes", {**vote, "voted_at": _time(number, 1 + place)}, None))
    return record(service, "spring", rows, by=ORGANISER)


def view(service: Service, caller: Caller, contest: str = "spring") -> View:
    """Return a caller's view of a contest at the current time."""
    with service.store.read() as session:
        return find_view(session, contest, caller, now=service.clock())


def _time(number: int, second: int) -> str:
    return f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:{second:02}Z"
