"""A new resource needs models, operations, a noun and a permission: an example."""

from pathlib import Path
from types import MappingProxyType

import pytest
from fastapi.testclient import TestClient

from agon.api.catalog import all_operations
from agon.api.models.base import Items, Request, Resource
from agon.api.operation import ContestContext, operation
from agon.api.transport import Noun
from agon.app.access import permissions
from agon.client import Client
from agon.client.local import Local
from agon.errors import Forbidden
from fakes.instance import instance_at
from fakes.service import OPERATOR, VIEWER

TEXTS: list[tuple[str, str]] = []


class AnnouncementCreate(Request):
    """A new announcement."""

    text: str


class Announcement(Resource):
    """An announcement of a contest."""

    text: str
    by: str


@operation("GET", "/contests/{contest}/announcements", id="listAnnouncements",
           permission="announcement.read", cost="quick", summary="List announcements")  # fmt: skip
def list_announcements(ctx: ContestContext) -> Items[Announcement]:
    """Return the announcements of a contest."""
    del ctx
    return Items(items=tuple(Announcement(text=text, by=by) for text, by in TEXTS))


@operation("POST", "/contests/{contest}/announcements", id="createAnnouncement",
           permission="announcement.add", cost="quick", records="none",
           summary="Create an announcement", status=201)  # fmt: skip
def create_announcement(ctx: ContestContext, request: AnnouncementCreate) -> Announcement:
    """Create an announcement in a contest."""
    TEXTS.append((request.text, ctx.caller.name))
    return Announcement(text=request.text, by=ctx.caller.name)


class Announcements(Noun):
    """Announcements of a contest."""

    list = list_announcements
    create = create_announcement


@pytest.mark.exhaustive
def test_a_new_resource_is_in_routes_openapi_clients_and_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Routes, clients and schema are generated from the operations."""
    staff, readers = permissions.ACTIONS["case.manage"], permissions.ACTIONS["contest.read"]
    own = {"announcement.read": readers, "announcement.add": staff}
    actions = MappingProxyType({**permissions.ACTIONS, **own})
    for module in ("agon.app.access.permissions", "agon.api.authorization"):
        monkeypatch.setattr(f"{module}.ACTIONS", actions)
    added = (*all_operations(), list_announcements, create_announcement)
    monkeypatch.setattr("agon.http.app.all_operations", lambda: added)
    instance = instance_at(tmp_path)
    instance.contest("spring")

    schema = instance.app.openapi()
    assert "/api/v1/contests/{contest}/announcements" in schema["paths"]
    assert {"Announcement", "AnnouncementCreate", "AnnouncementList"} <= set(
        schema["components"]["schemas"]
    )
    path, body = "/contests/spring/announcements", {"text": "Round 2 begins"}
    assert instance.post(path, json=body).status_code == 401
    assert instance.post(path, "viewer", json=body).status_code == 403
    assert instance.post(path, "organiser", json={"txt": "x"}).status_code == 422
    assert instance.post(path, "organiser", json=body).status_code == 201
    assert instance.get(path).json() == {"items": [{**body, "by": "user:olga"}]}

    request = AnnouncementCreate(text="Round 3 begins")
    transport = TestClient(instance.app)._transport
    with Client(
        "http://testserver", token=instance.tokens["organiser"], transport=transport
    ) as far:
        remote = Announcements(far.transport)
        assert remote.create("spring", request).by == "user:olga"
        assert len(remote.list("spring").items) == 2
    local = Announcements(Local(instance.service, by=OPERATOR).transport)
    assert local.create("spring", request).by == "user:root"
    assert local.list("spring").items == Announcements(local.transport).list("spring").items
    with pytest.raises(Forbidden):
        Announcements(Local(instance.service, by=VIEWER).transport).create("spring", request)
    TEXTS.clear()
    instance.close()
