"""Every route, asked by everybody: who may gets through, who may not learns nothing."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import ACTIONS, INSTANCE_WIDE
from agon.app.access.tokens import revoke_token
from agon.app.access.users import disable_user
from agon.http.app import create_app
from agon.http.middleware.idempotency import METHODS
from agon.settings import Settings
from fakes.instance import ROLES, Instance, instance_at
from fakes.routes import Route, routes
from fakes.service import OPERATOR

NOBODY: Any = None
ALL = routes(create_app(NOBODY, Settings()))
ENDLESS = "/api/v1/contests/{contest}/events"  # asked in tests of its own
ASKED = [route for route in ALL if route.template != ENDLESS]
OF_CONTESTS = [route for route in ASKED if "{contest}" in route.template]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Share one instance: what is refused changes nothing."""
    made = instance_at(Path(tmp_path_factory.mktemp("instance")))
    made.contest("spring")
    made.contest("hidden", visibility="private")
    yield made
    made.service.store.close()


def ask(instance: Instance, route: Route, token: str | None, contest: str = "spring") -> Any:
    """Ask a route with an empty body."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return instance.client.request(route.method, route.path(contest=contest), headers=headers)


def name(route: Route) -> str:
    """Name a case after its route."""
    return f"{route.method} {route.template}"


@pytest.mark.parametrize("route", ALL, ids=name)
def test_every_route_declares_one_action_that_is_known(route: Route) -> None:
    """A route without an action would be open to everybody by mistake."""
    assert len(route.actions) == 1
    assert route.actions[0] in ACTIONS


@pytest.mark.parametrize("route", [one for one in ALL if one.method in METHODS], ids=name)
def test_nothing_is_changed_by_whoever_shows_no_token(route: Route) -> None:
    """That strangers only read is why nothing of theirs is kept or waited for."""
    assert "anonymous" not in ACTIONS[route.actions[0]]


@pytest.mark.parametrize("role", [None, *ROLES])
@pytest.mark.parametrize("route", ASKED, ids=name)
def test_a_route_lets_in_who_its_action_lets_in(
    instance: Instance, route: Route, role: str | None
) -> None:
    """The table of actions is the whole truth about who may do what."""
    may = ACTIONS[route.actions[0]]
    answer = ask(instance, route, None if role is None else instance.tokens[role])
    if (role or "anonymous") in may or "anonymous" in may:
        assert answer.status_code not in {401, 403}, answer.text
        assert answer.status_code < 500, answer.text
    else:
        assert answer.status_code == (401 if role is None else 403), answer.text
        assert answer.json()["code"] == ("unauthenticated" if role is None else "forbidden")


@pytest.mark.parametrize("route", OF_CONTESTS, ids=name)
def test_a_private_contest_is_not_there_for_those_who_may_not_see_it(
    instance: Instance, route: Route
) -> None:
    """That it exists is not told: the answer is that of a contest that does not."""
    token = instance.token("organiser", contests=["spring"])
    answer = ask(instance, route, token, "hidden")
    absent = ask(instance, route, token, "no-such")
    assert answer.status_code == absent.status_code == 404
    told, other = answer.json()["detail"], absent.json()["detail"]
    assert told.replace("hidden", "C") == other.replace("no-such", "C")


@pytest.mark.parametrize("route", OF_CONTESTS, ids=name)
def test_an_organiser_of_another_contest_has_no_part_in_this_one(
    instance: Instance, route: Route
) -> None:
    """A token that is good for one contest opens no other."""
    if "anonymous" in ACTIONS[route.actions[0]]:
        return
    answer = ask(instance, route, instance.token("organiser", contests=["hidden"]))
    assert answer.status_code == 403


@pytest.mark.parametrize("route", ASKED, ids=name)
def test_a_narrow_scope_opens_nothing_else(instance: Instance, route: Route) -> None:
    """A token made for one thing is worth little when it is stolen."""
    action = route.actions[0]
    other = "export" if action != "export" else "import"
    answer = ask(instance, route, instance.token("operator", scopes=[other]))
    assert answer.status_code == 403 or "anonymous" in ACTIONS[action]
    assert ask(instance, route, instance.token("operator", scopes=[action])).status_code != 403


@pytest.mark.parametrize(
    "route", [item for item in ASKED if item.actions[0] in INSTANCE_WIDE], ids=name
)
def test_a_token_for_one_contest_may_not_act_on_the_instance(
    instance: Instance, route: Route
) -> None:
    """An operator of one contest must not make tokens for others."""
    token = instance.token("operator", contests=["spring"])
    assert ask(instance, route, token).status_code == 403


@pytest.mark.parametrize("route", ASKED, ids=name)
def test_worthless_tokens_are_refused_on_every_route_in_the_same_words(
    instance: Instance, route: Route
) -> None:
    """Even where nobody needs one: who shows a token believes it counts. Nothing is learnt."""
    told = set()
    for token in worthless(instance):
        answer = ask(instance, route, token)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        told.add(answer.json()["detail"])
    assert len(told) == 1


_SPOILT: dict[int, list[str]] = {}


def worthless(instance: Instance) -> list[str]:
    """Return tokens that are worth nothing, made once for each instance."""
    if id(instance) not in _SPOILT:
        revoked, expired = instance.token("operator"), instance.token("operator")
        revoke_token(instance.service, revoked[5:27], by=OPERATOR)
        with instance.service.store.write() as session:
            kept = session.access.token(expired[5:27])
            assert kept is not None
            session.access.save_token(replace(kept, expires_at=kept.created_at - timedelta(days=1)))
        good = instance.tokens["operator"]
        changed = good[:-2] + ("AA" if good[-2:] != "AA" else "BB")
        _SPOILT[id(instance)] = [revoked, expired, changed, "agon_x_y", "hunter2"]
    return _SPOILT[id(instance)]


def test_tokens_of_a_disabled_user_open_nothing(tmp_path: Path) -> None:
    """Who leaves the instance leaves at once."""
    instance = instance_at(tmp_path)
    assert instance.get("/me", "viewer").status_code == 200
    disable_user(instance.service, user="vera", by=OPERATOR)
    assert instance.get("/me", "viewer").status_code == 401
    instance.service.store.close()


def test_a_private_contest_is_listed_for_its_guests_only(instance: Instance) -> None:
    """The list is a way to learn of contests as well."""

    def ids(token: str | None) -> list[str]:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        listed = instance.client.get("/api/v1/contests", headers=headers).json()["items"]
        return [one["id"] for one in listed]

    assert ids(None) == ["spring"]
    assert ids(instance.token("viewer", contests=["spring"])) == ["spring"]
    assert ids(instance.token("viewer", contests=["hidden"])) == ["hidden", "spring"]
    assert ids(instance.tokens["organiser"]) == ["hidden", "spring"]


def test_nobody_claims_the_instances_own_jobs_with_a_workers_token(instance: Instance) -> None:
    """Workers outside the instance see programs and tasks, never an answer."""
    body = {"kinds": ["publish", "gate"], "worker": "w1"}
    assert instance.post("/jobs/claim", "worker", json=body).status_code == 403


def test_a_pages_of_other_sites_cannot_act_where_nobody_needs_a_token(tmp_path: Path) -> None:
    """With open authentication every browser on the machine would be an operator."""
    instance = instance_at(tmp_path, auth="open")
    path, body = "/api/v1/users", {"id": "eve"}
    foreign = {"origin": "https://evil.example", "host": "127.0.0.1:8080"}
    rebound = {"host": "evil.example:8080"}
    own = {"origin": "http://127.0.0.1:8080", "host": "127.0.0.1:8080"}
    assert instance.client.post(path, json=body, headers=foreign).status_code == 403
    assert instance.client.post(path, json=body, headers=rebound).status_code == 403
    assert instance.client.post(path, json=body, headers=own).status_code == 201
    instance.service.store.close()
