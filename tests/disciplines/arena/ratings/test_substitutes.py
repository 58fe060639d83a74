"""Boards whose rules ask for more than their records say."""

from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import score_contest
from agon.records import read_rows
from disciplines.arena.arenas import bots, match, scored


def test_a_note_names_the_rules_alone_that_give_way() -> None:
    """Side a won every match, so that no position can be fitted; ties and control are as stated."""
    sides = [("x", "y"), ("x", "y"), ("y", "x")]
    tables = {
        "bots": bots("x", "y"),
        "matches": [match(n, *pair, winner="a") for n, pair in enumerate(sides)],
    }
    records = read_rows(SCHEMA, tables)
    arena = score_contest(records, ArenaRules().override({"position": "fitted"}))
    assert arena.strengths.notes[0].endswith("; until then this board has position=ignored")
    assert arena.strength_rules == ArenaRules()


def test_one_of_a_thing_is_written_in_the_singular() -> None:
    """A newcomer has one match against one opponent."""
    tables = {"bots": bots("x", "y"), "matches": [match(1, "x", "y", winner="tie")]}
    text = scored(tables).explain("x", board="bradley-terry").parts[1].text
    assert text.startswith("Took 0.5 points in 1 match against 1 opponent; at 1,000 ")
