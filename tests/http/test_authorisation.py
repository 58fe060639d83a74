"""Test every route with every role: permitted callers get a response, others learn nothing."""

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

NO_SERVICE: Any = None
ALL = routes(create_app(NO_SERVICE, Settings()))
ENDLESS = "/api/v1/contests/{contest}/events"  # a stream without end, which has its own tests
ROUTES = [route for route in ALL if route.template != ENDLESS]
OF_CONTESTS = [route for route in ROUTES if "{contest}" in route.template]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Share one instance: rejected requests change nothing."""
    new_instance = instance_at(Path(tmp_path_factory.mktemp("instance")))
    new_instance.contest("spring")
    new_instance.contest("hidden", visibility="private")
    yield new_instance
    new_instance.close()


def send(instance: Instance, route: Route, token: str | None, contest: str = "spring") -> Any:
    """Send a request with an empty body to a route."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    query = {"contest": contest} if route.template == "/api/v1/jobs" else {}  # organizers name one
    return instance.client.request(
        route.method, route.path(contest=contest), headers=headers, params=query
    )


def name(route: Route) -> str:
    """Return the name of a test case: the route's method and path."""
    return f"{route.method} {route.template}"


@pytest.mark.sample(59)
@pytest.mark.parametrize("route", ALL, ids=name)
def test_every_route_declares_exactly_one_known_action(route: Route) -> None:
    """A route without an action would be public by mistake."""
    assert len(route.actions) == 1
    assert route.actions[0] in ACTIONS


def test_anonymous_callers_change_nothing_but_accept_invitations() -> None:
    """Idempotency stores no responses of anonymous callers; that of an invitation is a secret."""
    open_ = [
        name(route)
        for route in ALL
        if route.method in METHODS and "anonymous" in ACTIONS[route.actions[0]]
    ]
    assert open_ == ["POST /api/v1/invitations/accept"]


@pytest.mark.sample(31)
@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_a_route_accepts_exactly_the_roles_of_its_action(instance: Instance, route: Route) -> None:
    """The table of actions alone defines the permissions."""
    roles = ACTIONS[route.actions[0]]
    for role in (None, *ROLES):
        response = send(instance, route, None if role is None else instance.tokens[role])
        if (role or "anonymous") in roles or "anonymous" in roles:
            assert response.status_code not in {401, 403}, (role, response.text)
            assert response.status_code < 500, (role, response.text)
        else:
            assert response.status_code == (401 if role is None else 403), (role, response.text)
            assert response.json()["code"] == ("unauthenticated" if role is None else "forbidden")


@pytest.mark.sample(25)
@pytest.mark.parametrize("route", OF_CONTESTS, ids=name)
def test_a_private_contest_is_not_found_for_callers_without_access(
    instance: Instance, route: Route
) -> None:
    """The response equals that for an unknown contest, so it does not reveal that it exists."""
    token = instance.limited_token("organiser", contests=("spring",))
    response = send(instance, route, token, "hidden")
    absent = send(instance, route, token, "no-such")
    assert response.status_code == absent.status_code == 404
    detail, other_detail = response.json()["detail"], absent.json()["detail"]
    assert detail.replace("hidden", "C") == other_detail.replace("no-such", "C")


@pytest.mark.sample(28)
@pytest.mark.parametrize("route", OF_CONTESTS, ids=name)
def test_an_organiser_token_of_another_contest_is_forbidden(
    instance: Instance, route: Route
) -> None:
    """A token bound to one contest gives no access to others."""
    if "anonymous" in ACTIONS[route.actions[0]]:
        return
    response = send(instance, route, instance.limited_token("organiser", contests=("hidden",)))
    assert response.status_code == 403


@pytest.mark.sample(31)
@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_a_token_with_one_scope_permits_no_other_action(instance: Instance, route: Route) -> None:
    """A stolen token with a narrow scope does little damage."""
    action = route.actions[0]
    other_scope = "export" if action != "export" else "import"
    response = send(instance, route, instance.limited_token("operator", scopes=(other_scope,)))
    assert response.status_code == 403 or "anonymous" in ACTIONS[action]
    token = instance.limited_token("operator", scopes=(action,))
    assert send(instance, route, token).status_code != 403


