"""Commands that are made from operations of the API."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import click
import pytest
from pydantic import Field

from agon.api.command import Command, Option
from agon.api.models.base import Page, Request, Resource, Time
from agon.api.operation import ContestContext, Operation, operation
from agon.api.pages import PageRequest
from agon.cli.generated.call import DRAWINGS, HANDLERS, Call
from agon.cli.generated.commands import generated_command
from agon.cli.generated.description import specification, text
from agon.cli.generated.specification import FILE, Specification, plain, specifications
from agon.cli.shared.target import Target


class Lantern(Resource):
    """A resource that agon does not have."""

    id: str
    lit: bool
    colors: tuple[str, ...]


class LanternCreate(Request):
    """A new lantern."""

    name: str = Field(description="Its name.")
    height: int = Field(default=3, ge=1, le=9, description="In meters.")
    hours: float = Field(default=2, gt=0, description="How long it burns.")
    color: Literal["red", "blue"] | None = Field(default=None, description="Of its glass.")
    lit: bool = Field(default=False, description="Light it at once.")
    tags: Annotated[tuple[str, ...], Field(max_length=9)] = Field(default=(), description="Tags.")
    since: Time | None = Field(default=None, description="When it was hung.")


class NumberRequest(Request):
    """A number."""

    number: int | None = Field(default=None, ge=0, description="The number.")


@operation("POST", "/contests/{contest}/lanterns/{id}", id="hang", permission=None,
           cost="quick", summary="Hang",
           command=Command("lanterns hang", says="{result.id} is {result.lit:lit|dark}: "
                           "{result.colors:no colors}",
                           options={"tags": Option("--tag"), "name": Option(argument=True)})
)  # fmt: skip
def hang(ctx: ContestContext, place: str, request: LanternCreate) -> Lantern:
    """Hang a lantern.

    $ agon lanterns hang
        Hang a lantern at PLACE of ID.

          agon lanterns hang spring gate moon
    """
    raise NotImplementedError


@operation("GET", "/contests/{contest}/lanterns", id="lanterns", permission=None,
           cost="quick", summary="List",
           command=Command("lanterns list", columns=("id", "lit"), top=-1))  # fmt: skip
def list_lanterns(
    ctx: ContestContext,
    page: PageRequest,
    *,
    lit: Annotated[bool, Field(description="Only those that are lit.")] = False,
) -> Page[Lantern]:
    """Return lanterns.

    $ agon lanterns list
        List lanterns.

          agon lanterns list spring
    """
    raise NotImplementedError


@operation("PATCH", "/contests/{contest}/lanterns/{id}", id="change", permission=None,
           cost="quick", summary="C",
           command=Command("lanterns change", any_of=("nothing to change", "height", "since"),
                           without=("name", "tags"),
                           options={"lit": Option("--out", switch=(True, False))}))  # fmt: skip
def change_lantern(ctx: ContestContext, lantern: str, request: LanternCreate) -> Lantern:
    """Change a lantern.

    $ agon lanterns change
        Change LANTERN of ID.

          agon lanterns change spring gate --height 4
    """
    raise NotImplementedError


class Recording:
    """An API that stores the arguments it is called with."""

    def __init__(self) -> None:
        self.arguments: tuple[Any, ...] = ()
        self.keywords: dict[str, Any] = {}

    def call(self, _: Operation[Any, Any], *arguments: Any, **keywords: Any) -> None:
        """Store the arguments."""
        self.arguments, self.keywords = arguments, keywords


def specification_of(declared: Operation[Any, Any]) -> Specification:
    """Return the only command of an operation."""
    (command,) = declared.commands
    return specification(declared, command)


def request_of(declared: Operation[Any, Any], *words: str) -> tuple[Any, ...]:
    """Parse words as the command of an operation does; return the operation's arguments."""
    made = specification_of(declared)
    api = Recording()
    context = generated_command(made).make_context(made.name, list(words))
    values = {field.name: context.params[field.name] for field in made.fields}
    call = Call(made, values, Target(None, None, None))
    call.require_any()
    call.execute_at(api)  # type: ignore[arg-type]  # only `call` is needed
    return (*api.arguments, api.keywords)


def test_the_stored_commands_are_those_that_operations_declare() -> None:
    """Help texts and completion read the file, so that they import no operation."""
    assert FILE.read_text("utf-8") == text(), "run: python -m agon.cli.generated.description"


