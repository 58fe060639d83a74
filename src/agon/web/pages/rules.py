"""The page of a contest's rules: value, meaning, reason and source of each."""

from dataclasses import dataclass
from typing import Any

from agon.app.dojo.conditions import contest_sentences
from agon.editions import edition, editions
from agon.editions.edition import Edition
from agon.errors import AgonError
from agon.web import addresses
from agon.web.page import SitePage, Visit
from agon.web.protections import protections_off


@dataclass(frozen=True)
class Rule:
    """A rule in force.

    Attributes:
        name: its name.
        value: its value in this contest.
        released: its value in the edition.
        meaning, reason, source, bounds: its texts.
        other: its value in the edition it is compared with, else its value in force.
    """

    name: str
    value: Any
    released: Any
    meaning: str
    reason: str
    source: str
    bounds: str
    other: Any

    @property
    def is_changed(self) -> bool:
        """Whether the contest overrides the edition's value."""
        return bool(self.value != self.released)

    @property
    def differs(self) -> bool:
        """Whether the edition it is compared with has another value."""
        return bool(self.value != self.other)


def rules(visit: Visit) -> SitePage:
    """Return the rules in force, those that differ first: from the edition, or from another one.

    Rules without effect, such as limits of ``none``, are the last ones.
    """
    contest = visit.contest()
    released = edition(contest.edition)
    in_force = released.with_rules(contest.overrides)
    name = visit.query.get("with")
    other = edition(name, of=contest.discipline) if name else None
    rows = [
        Rule(
            text.name,
            getattr(in_force, text.name),
            getattr(released.rules, text.name),
            text.meaning,
            released.reasons.get(text.name, text.reason),
            text.source,
            text.bounds,
            getattr(in_force if other is None else other.rules, text.name),
        )
        for text in type(released.rules).texts()
    ]
    return SitePage(
        template="rules.html",
        title=f"Rules · {contest.title}",
        values={
            "contest": contest,
            "edition": released,
            "rules": sorted(
                rows, key=lambda rule: (not rule.differs, not rule.is_changed, not rule.value)
            ),
            "other": other,
            "editions": [
                each for each in editions(contest.discipline) if each != released.full_name
            ],
            "examples": released.examples,
            "conditions": contest_sentences(contest),
            "off": protections_off(visit, contest),
            "as_of": visit.as_of,
            **_effect(visit, contest.id, other),
        },
        data=addresses.api("contests", contest.id, as_of=visit.as_of),
    )


def _effect(visit: Visit, contest: str, other: Edition | None) -> dict[str, Any]:
    """Return what another edition would do to the ranks of the default board, or why not."""
    if other is None:
        return {"effect": None, "no_effect": ""}
    board = visit.api.boards.default(contest)
    try:
        effect = visit.api.analysis.rules_effect(
            contest, board, edition=other.full_name, as_of=visit.as_of
        )
    except AgonError as error:
        return {"effect": None, "no_effect": str(error)}
    return {"effect": effect, "no_effect": ""}
