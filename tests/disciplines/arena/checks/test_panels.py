"""Checks of who sits on panels, and of accounts made at once: power and false alarms."""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agon.disciplines.arena.checks.panels import judge_burst, panel_share
from agon.disciplines.arena.facts import Facts, facts_of
from agon.disciplines.arena.integrity import find
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.simulate import simulate
from agon.kernel.findings import Finding, Severity
from agon.records import read_rows
from disciplines.arena.arenas import Tables, match, vote
from sizes import size

START = datetime(2026, 1, 1, tzinfo=UTC)
RULES = ArenaRules(panel_share=3, burst_judges=5)


def dice(seed: int) -> random.Random:
    """Return draws that follow from a seed."""
    return random.Random(seed)


def arena(
    panels: Sequence[Sequence[str]],
    *,
    owners: Mapping[str, str] | None = None,
    created: Mapping[str, datetime] | None = None,
) -> Facts:
    """Return an arena of two bots whose matches had these people as judges."""
    return facts_of(
        read_rows(SCHEMA, tables_of(panels, owners=owners or {}, created=created or {}))
    )


def tables_of(
    panels: Sequence[Sequence[str]],
    *,
    owners: Mapping[str, str],
    created: Mapping[str, datetime],
    networks: Mapping[str, str] | None = None,
) -> Tables:
    """Return the tables of :func:`arena`."""
    accounts = {*owners.values(), *created, *(networks or {})}
    return {
        "owners": [
            {"id": name, "handle": name, "account_created_at": created.get(name),
             "network": (networks or {}).get(name)}
            for name in sorted(accounts)
        ],
        "bots": [{"id": "x", "name": "x"}, {"id": "y", "name": "y"}],
        "judges": [
            {"id": name, "kind": "person", "owner_id": owners.get(name)}
            for name in sorted({*owners, *created, *(each for panel in panels for each in panel)})
        ],
        "matches": [match(n, "x", "y") for n in range(1, len(panels) + 1)],
        "votes": [
            vote(n, name, "a") for n, panel in enumerate(panels, start=1) for name in panel
        ],
    }  # fmt: skip


def draw(presence: Mapping[str, float], *, matches: int, rng: random.Random) -> list[list[str]]:
    """Draw panels of three fairly among those who are present at each match."""
    panels = []
    for _ in range(matches):
        present = [name for name, share in presence.items() if rng.random() < share]
        panels.append(rng.sample(present, min(3, len(present))))
    return panels


