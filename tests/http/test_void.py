"""Each operation that changes a contest is refused while it is void, or is listed with a reason."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_bytes
from typing import Any

import pytest

from agon.api.catalog import all_operations
from agon.app.access.invitations import NewInvitation, accept, invite
from agon.app.access.permissions import ANONYMOUS, LOCAL
from agon.app.arena.live.work import work_of_bot
from agon.app.contests.changes.change_sets import apply as apply_change
from agon.app.contests.changes.change_sets import dry_run, propose
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.finality import restore, void
from agon.app.contests.lifecycle.transitions import open_contest
from fakes.arena import League, Model, league
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER

REASON = "a leak"
REFUSAL = f"is void ({REASON}) and takes nothing more"

MEANINGFUL = {
    "appealCase": "a case is about people, and goes on",
    "cancelChangeSet": "what was proposed and never applied can be cleared away",
    "changeWebhook": "receivers still learn what happens",
    "closeCase": "a case is about people, and goes on",
    "createNextSeason": "another contest replaces this one",
    "createWebhook": "receivers still learn what happens",
    "decideCase": "a case is about people, and goes on",
    "editContest": "a typo is corrected; start and end stay",
    "hideMember": "who asks for it is not named, whatever the contest is",
    "noteCase": "a case is about people, and goes on",
    "openCase": "a case is about people, and goes on",
    "redeliver": "receivers still learn what happens",
    "reinstateMember": "it counts if the contest is restored",
    "rejectJoinRequest": "nobody waits for ever",
    "removeWebhook": "receivers still learn what happens",
    "restoreContest": "that is how it counts again",
    "revealProblem": "the contest is over, as after a final result",
    "revokeInvitation": "a code that was lost is revoked",
    "rotateBotSecret": "a secret that was lost is replaced",
    "scanFindings": "findings inform; they change nothing",
    "testWebhook": "receivers still learn what happens",
    "unhideMember": "a name that was hidden by mistake is shown",
    "withdrawMember": "it counts if the contest is restored",
}
"""The operations that a void contest takes, and why."""

OF_CONTESTS = {
    each.id: each for each in all_operations() if each.method != "GET" and "{contest}" in each.url
}
REFUSED = sorted(OF_CONTESTS.keys() - MEANINGFUL)


@dataclass
class Cups:
    """A void contest of each kind, with what operations need to name.

    Attributes:
        names: the last placeholder of each operation that has one.
    """

    instance: Instance
    league: League
    names: dict[str, str]


@pytest.fixture(scope="module")
def cups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cups]:
    """Open a community, an arena and a dojo, with change sets and open work, and void all."""
    folder = Path(tmp_path_factory.mktemp("void"))
    arena = league(folder, bots=2, pulling=("b1",))
    arena.model = Model()
    service = replace(arena.service, random=token_bytes)  # an arena of the tests throws no dice
    instance, bot = instance_at(folder, service=service), arena.bot("b1").id
    instance.contest("spring")
    create(service, NewContest(id="winter", discipline="dojo", title="Winter"), by=ORGANISER)
    for name in ("winter", "autumn"):
        open_contest(service, name, by=LOCAL)
    changes = []
    for points in (1, 2):
        params = {"board": "user-score", "id": "u1", "points": points}
        made = propose(service, "spring", kind="adjustment", params=params, reason="r", by=LOCAL)
        dry_run(service, "spring", made.id)
        changes.append(made.id)
    apply_change(service, "spring", changes[0], by=LOCAL)
    _, code = invite(service, "spring", NewInvitation(approval=True), by=ORGANISER)
    waiting = accept(service, code, user="nina", name="Nina", by=ANONYMOUS)
    _, code = invite(service, "spring", NewInvitation(), by=ORGANISER)
    accept(service, code, user="nora", by=ANONYMOUS)
    arena.play()
    (work,) = work_of_bot(service, "autumn", bot, by=LOCAL)
    for name in ("spring", "autumn", "winter"):
        void(service, name, reason=REASON, by=LOCAL)
    names = {
        "applyChangeSet": changes[1], "approveJoinRequest": waiting.token.id, "changeBot": bot,
        "extendMember": "nora", "handIn": work["id"], "qualifyBot": bot,
        "queueDryRun": changes[1], "rollBackChangeSet": changes[0], "changes": changes[1],
    }  # fmt: skip
    yield Cups(instance, arena, names)
    instance.close()


CONTESTS = {
    "addHoneypotAnswers": "autumn", "addHumanAnswers": "autumn", "addPrompts": "autumn",
    "addVotes": "autumn", "changeBot": "autumn", "drawRound": "autumn", "handIn": "autumn",
    "publishProblem": "winter", "qualifyBot": "autumn", "registerBot": "autumn",
    "submit": "winter",
}  # fmt: skip
"""The contests that operations are called on; the others are called on the community."""

BODIES: dict[str, Any] = {
    "addHoneypotAnswers": [{"id": "h1", "text": "As an AI"}],
    "addHumanAnswers": [{"id": "a1", "prompt_id": "p1", "text": "So it is."}],
    "addPrompts": [{"id": "p9", "text": "Why?"}],
    "changeBot": {"version": "2"},
    "createInvitation": {},
    "createInvitations": {"people": [{"user": "nele"}]},
    "finalizeContest": {},
    "extendMember": {"attempts": 3, "reason": "ill"},
    "handIn": {"text": "an answer"},
    "proposeChangeSet": {
        "kind": "adjustment", "params": {"board": "user-score", "id": "u1", "points": 1},
        "reason": "r",
    },
    "publishProblem": {"package": {
        "title": "Squares", "interface": "seq", "N_check": 200,
        "source": "def seq(n):\n    return n * n\n",
    }},
    "registerBot": {"name": "b9"},
    "submit": {"problem": "x", "content": {"source": "def solver():\n    return [1]\n"}},
}  # fmt: skip
LINES = {
    "addRecords": b'{"table": "users", "row": {"id": "u9"}}\n',
    "addVotes": b'{"table": "votes", "row": {"match_id": "m1", "judge_id": "j", "vote": "A"}}\n',
}


def send(cups: Cups, operation: str) -> Any:
    """Send a request that the operation accepts but for the state of the contest."""
    contest = CONTESTS.get(operation, "spring")
    path = OF_CONTESTS[operation].url.replace("{contest}", contest)
    head, brace, _ = path.partition("{")
    if brace:
        path = path.replace(path[len(head) : path.index("}") + 1], cups.names[operation])
    body: dict[str, Any] = {"json": BODIES.get(operation, {"reason": "why"})}
    headers = cups.instance.as_("operator")
    if operation in LINES:
        body = {"content": LINES[operation]}
        headers["content-type"] = "application/x-ndjson"
    return cups.instance.client.request(
        OF_CONTESTS[operation].method, path, headers=headers, **body
    )


def test_every_operation_on_a_contest_is_refused_or_has_a_reason() -> None:
    """An operation that is new is refused in a void contest, until it is listed."""
    assert set(MEANINGFUL) <= set(OF_CONTESTS)
    assert len(REFUSED) > 20


def test_a_void_contest_refuses_what_would_change_it_with_one_message(cups: Cups) -> None:
    """Publishing a problem and its page asked only whether the contest was final."""
    with cups.instance.service.store.read() as session:
        before = {name: session.contests.get(name).seq for name in ("spring", "autumn", "winter")}
    for operation in REFUSED:
        response = send(cups, operation)
        assert response.status_code == 409, (operation, response.text)
        assert REFUSAL in response.json()["detail"], (operation, response.text)
    with cups.instance.service.store.read() as session:
        assert before == {name: session.contests.get(name).seq for name in before}


def test_a_void_contest_takes_what_is_not_about_its_result(cups: Cups) -> None:
    """Cases and details concern people and readers; nothing of it is a record."""
    instance = cups.instance
    case = instance.post(
        "/contests/spring/cases", "organiser",
        json={"title": "The leak", "subjects": ["u1"], "text": "Look."},
    ).json()  # fmt: skip
    decided = instance.post(
        f"/contests/spring/cases/{case['id']}/decisions", "organiser",
        json={"decision": "warned", "reason": "it was you"},
    )  # fmt: skip
    assert decided.status_code < 400, decided.text
    for path, body in (
        (f"change-sets/{cups.names['changes']}/cancel", None), ("findings", None),
        ("next-season", {"id": "spring-2"}),
    ):  # fmt: skip
        response = instance.post(f"/contests/spring/{path}", "operator", json=body)
        assert response.status_code < 400, (path, response.text)
    edited = instance.client.patch(
        "/api/v1/contests/spring", headers=instance.as_("organiser"), json={"title": "Spring 1"}
    )
    assert edited.status_code == 200


def test_a_round_waits_while_the_contest_is_void_and_goes_on_with_all_its_time(cups: Cups) -> None:
    """Bots forfeited answers that nobody would have taken."""
    arena = cups.league
    bot = arena.bot("b1").id
    assert work_of_bot(arena.service, "autumn", bot, by=LOCAL) == []
    seconds = 300
    arena.later(seconds)
    assert arena.work() == []
    assert arena.entries("round-settled") == []
    restore(arena.service, "autumn", reason="no leak", by=LOCAL)
    assert arena.work() == []
    (item,) = work_of_bot(arena.service, "autumn", bot, by=LOCAL)
    assert item["deadline_ms"] == 30_000
    arena.later(60)
    assert arena.work() == []
    (fault,) = [each for match in arena.outcomes() for each in match["faults"]]
    assert fault["code"] == "late"