@pytest.mark.parametrize(
    "route", [item for item in ROUTES if item.actions[0] in INSTANCE_WIDE], ids=name
)
def test_a_token_for_one_contest_cannot_perform_instance_wide_actions(
    instance: Instance, route: Route
) -> None:
    """An operator of one contest must not create tokens for other contests."""
    token = instance.limited_token("operator", contests=("spring",))
    assert send(instance, route, token).status_code == 403


@pytest.mark.sample(31)
@pytest.mark.parametrize("route", ROUTES, ids=name)
def test_invalid_tokens_are_rejected_on_every_route_with_the_same_message(
    instance: Instance, route: Route
) -> None:
    """Public routes reject them too; the message does not reveal why a token is invalid."""
    details = set()
    for token in invalid_tokens(instance):
        response = send(instance, route, token)
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
        details.add(response.json()["detail"])
    assert len(details) == 1


_INVALID: dict[int, list[str]] = {}


def invalid_tokens(instance: Instance) -> list[str]:
    """Return invalid tokens, created once for each instance."""
    if id(instance) not in _INVALID:
        revoked, expired = instance.token("operator"), instance.token("operator")
        revoke_token(instance.service, revoked[5:27], by=OPERATOR)
        with instance.service.store.write() as session:
            stored = session.access.token(expired[5:27])
            assert stored is not None
            session.access.save_token(
                replace(stored, expires_at=stored.created_at - timedelta(days=1))
            )
        good = instance.tokens["operator"]
        changed = good[:-2] + ("AA" if good[-2:] != "AA" else "BB")
        _INVALID[id(instance)] = [revoked, expired, changed, "agon_x_y", "hunter2"]
    return _INVALID[id(instance)]


def test_tokens_of_a_disabled_user_are_rejected(tmp_path: Path) -> None:
    """Disabling a user takes effect immediately."""
    instance = instance_at(tmp_path)
    assert instance.get("/me", "viewer").status_code == 200
    disable_user(instance.service, user="vera", by=OPERATOR)
    assert instance.get("/me", "viewer").status_code == 401
    instance.close()


def test_a_private_contest_is_listed_only_for_callers_with_access(instance: Instance) -> None:
    """The list must not reveal private contests either."""

    def ids(token: str | None) -> list[str]:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        items = instance.client.get("/api/v1/contests", headers=headers).json()["items"]
        return [item["id"] for item in items]

    assert ids(None) == ["spring"]
    assert ids(instance.token("viewer", contests=["spring"])) == ["spring"]
    assert ids(instance.token("viewer", contests=["hidden"])) == ["hidden", "spring"]
    assert ids(instance.tokens["organiser"]) == ["hidden", "spring"]


def test_a_worker_token_cannot_claim_service_jobs(instance: Instance) -> None:
    """Remote workers receive programs and tasks, never hidden terms."""
    body = {"kinds": ["publish", "gate"], "worker": "w1"}
    assert instance.post("/jobs/claim", "worker", json=body).status_code == 403


def test_pages_of_other_sites_cannot_write_under_open_authentication(tmp_path: Path) -> None:
    """With open authentication, every request of a local browser has the operator's permissions."""
    instance = instance_at(tmp_path, auth="open")
    path, body = "/api/v1/users", {"id": "eve"}
    foreign = {"origin": "https://evil.example", "host": "127.0.0.1:8080"}
    rebound = {"host": "evil.example:8080"}
    own = {"origin": "http://127.0.0.1:8080", "host": "127.0.0.1:8080"}
    assert instance.client.post(path, json=body, headers=foreign).status_code == 403
    assert instance.client.post(path, json=body, headers=rebound).status_code == 403
    assert instance.client.post(path, json=body, headers=own).status_code == 201
    instance.close()
