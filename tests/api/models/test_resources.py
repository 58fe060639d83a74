"""Resources made from an entity: its fields, required, described by it, without what is hidden."""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import pytest
from pydantic import Field, ValidationError

import agon.api.models
from agon import entities
from agon.api.models.base import Resource


@dataclass(frozen=True, kw_only=True)
class Room:
    """A room.

    Attributes:
        number, floor: where it is; None: in
            the cellar.
        key: opens it.
    """

    number: int | None
    floor: int | None = None
    guests: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    key: bytes = field(default=b"", repr=False)


class RoomResource(Resource, Room, hide=("key",)):
    """A room, without its key."""

    note: str = Field(default="-", description="For the staff.")


@dataclass(frozen=True, kw_only=True)
class Suite(Room):
    """A suite.

    Attributes:
        floor: where its stairs begin.
    """

    doors: int


class SuiteResource(Resource, Suite, hide=("key",)):
    """A suite."""


class RoomWithToken(RoomResource):
    """A room, with the token that opens it."""

    token: str


def _resources() -> list[type[Any]]:
    """Return the resources of the API."""
    names = [module.name for module in pkgutil.iter_modules(agon.api.models.__path__)]
    modules = [importlib.import_module(f"agon.api.models.{name}") for name in names]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Resource)
    ]


def _made() -> list[type[Any]]:
    """Return the resources of the API that are made from an entity."""
    return [resource for resource in _resources() if is_dataclass(resource)]


def test_a_resource_has_the_fields_of_its_entity_in_their_order() -> None:
    """A field that is added to an entity is added to the API once."""
    assert list(RoomResource.model_fields) == ["number", "floor", "guests", "note"]
    assert [*RoomWithToken.model_fields] == [*RoomResource.model_fields, "token"]


@pytest.mark.parametrize("resource", [RoomResource, RoomWithToken])
def test_fields_are_described_by_the_entity_unless_declared_again(
    resource: type[Resource],
) -> None:
    """What a field means is written once; clients see null where Python has None."""
    described = {name: info.description for name, info in resource.model_fields.items()}
    where = "Where it is; null: in the cellar."
    assert described["number"] == described["floor"] == where
    assert (described["guests"], described["note"]) == (None, "For the staff.")


def test_fields_of_the_base_of_an_entity_are_described_there() -> None:
    """A contest is the state of a contest with a number; what its fields mean is written once."""
    described = {name: info.description for name, info in SuiteResource.model_fields.items()}
    assert described["number"] == "Where it is; null: in the cellar."
    assert described["floor"] == "Where its stairs begin."


def test_no_resource_repeats_the_fields_of_an_entity_by_hand() -> None:
    """A field that is added to an entity and forgotten in its copy is missing in the API."""
    sources = [*(f"agon.entities.{each.name}" for each in pkgutil.iter_modules(entities.__path__))]
    sources += ["agon.kernel.explanations", "agon.kernel.findings", "agon.kernel.figures"]
    stored = {
        value: {each.name for each in fields(value)}
        for name in sources
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, type) and is_dataclass(value)
    }
    repeated = [
        (resource.__name__, entity.__name__)
        for resource in _resources()
        if not is_dataclass(resource)
        for entity, names in stored.items()
        if len(shared := names & resource.model_fields.keys()) >= 3
        and len(shared) >= max(0.75 * len(resource.model_fields), 0.5 * len(names))
    ]
    assert repeated == []


def test_a_response_states_every_field_though_the_entity_has_defaults() -> None:
    """A missing field would be read as the default of the client's version."""
    for resource in (RoomResource, RoomWithToken):
        with pytest.raises(ValidationError) as error:
            resource.model_validate({})
        missing = [".".join(map(str, each["loc"])) for each in error.value.errors()]
        assert missing[:3] == ["number", "floor", "guests"]
        assert "note" not in missing


def test_a_hidden_field_is_nowhere() -> None:
    """A secret in a repr, a dump or a schema is a secret that was published."""
    room = RoomResource.model_validate(Room(number=7, key=b"secret", note="n"))
    assert room.model_dump() == {"number": 7, "floor": None, "guests": {}, "note": "n"}
    assert "key" not in vars(room)
    assert "key" not in RoomResource.model_json_schema(mode="serialization")["properties"]
    both = RoomWithToken.model_validate({**vars(room), "token": "t", "key": b"secret"})
    assert both.model_dump().keys() == {"number", "floor", "guests", "note", "token"}


def test_a_field_that_the_entity_keeps_out_of_its_text_has_to_be_hidden() -> None:
    """Whoever adds a secret to an entity need not know that a resource is made from it."""
    with pytest.raises(TypeError, match="Open has to hide the secret key"):
        type("Open", (Resource, Room), {})


def test_hiding_a_field_that_does_not_exist_is_an_error() -> None:
    """After a renaming, the field would be returned under its new name."""
    with pytest.raises(TypeError, match=r"Typo hides \['kay'\]"):
        type("Typo", (Resource, Room), {}, hide=("key", "kay"))


def test_no_resource_of_the_api_has_a_secret_of_its_entity() -> None:
    """Passwords, secrets of webhooks and hashes of tokens are not returned."""
    made = _made()
    assert len(made) > 15
    for resource in made:
        secrets = {each.name for each in fields(resource) if not each.repr}
        declared_again = {"secret"} if resource.__name__ == "WebhookWithSecret" else set()
        assert not secrets & resource.model_fields.keys() - declared_again, resource
