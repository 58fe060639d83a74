"""The measurement of findings: every check is measured, and figures are right where they are known.

``agon attack detectors`` prints the figures of the attack lab's page.
"""

from dataclasses import replace
from functools import cache

import pytest

from agon.attacks.arena import judges
from agon.attacks.arena.judges import JudgeCase
from agon.attacks.detectors import PowerMeasurement, contests_of, measure, simulated
from agon.disciplines import BUILT_IN, discipline
from agon.errors import NotFound


@cache
def dojo() -> tuple[PowerMeasurement, ...]:
    """Return the measurements of one small season."""
    return tuple(measure("dojo", size=40, worlds=1))


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_attack_of_a_simulation_is_measured_with_its_check(name: str) -> None:
    """A new attack needs a row, whose check exists."""
    attacks = contests_of(name).attacks
    assert list(attacks) == list(discipline(name).attacks)
    checks = {case.finding for case in attacks.values()}
    assert checks <= set(discipline(name).checks)


def test_power_grows_with_the_actions_of_an_attacker() -> None:
    """A tag farmer of four problems is named, one of one problem is not."""
    points = [row for row in dojo() if row.attack == "tag-farming"]
    assert [row.actions for row in points] == [1, 1, 2, 4]
    assert [row.power for row in points] == [0, 0, 0, 1]
    assert all(row.false_alarms == 0 for row in points)


def test_every_check_has_its_false_alarms_without_an_attack() -> None:
    """Checks that no attack is about, too."""
    honest = {row.finding: row for row in dojo() if row.attack == "none"}
    assert honest.keys() == discipline("dojo").checks.keys()
    assert {row.power for row in honest.values()} == {None}
    assert honest["same-source"].false_alarms == 0


@pytest.mark.exhaustive
def test_a_victim_named_with_an_attacker_is_no_false_alarm() -> None:
    """The finding about copies names both; which one copied is not in it."""
    steps: list[None] = []
    every = contests_of("challenge").attacks
    two = {name: every[name] for name in ("copying-validator", "self-serving-validator")}
    rows = simulated.measure(
        replace(contests_of("challenge"), attacks=two),
        size=300,
        seed=1,
        worlds=1,
        advance=lambda: steps.append(None),
    )
    points = {(row.finding, row.attack): row for row in rows}
    copied = points["copying-validators", "copying-validator"]
    assert (copied.power, copied.false_alarms) == (1, 0)
    assert points["self-serving-votes", "self-serving-validator"].exposures == 16
    assert len(steps) == len(two) + 1


def test_a_judge_is_measured_at_several_thresholds_and_by_the_literal_rule() -> None:
    """With more false alarms there is at least the same power; specialists have no power."""
    case = JudgeCase("favorite-bot", "always for one bot", 10, bots=10, ring=5)
    points = list(judges.measure(case, 1, 3, lambda: None))
    powers = [row.power or 0 for row in points]
    assert powers == sorted(powers)
    assert powers[1] > 0.6
    assert {row.literal_power for row in points} == {0.416441}
    assert [row.threshold for row in points] == list(judges.THRESHOLDS)
    specialist = JudgeCase("favorite-bot", "specialist", 50)
    honest = list(judges.measure(specialist, 1, 3, lambda: None))
    assert {(row.power, row.literal_power) for row in honest} == {(None, None)}
    assert honest[1].false_alarms == 0


def test_an_unknown_discipline_is_named() -> None:
    """With what would be right."""
    with pytest.raises(NotFound, match="did you mean arena"):
        list(measure("arenas", worlds=1))
