"""Presets of arenas: rules and prompts with which a league can play at once."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from agon.app.arena.live.example_prompts import PROMPTS
from agon.app.arena.live.prompts import save_prompts
from agon.app.contests.lifecycle.creation import NewContest
from agon.app.service import Service
from agon.errors import Unreadable

Preset: TypeAlias = Literal["friendly"]

FRIENDLY: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "account_age_days": 0,
        "audit_probability": 0,
        "bradley_terry_regularisation": 0.1,
        "honeypot_probability": 0,
        "judge_min_matches": 0,
        "judges_per_match": 1,
        "min_judge_pool": 1,
        "pairing": "spread",
        "qualification_required": False,
    }
)
"""Rules of a league among friends: it plays with two bots and any one judge."""


def with_preset(new: NewContest, preset: Preset | None) -> NewContest:
    """Return a new contest with the rules of a preset, except those it has itself.

    Raises:
        Unreadable: the contest is not an arena.
    """
    if preset is None:
        return new
    if new.discipline != "arena":
        raise Unreadable(
            f"preset: {preset!r} is for contests of the discipline arena, not {new.discipline}; "
            "leave it out"
        )
    return replace(new, overrides={**FRIENDLY, **new.overrides})


def add_prompts(service: Service, contest_id: str) -> None:
    """Add the prompts that a preset begins with; the organizer can retire them and add others."""
    rows = [
        ("prompts", {"id": f"p{number}", "text": text}, None)
        for number, text in enumerate(PROMPTS, start=1)
    ]
    save_prompts(service, contest_id, rows)
