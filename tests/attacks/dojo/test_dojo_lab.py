"""The dojo's lab: what an attacker adds to a season, and what its strategies gain."""

from datetime import timedelta
from functools import partial
from typing import Any

import pyarrow.compute as pc
import pytest

from agon.attacks.catalog import lab_of
from agon.attacks.dojo.hidden_tables import table_program
from agon.attacks.dojo.renamed_copies import rename
from agon.attacks.runner import Runner, select
from agon.disciplines import discipline
from agon.disciplines.dojo.facts import payload_of
from agon.disciplines.dojo.payload import ProgramPayload
from agon.disciplines.dojo.rules import DojoRules
from agon.editions import edition
from agon.errors import Unreadable
from agon.records import read_rows
from attacks.worlds import world_of

LAB = lab_of("dojo")
LITERAL = edition("dojo/0.1").rules
SCHEMA = discipline("dojo").schema

honest_world = partial(world_of, "dojo", size=20)


def _board(played: Any, day: int, rules: Any = LITERAL) -> dict[str, Any]:
    with read_rows(SCHEMA, played.tables(day)) as records:
        rows = discipline("dojo").score(records, rules).board("season").rows()
    return {row["id"]: row for row in rows}


@pytest.mark.sample(1)
@pytest.mark.parametrize("strategy", LAB.strategies, ids=lambda strategy: strategy.name)
def test_an_attack_adds_valid_rows_and_changes_none(strategy: Any) -> None:
    """On the first day too: what others submit later is not there yet."""
    played = LAB.play(honest_world(), LITERAL, strategy, strategy.plans[0], 0)
    honest = honest_world().tables["submissions"]
    for day in (1, played.epochs[-1]):
        rows = played.tables(day)["submissions"]
        until = honest_world().begin + timedelta(days=day)
        known = honest.filter(pc.less_equal(honest["created_at"], until))
        assert rows.slice(0, known.num_rows).select(known.column_names) == known
        assert rows.num_rows > known.num_rows
        _board(played, day)
    assert known.num_rows == honest.num_rows
    sent = rows.num_rows - honest.num_rows
    assert sent <= played.actions_until(played.epochs[-1]) == sum(played.effort.actions.values())
    assert played.accounts[0] not in played.honest


def test_the_attacker_is_the_user_in_the_middle() -> None:
    """So that the price of a rank does not depend on a draw."""
    played = LAB.play(honest_world(), LITERAL, None, {}, 0)
    board = _board(played, played.epochs[-1])
    assert board[played.accounts[0]]["rank"] == len(board) // 2 + 1


def _result(name: str, rules: Any, *, at: int = 0) -> Any:
    strategy = select(LAB, [name])[0]
    return Runner(LAB, honest_world(), rules).run_plan(strategy, strategy.plans[at], goal="rank+1")


@pytest.mark.exhaustive
def test_copies_are_found_as_they_are_and_under_other_names() -> None:
    """The finding names the solver who gave the program away, too.

    The attacker solves the problem itself later, so that it gains a few points only.
    """
    for name, code in (("source-sharing", "same-source"), ("renamed-copies", "same-structure")):
        result = _result(name, LITERAL)
        assert result.gain.points > 0, name
        assert [detection.finding for detection in result.detected] == [code]
        assert result.harm.honest_accused == 1


def test_a_copy_keeps_what_the_program_does() -> None:
    """Only names that the program sets change."""
    source = (
        "def solver():\n    out, n = [], 3  # from three\n"
        "    def odd(n):\n        return n % 2\n"
        "    for k in range(200):\n        out.append(odd(n + k) + sum([k]))\n    return out\n"
    )
    spaces: list[dict[str, Any]] = [{}, {}]
    for text, space in zip((source, rename(source)), spaces, strict=True):
        exec(text, space)  # noqa: S102 - the two programs above
    assert spaces[0]["solver"]() == spaces[1]["solver"]()
    assert "out" not in rename(source)


@pytest.mark.exhaustive
def test_limits_of_entries_and_of_disclosure_end_the_reading_of_terms() -> None:
    """Each of the two rules alone."""
    whole = _result("prefix-reading", LITERAL, at=1)
    assert whole.gain.points > 0
    gates = _result("prefix-reading", LITERAL.override({"feedback": "gate"}), at=1)
    assert (gates.gain.points, gates.effort.actions) == (0, {"entry": 150})
    few = _result("prefix-reading", LITERAL.override({"max_submissions": 20}), at=1)
    assert (few.gain.points, few.effort.actions) == (0, {"entry": 20})


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({}, True),
        ({"max_string_literal_chars": 240}, True),
        ({"max_string_literal_chars": 240, "max_information_bytes": 600}, True),
        ({"max_string_literal_chars": 200, "max_information_bytes": 600}, False),
        ({"max_string_literal_chars": 0, "max_literal_digits": 3}, False),
        ({"max_string_literal_chars": 0, "max_literal_digits": 4}, False),
        ({"max_string_literal_chars": 0, "max_literal_digits": 8}, False),
        ({"max_string_literal_chars": 0, "max_literal_digits": 64}, True),
    ],
)
def test_a_table_is_as_large_as_the_policy_leaves_room_for(
    limits: dict[str, int], *, fits: bool
) -> None:
    """Where it is given, it passes the policy, and it returns 200 terms of four digits."""
    rules = DojoRules().override(limits)
    source = table_program(200, rules)
    assert (source is not None) == fits
    if source:
        payload = payload_of(source, max_bytes=10_000, max_depth=100)
        assert isinstance(payload, ProgramPayload)
        assert payload.string_chars <= rules.max_string_literal_chars
        assert payload.numeric_literals <= rules.max_numeric_literals
        assert payload.information_bytes <= (rules.max_information_bytes or 10_000)
        space: dict[str, Any] = {}
        exec(source, space)  # noqa: S102 - the program above
        assert space["solver"]() == list(range(1000, 1200))


def test_records_without_programs_are_rejected() -> None:
    """Attackers copy and change programs."""
    tables = dict(honest_world().tables)
    table = tables["submissions"].drop_columns(["source", "source_hash", "l_chars"])
    rows = table.to_pylist()
    for number, row in enumerate(rows):
        row |= {"source_hash": f"{number:064x}", "l_chars": 90}
    with (
        read_rows(SCHEMA, {"problems": tables["problems"].to_pylist(), "submissions": rows}) as few,
        pytest.raises(Unreadable, match="give the column source of submissions"),
    ):
        LAB.observe(few, seed=1)


def test_a_real_season_is_attacked_like_a_simulated_one() -> None:
    """Its last week is the one in which the attacker acts."""
    tables = {name: table.to_pylist() for name, table in honest_world().tables.items()}
    with read_rows(SCHEMA, tables) as records:
        world = LAB.observe(records, seed=1)
    assert (world.attacker_id, world.users, world.end) == (
        honest_world().attacker_id,
        honest_world().users,
        honest_world().end,
    )
    assert world.solved == honest_world().solved
