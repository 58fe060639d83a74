"""The page of a contest's rules: value, meaning, reason and source of each."""

from dataclasses import dataclass
from typing import Any

from agon.editions import edition
from agon.web import addresses
from agon.web.page import Page, Visit


@dataclass(frozen=True)
class Rule:
    """A rule in force.

    Attributes:
        name: its name.
        value: its value in this contest.
        released: its value in the edition.
        meaning, reason, source, bounds: its texts.
    """

    name: str
    value: Any
    released: Any
    meaning: str
    reason: str
    source: str
    bounds: str

    @property
    def is_changed(self) -> bool:
        """Whether the contest overrides the edition's value."""
        return bool(self.value != self.released)


def rules(visit: Visit) -> Page:
    """Return the rules in force, those that differ from the edition first."""
    contest = visit.contest()
    released = edition(contest.edition)
    in_force = released.with_rules(contest.overrides)
    rows = [
        Rule(
            text.name,
            getattr(in_force, text.name),
            getattr(released.rules, text.name),
            text.meaning,
            released.reasons.get(text.name, text.reason),
            text.source,
            text.bounds,
        )
        for text in type(released.rules).texts()
    ]
    return Page(
        template="rules.html",
        title=f"Rules · {contest.title}",
        values={
            "contest": contest,
            "edition": released,
            "rules": sorted(rows, key=lambda rule: not rule.is_changed),
        },
        data=addresses.api("contests", contest.id),
    )
