"""An in-process instance behind HTTP, with a token for every role."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.testclient import TestClient

from agon.app.access.permissions import widest_span
from agon.app.access.tokens import Grant, create_token
from agon.app.access.users import create_user
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import creation, transitions
from agon.app.service import Service
from agon.entities.access import Everywhere, Role
from agon.http.app import create_app
from agon.logs import start_logging
from agon.settings import Settings
from fakes.in_process import InProcessClient
from fakes.service import OPERATOR, ORGANISER, Clock, service_at

ROLES: tuple[Role, ...] = ("viewer", "participant", "judge", "organiser", "operator", "worker")
USERS = {"viewer": "vera", "participant": "ada", "judge": "judy", "organiser": "olga",
         "operator": "root", "worker": "walt"}  # fmt: skip
API = "/api/v1"


@dataclass
class Instance:
    """A service, its application, a test client and a token for every role."""

    service: Service
    app: Any
    client: TestClient
    tokens: dict[str, str] = field(default_factory=dict)

    def close(self) -> None:
        """Shut the application and its event loop down, and close the store."""
        self.client.__exit__()
        self.service.store.close()

    def as_(self, role: str | None, token: str | None = None) -> dict[str, str]:
        """Return the headers with a role's token; none for None."""
        if role is None and token is None:
            return {}
        return {"authorization": f"Bearer {token or self.tokens[str(role)]}"}

    def get(self, path: str, role: str | None = None, **options: Any) -> Any:
        """Send a GET request to a path below the API's prefix."""
        headers = {**self.as_(role), **options.pop("headers", {})}
        return self.client.get(API + path, headers=headers, **options)

    def post(self, path: str, role: str | None = None, **options: Any) -> Any:
        """Send a POST request to a path below the API's prefix."""
        headers = {**self.as_(role), **options.pop("headers", {})}
        return self.client.post(API + path, headers=headers, **options)

    def token(self, role: Role, **grant: Any) -> str:
        """Create another token of a role."""
        return _token(self.service, role, **grant)

    def limited_token(self, role: Role, **grant: Any) -> str:
        """Return a token of a role, created once for its scopes and contests."""
        if not grant.get("scopes") and isinstance(
            grant.get("contests", Everywhere.ALL), Everywhere
        ):
            return self.tokens[role]
        if isinstance(grant.get("contests"), Everywhere):
            del grant["contests"]
        name = f"{role} {grant}"
        if name not in self.tokens:
            self.tokens[name] = self.token(role, **grant)
        return self.tokens[name]

    def contest(self, name: str = "spring", *, people: int = 3, **options: Any) -> str:
        """Create and open a contest of the discipline community with some records, published."""
        new = creation.NewContest(id=name, discipline="community", title="Spring", **options)
        creation.create(self.service, new, by=ORGANISER)
        transitions.open_contest(self.service, name, by=ORGANISER)
        self.people(name, people)
        return name

    def people(self, contest: str, count: int, *, begin: int = 0, publish_now: bool = True) -> None:
        """Add users with a prompt each, and publish."""
        rows = [
            ("users", {"id": f"u{n}", "affiliation": "org", "handle": f"Zoë {n}"}, f"x{n}")
            for n in range(begin, begin + count)
        ]
        record(self.service, contest, rows, by=ORGANISER)
        if publish_now:
            publish(self.service, contest)


def settings(**overrides: Any) -> Settings:
    """Return settings with rate limits that are too high for tests to reach by default."""
    return Settings(
        **{
            "rate_limit_token": "1000000/minute",
            "rate_limit_address": "1000000/minute",
            **overrides,
        }
    )


@contextmanager
def instance_of(service: Service, folder: Path) -> Iterator[Instance]:
    """Serve the service of a played arena, which draws other secrets than it did so far."""
    opened = instance_at(folder, service=replace(service, random=Random(1).randbytes))
    yield opened
    opened.close()


def instance_at(
    folder: Path, *, url: str | None = None, service: Service | None = None, **overrides: Any
) -> Instance:
    """Open an instance in a folder, in another database or of a service; the caller closes it."""
    start_logging(form="json", level="error")
    if service is None and url is None and not (folder / "agon.db").exists():
        people = _people()
        (folder / "agon.db").write_bytes(people.database)
        service = service_at(folder, clock=Clock(people.clock_at), first_id=people.next_id)
        tokens = dict(people.tokens)
    else:
        service = service or service_at(folder, url=url)
        tokens = _add_people(service)
    service = replace(service, public_url=overrides.get("public_url", ""))
    url = url or f"sqlite:///{folder}/agon.db"
    app = create_app(service, settings(database=url, **overrides))
    client = InProcessClient(app)
    client.__enter__()  # all requests share an event loop, which is faster than one for each
    return Instance(service, app, client, tokens)


@dataclass(frozen=True)
class _People:
    """A service with a user and a token for every role.

    Attributes:
        database: its SQLite file.
        tokens: by role.
        clock_at: the time when the last token was created.
        next_id: the number of the next id.
    """

    database: bytes
    tokens: Mapping[str, str]
    clock_at: datetime
    next_id: int


@cache
def _people() -> _People:
    """Add them once for all tests of a process: copying the file takes a tenth of the time."""
    with TemporaryDirectory() as folder:
        clock = Clock()
        service = service_at(Path(folder), clock=clock)
        tokens = _add_people(service)
        service.store.close()
        file = Path(folder) / "agon.db"
        assert not file.with_name("agon.db-wal").exists(), "closing writes all to the file"
        next_id = int(service.new_id().removeprefix("id"))
        return _People(file.read_bytes(), tokens, clock.at, next_id)


def _add_people(service: Service) -> dict[str, str]:
    """Create a user for every role, and return the tokens of all."""
    for user in USERS.values():
        create_user(service, user=user, by=OPERATOR)
    return {role: _token(service, role) for role in ROLES}


def _token(service: Service, role: Role, **grant: Any) -> str:
    made = Grant(user=USERS[role], role=role, **{"contests": widest_span(role), **grant})
    return create_token(service, made, by=OPERATOR)[1]