def warned(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """Return the subjects of the warnings."""
    return [each.subjects for each in findings if each.severity is Severity.WARNING]


CROWD = {f"p{number:02}": 1.0 for number in range(40)}


def test_who_sits_on_a_third_of_all_panels_of_a_crowd_is_named() -> None:
    """Forty people share three seats fairly at 7.5 % each; an operator seats a friend."""
    rng = dice(1)
    panels = draw(CROWD, matches=300, rng=rng)
    for panel in panels[::3]:
        panel[0] = "friend"
    (finding,) = panel_share(arena(panels), RULES)
    assert (finding.subjects, finding.severity) == (("friend",), Severity.WARNING)
    assert finding.value == 98  # without the first and the last
    assert finding.expected == pytest.approx(300 * 3 / 41, rel=0.2)  # times of presence are shorter


def test_the_judges_of_one_owner_are_one_person() -> None:
    """Fifteen accounts of one person get what fifteen people would, each no more than its share."""
    rng = dice(2)
    puppets = {f"s{number:02}": 1.0 for number in range(15)}
    panels = draw(CROWD | puppets, matches=300, rng=rng)
    assert list(panel_share(arena(panels), RULES)) == []
    owners = dict.fromkeys(puppets, "eve")
    assert warned(list(panel_share(arena(panels, owners=owners), RULES))) == [("eve",)]


def test_people_who_come_and_go_are_not_reported() -> None:
    """Some are always there, some in one match of five; newcomers and leavers have short times."""
    for seed in range(size(40, at_least=4)):
        rng = dice(seed)
        presence = {f"p{number:02}": rng.uniform(0.2, 1) for number in range(30)}
        panels = draw(presence, matches=120, rng=rng)
        joined = {f"q{number:02}": 1.0 for number in range(10)}
        panels += draw(presence | joined, matches=120, rng=rng)
        assert list(panel_share(arena(panels), RULES)) == []


def test_an_honest_arena_gives_neither_finding() -> None:
    """Simulated contests, the rules at the values that the rulebook proposes."""
    for seed in range(size(60, dear=True, at_least=3)):
        records = read_rows(SCHEMA, simulate(size=600, seed=seed, attacks=[]).tables)
        facts = facts_of(records)
        assert [*panel_share(facts, RULES), *judge_burst(facts, RULES)] == []


def year(count: int, rng: random.Random) -> dict[str, datetime]:
    """Return accounts that were created at any time of a year."""
    return {
        f"p{number:03}": START + timedelta(seconds=rng.randrange(365 * 86_400))
        for number in range(count)
    }


def test_accounts_created_in_one_evening_are_named_together() -> None:
    """Six in an hour among forty in a year; nobody else is named."""
    created = year(40, dice(3))
    evening = START + timedelta(days=200)
    created |= {f"s{n}": evening + timedelta(minutes=9 * n) for n in range(6)}
    (finding,) = judge_burst(arena([], created=created), RULES)
    near = {name for name, at in created.items() if abs(at - evening) < timedelta(days=1)}
    assert set(finding.subjects) >= {f"s{n}" for n in range(6)}
    assert set(finding.subjects) <= near
    assert finding.severity is Severity.WARNING
    assert finding.records[0].count == len(finding.subjects)


@pytest.mark.parametrize("change", [lambda _: None, lambda _: START])
def test_accounts_of_unknown_or_all_of_one_time_are_no_warning(
    change: Callable[[datetime], datetime | None],
) -> None:
    """A league that was imported in one go has one time for all; that is no evidence."""
    created: dict[str, Any] = {name: change(at) for name, at in year(30, dice(4)).items()}
    assert warned(list(judge_burst(arena([], created=created), RULES))) == []


@pytest.mark.exhaustive
def test_accounts_created_at_independent_times_are_rarely_a_burst() -> None:
    """At most one warning in a hundred leagues; `surprise` allows one in a thousand."""
    count, alarms = size(400, dear=True), 0
    for seed in range(count):
        rng = dice(seed)
        created = year(rng.choice([10, 30, 100, 200]), rng)
        alarms += bool(warned(list(judge_burst(arena([], created=created), RULES))))
    assert alarms <= count * 0.01


def test_judges_on_one_network_who_sit_together_are_a_warning() -> None:
    """People without bots deal with each other on panels; others do not count."""
    panels = [["ann", "bob", "cat"], ["ann", "cat", "dan"], ["bob", "dan", "eve"]]
    networks = {"ann": "n" * 32, "bob": "n" * 32, "cat": "m" * 32, "dan": "k" * 32}
    tables = tables_of(panels, owners={}, created={}, networks=networks)
    (finding,) = [one for one in find(read_rows(SCHEMA, tables), RULES)
                  if one.code == "shared-network"]  # fmt: skip
    assert (finding.subjects, finding.severity) == (("ann", "bob"), Severity.WARNING)
    assert finding.message.endswith("; 1 panels had several of them")
    tables["votes"] = [row for row in tables["votes"] if row["judge_id"] != "bob"]
    (note,) = [one for one in find(read_rows(SCHEMA, tables), RULES)
               if one.code == "shared-network"]  # fmt: skip
    assert note.severity is Severity.INFO


def test_a_judge_on_the_network_of_an_owner_whose_bot_it_judges_is_a_warning() -> None:
    """A person without a bot is an account, too: its vote for a neighbor's bot is counted."""
    networks = {"ann": "n" * 32, "o": "n" * 32}
    tables = tables_of([["ann"]], owners={}, created={}, networks=networks)
    tables["bots"][0]["owner_id"] = "o"
    (finding,) = [one for one in find(read_rows(SCHEMA, tables), RULES)
                  if one.code == "shared-network"]  # fmt: skip
    assert finding.severity is Severity.WARNING
    assert "cast 1 votes on each other's matches" in finding.message


def test_both_checks_are_off_by_default() -> None:
    """A released edition reports nothing new."""
    created = dict.fromkeys(year(30, dice(4)), START) | {"late": START + timedelta(9)}
    panels = [["friend", "p001", "p002"]] * 50
    facts = arena(panels, created=created)
    assert [*panel_share(facts, ArenaRules()), *judge_burst(facts, ArenaRules())] == []
