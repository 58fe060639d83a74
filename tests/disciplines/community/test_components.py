"""Each component of the user score: its counts, its records, and the oracle that knows it."""

from dataclasses import MISSING, fields
from typing import Any

import pytest

from agon.disciplines.community.components import COMPONENTS, Component, Count, components
from agon.disciplines.community.components.tables import AFFILIATION, COMMENTS
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import Community, score
from agon.disciplines.community.simulate import ATTACKS, simulate
from agon.kernel.explanations import Part
from agon.records import read_rows
from disciplines.community import oracle
from disciplines.community.test_oracle import ALL_ON, EASY, same
from sizes import sample

Rows = dict[str, list[dict[str, Any]]]

RULES = {**EASY, **ALL_ON, "min_review_correlation": 0}


@pytest.fixture(scope="module")
def tables() -> Rows:
    """Simulate a small community with every attack; its responses are run by users in turn."""
    simulation = simulate(size=30, seed=5, attacks=list(ATTACKS))
    tables = {name: rows.to_pylist() for name, rows in simulation.tables.items()}
    users = [row["id"] for row in tables["users"]]
    for number, row in enumerate(tables["responses"]):
        row["user_id"] = users[number % len(users)]
    return tables


@pytest.fixture(scope="module")
def community(tables: Rows) -> Community:
    """Score it with every component on and thresholds that it reaches."""
    return score(read_rows(SCHEMA, tables), CommunityRules().override(RULES))


@pytest.fixture(scope="module")
def parts(community: Community) -> dict[str, dict[str, Part]]:
    """Explain the scores of users with each count, each once: the parts by user and component."""
    rows = community.board("user-score").rows()
    names = {
        row["id"]
        for component in COMPONENTS
        for row in sample([row for row in rows if row["counts"][component.count.name]], at_least=2)
    }
    return {
        name: {part.name: part for part in community.explain(name, board="user-score").parts}
        for name in names
    }


def test_every_component_is_on_with_all_switches() -> None:
    """The tests below would not test a component that is off."""
    rules = CommunityRules().override(RULES)
    assert components(rules) == COMPONENTS
    assert {component.switch for component in COMPONENTS} - {None} == set(oracle.OPTIONAL)


def test_a_component_cannot_be_written_without_count_and_records() -> None:
    """What a board or an explanation needs has no default, so a type checker asks for it."""
    required = {field.name for field in fields(Component) if field.default is MISSING}
    assert required == {"name", "count", "curve", "worth", "noun", "unit"}
    assert all(field.default is MISSING for field in fields(Count))


def test_a_rule_that_does_not_exist_is_an_error() -> None:
    """A misspelled rule name fails when the module is imported, not when a board is computed."""
    with pytest.raises(ValueError, match="unknown rules: comment_weight"):
        Component("x", COMMENTS.count, COMMENTS.curve, "comment_weight", noun="x", unit="x")


def test_names_on_the_board_are_distinct() -> None:
    """Points go by the component's name, counts by the count's."""
    names = [component.name for component in COMPONENTS]
    assert len(set(names)) == len(names)
    counts = dict.fromkeys(component.count for component in COMPONENTS)
    assert len({count.name for count in counts}) == len(counts)


@pytest.mark.sample(2)
@pytest.mark.parametrize("component", COMPONENTS, ids=lambda component: component.name)
def test_every_positive_count_has_its_records(
    community: Community, parts: dict[str, dict[str, Part]], component: Component
) -> None:
    """A number can be looked up; where records are counted one by one, they are as many."""
    participants = 0
    for row in community.board("user-score").rows():
        count = row["counts"][component.count.name]
        if not count or row["id"] not in parts:
            continue
        part = parts[row["id"]][component.name]
        assert part.inputs["count"] == count
        records = sum(refs.count for refs in part.records)
        assert records > 0, f"{component.name} of {row['id']} is {count} without records"
        if component.count.one_per_record:
            assert records == count, f"{component.name} of {row['id']}"
        participants += 1
    assert participants, f"no simulated participant has a {component.name}; give `tables` some"


def test_the_oracle_knows_every_component_and_counts_the_same(
    tables: Rows, community: Community
) -> None:
    """The naive scorer, written from the specification, implements each component again."""
    expected = oracle.score(tables, RULES)
    row = next(iter(expected["user-score"].values()))
    assert list(row["components"]) == [component.name for component in COMPONENTS]
    same(community, expected)


@pytest.mark.sample(6)
@pytest.mark.parametrize("component", COMPONENTS, ids=lambda component: component.name)
def test_every_component_earns_or_takes_points(community: Community, component: Component) -> None:
    """The comparison with the oracle is worth nothing for a component that is always 0."""
    rows = community.board("user-score").rows()
    assert any(row["components"][component.name] for row in rows)


def test_an_affiliation_counts_once_however_many_rows_there_are() -> None:
    """So its records may be more than its count."""
    tables = {"users": [{"id": 1}], "org_to_people": [{"user_id": 1, "org_id": n} for n in (1, 2)]}
    scored = score(read_rows(SCHEMA, tables), CommunityRules())
    part = scored.explain("1", board="user-score").parts[0]
    assert part.name == AFFILIATION.name
    assert part.inputs["count"] == 1
    assert sum(refs.count for refs in part.records) == 2