def test_every_command_prints_what_it_returns_and_asks_for_options_that_it_has() -> None:
    """One ended with KeyError, and one that needs a time or a number refused the time alone."""
    for each in specifications().values():
        drawn = each.columns or each.says or each.once or each.shows in DRAWINGS
        assert drawn or each.name in HANDLERS, each.name
        reason, *names = each.any_of or ("",)
        fields = {field.name for field in each.fields}
        assert (reason in fields, fields.issuperset(names)) == (False, True), each.name


def test_a_specification_is_stored_completely() -> None:
    """What is left out has the default."""
    stored = json.loads(FILE.read_bytes())
    assert json.loads(json.dumps([plain(each) for each in specifications().values()])) == stored


def test_options_are_those_of_the_fields_of_the_request() -> None:
    """Names, types, bounds, choices, defaults and texts are written once, in the request."""
    params = {each.name: each for each in generated_command(specification_of(hang)).params}
    assert [name for name in params if isinstance(params[name], click.Argument)] == [
        "contest", "place", "name",
    ]  # fmt: skip
    height, hours, color, lit, tags = (
        params[name] for name in ("height", "hours", "color", "lit", "tags")
    )
    assert (height.default, vars(height.type)["min"], vars(height.type)["max"]) == (3, 1, 9)
    assert (vars(hours.type)["min"], vars(hours.type)["min_open"]) == (0, True)
    assert list(vars(color.type)["choices"]) == ["red", "blue"]
    assert (vars(lit)["is_flag"], tags.multiple, tags.opts) == (True, True, ["--tag"])
    assert vars(height)["help"] == "In meters."
    assert "form" not in params


def test_a_request_has_what_was_given_and_the_defaults_of_its_fields() -> None:
    """An option that is not given is not sent: the operation knows its default."""
    *place, request, query = request_of(
        hang, "spring", "gate", "moon", "--height", "9", "--lit", "--tag", "a", "--tag", "b",
        "--since", "2026-01-02T03:04Z",
    )  # fmt: skip
    assert (place, query) == (["spring", "gate"], {})
    since = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    assert request == LanternCreate(name="moon", height=9, lit=True, tags=("a", "b"), since=since)
    assert "color" not in request.model_fields_set


def test_the_parameters_of_a_list_are_options() -> None:
    """Filters are written once, in the operation."""
    made = specification_of(list_lanterns)
    assert (made.rows, made.shows) == ("lanterns", "Lantern")
    assert made.formats == ("table", "json", "ndjson", "csv")
    assert request_of(list_lanterns, "spring", "--lit") == ("spring", {"lit": True})


def test_a_change_sends_only_what_was_given() -> None:
    """A default that is sent would change a field that was not named."""
    made = specification_of(change_lantern)
    assert [each.name for each in made.fields if each.default is not None] == []
    with pytest.raises(click.UsageError, match="nothing to change; give --height N or --since S"):
        request_of(change_lantern, "spring", "gate")


@operation("POST", "/contests/{contest}/numbers", id="number", permission=None,
           cost="quick", summary="Number",
           command=Command("numbers add", any_of=("a number is needed", "number")))  # fmt: skip
def add_number(ctx: ContestContext, request: NumberRequest) -> Lantern:
    """Add a number.

    $ agon numbers add
        Add a number.

          agon numbers add spring --number 0
    """
    raise NotImplementedError


def test_zero_is_a_value() -> None:
    """The first finding has the index 0, which is equal to False."""
    assert request_of(add_number, "spring", "--number", "0")[1] == NumberRequest(number=0)


def test_a_line_shows_truths_and_lists_as_words() -> None:
    """A line of output is a template over the result."""
    call = Call(specification_of(hang), {}, Target(None, None, None))
    dark = Lantern(id="gate", lit=False, colors=())
    bright = Lantern(id="gate", lit=True, colors=("red", "blue"))
    assert call.text(call.specification.says, dark) == "gate is dark: no colors"
    assert call.text(call.specification.says, bright) == "gate is lit: red, blue"


def test_the_description_of_an_operation_is_without_its_commands() -> None:
    """OpenAPI is not about the command line."""
    assert hang.description == "Hang a lantern."
