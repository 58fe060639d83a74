"""The state machine of a contest: one table for complete ledgers and for single entries."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agon.errors import Conflict
from agon.ledger.contest_state import Lifecycle, empty_contest
from agon.ledger.kinds import KINDS
from agon.ledger.transitions import (
    ADOPTING,
    TRANSITIONS,
    Adoption,
    adoptions_after,
    apply,
    require_allowed,
    state_issue,
)

STATES: tuple[Lifecycle, ...] = ("draft", "open", "frozen", "final", "void")
ALLOWED = {
    "contest-opened": ("draft",),
    "contest-frozen": ("open",),
    "contest-unfrozen": ("frozen",),
    "contest-unfinalised": ("final",),
    "contest-finalised": ("open", "frozen"),
    "contest-voided": ("open", "frozen", "final"),
    "contest-restored": ("void",),
}
ALSO_WHILE_VOID = {"contest-edited", "decision-made", "problem-revealed"}
"""Kinds that say something about a void contest; a record, a draw or a rule would change it."""


def _apply(state: Lifecycle, kind: str, /, **body: Any) -> dict[str, Any]:
    before = replace(empty_contest("spring"), seq=6, state=state, edition="arena/e1")
    after = apply(before, kind, body, seq=7, head=b"h" * 32, adoptions=list)
    return {name: value for name, value in vars(after).items() if value != vars(before)[name]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", STATES)
def test_a_kind_is_allowed_in_the_same_states_when_appended_and_when_read(
    state: Lifecycle, kind: str
) -> None:
    """A ledger must never hold what its own check rejects."""
    contest = replace(empty_contest("spring"), state=state, void_reason="a leak")
    counting = STATES if kind in ALSO_WHILE_VOID else STATES[:-1]
    if state in ALLOWED.get(kind, counting):
        assert state_issue(contest, kind) is None
        require_allowed(contest, kind)
        return
    assert f"{kind} while the contest is {state}" in str(state_issue(contest, kind))
    refusal = (
        r"spring is void \(a leak\) and takes"
        if state == "void"
        else (f"spring is {state} and cannot be")
    )
    with pytest.raises(Conflict, match=refusal):
        require_allowed(contest, kind)


def test_the_table_names_kinds_of_entries() -> None:
    """A kind that does not exist would never be applied."""
    assert set(TRANSITIONS) <= set(KINDS)
    assert set(ADOPTING) <= set(TRANSITIONS)


def test_each_step_changes_the_state_and_notes_its_position() -> None:
    """What the public sees is derived from these positions."""
    moved = {"seq": 7, "head": b"h" * 32}
    assert _apply("draft", "contest-opened") == {**moved, "state": "open"}
    assert _apply("open", "contest-frozen") == {**moved, "state": "frozen", "frozen_at": 7}
    assert _apply("frozen", "contest-unfrozen", reason="done") == {**moved, "state": "open"}
    assert _apply("open", "contest-finalised") == {**moved, "state": "final", "finalized_at": 7}
    assert _apply("final", "contest-unfinalised", frozen_at=None) == {**moved, "state": "open"}
    back = _apply("final", "contest-unfinalised", frozen_at=5)
    assert back == {**moved, "state": "frozen", "frozen_at": 5}
    assert _apply("final", "contest-voided", reason="a leak") == {
        **moved, "state": "void", "voided_at": 7, "void_reason": "a leak"
    }  # fmt: skip
    assert _apply("void", "contest-restored", state="final") == {**moved, "state": "final"}
    assert _apply("open", "decision-made") == moved


def test_an_edit_states_all_details_and_its_times_are_instants() -> None:
    """Times in entries are text; the state is compared with a clock."""
    moved = {"seq": 7, "head": b"h" * 32}
    body = {"title": "Cup", "description": "", "visibility": "public", "ends_at": None}
    start = {"starts_at": "2026-12-01T00:00:00.000000Z"}
    edited = _apply("final", "contest-edited", **body, **start)
    at = datetime(2026, 12, 1, tzinfo=UTC)
    assert edited == {**moved, "title": "Cup", "visibility": "public", "starts_at": at}


def test_a_rollback_puts_the_edition_before_it_in_force() -> None:
    """Of several adoptions, the newest that was not rolled back counts."""
    adoptions: list[Adoption] = []
    for kind, body in (
        ("contest-created", {"edition": "arena/e1", "overrides": {}}),
        ("edition-adopted", {"edition": "arena/e2", "overrides": {"k": 1}, "change": "c1"}),
        ("edition-adopted", {"edition": "arena/e3", "overrides": {}, "change": "c2"}),
        ("change-rolled-back", {"change": "c2"}),
        ("decision-made", {}),
    ):
        adoptions = adoptions_after(adoptions, kind, body)
    contest = replace(empty_contest("spring"), edition="arena/e3")
    after = apply(
        contest,
        "change-rolled-back",
        {"change": "c2"},
        seq=4,
        head=b"",
        adoptions=lambda: adoptions,
    )
    assert (after.edition, after.overrides) == ("arena/e2", {"k": 1})
