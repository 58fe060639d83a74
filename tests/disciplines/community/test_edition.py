"""The released edition: its worked examples come out, its rules are the literal ones."""

import json
from pathlib import Path

import pytest

import agon
from agon.disciplines.community import DISCIPLINE
from agon.disciplines.community.components import COMPONENTS
from agon.disciplines.community.counts.difficulty import sota_version
from agon.disciplines.community.counts.models import SOTA_VERSION
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.editions import edition
from agon.errors import InvalidRule
from agon.records import read_rows

NAME = "community/scores0002-1"
GOLDEN = Path(__file__).with_name("golden.json")


def test_the_edition_has_the_examples_of_its_source() -> None:
    """Every example of the seed and every vector of the spec page that records can say."""
    assert len(edition(NAME).examples) >= 20


def test_the_literal_edition_sets_the_defaults() -> None:
    """Rules say their default once; the edition of the seed's letter gives the same."""
    assert edition(NAME).rules == CommunityRules()


def test_every_opt_in_is_off_in_the_literal_edition() -> None:
    """What the seed calls optional or future may not move a literal score."""
    rules = edition(NAME).rules.model_dump()
    switches = {name for name, value in rules.items() if isinstance(value, bool)}
    of_components = {component.switch for component in COMPONENTS} - {None}
    assert switches >= of_components | {"tiers", "achievements", "cross_validation"}
    assert not any(rules[name] for name in switches)
    assert rules["time_decay_half_life_days"] is None
    assert rules["sota_list"] == "fixed"


def test_the_edition_carries_both_versions() -> None:
    """When the algorithm or the list of models changes, a reader must see which was used."""
    versions = edition(NAME).versions
    assert versions["algorithm"] == "scores0002-v1"
    assert versions["sota_models"] == SOTA_VERSION == "2025-01-04"


def test_a_result_says_when_another_list_of_models_was_used() -> None:
    """The version of the list would be false where the list is another."""
    assert sota_version(CommunityRules()) == SOTA_VERSION
    same = CommunityRules(sota_models=(*CommunityRules().sota_models, "openai/o1:free"))
    assert sota_version(same) == SOTA_VERSION
    assert sota_version(CommunityRules(sota_models=("o1",))) == "2025-01-04 (changed)"
    assert sota_version(CommunityRules(sota_list="dynamic")) == "dynamic"
    result = agon.score("community", "examples/tutorial", overrides={"sota_models": ["o1"]})
    assert result.to_dict()["versions"] == {
        **edition(NAME).versions, "sota_models": "2025-01-04 (changed)",
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"affiliation_bonus": -1},
        {"wrong_answer_threshold": 1.5},
        {"min_wrong_models": 0},
        {"self_feedback": "maybe"},
        {"collaborator_roles": "friend"},
        {"time_decay_half_life_days": 0},
        {"finding_alpha": 0},
    ],
)
def test_values_out_of_bounds_are_rejected(wrong: dict[str, object]) -> None:
    """Each with the rule's name."""
    with pytest.raises(InvalidRule, match=next(iter(wrong))):
        CommunityRules().override(wrong)


def test_rules_from_the_command_line_are_read_as_what_they_hold() -> None:
    """`--set` gives text."""
    rules = CommunityRules().override(
        {"sota_models": "gpt-4o, o1", "time_decay_half_life_days": "30", "diversity": "true"}
    )
    assert rules.sota_models == ("gpt-4o", "o1")
    assert rules.time_decay_half_life_days == 30
    assert rules.diversity


@pytest.mark.sample(2)
@pytest.mark.parametrize("board", DISCIPLINE.boards)
def test_the_golden_boards_never_change(board: str) -> None:
    """The seed's first example, every row of every board, as first released."""
    released = edition(NAME)
    records = read_rows(DISCIPLINE.schema, released.examples[0].records)
    result = score(records, CommunityRules()).board(board)
    stored = json.loads(GOLDEN.read_text())[board]
    assert result.rows() == stored["rows"]
    assert [one.to_dict() for one in result.unscored] == stored["unscored"]
    assert result.sha256 == stored["sha256"]
