"""Kinds: the closed list, and what each has to say."""

from typing import Any

import pytest

from agon.ledger.kinds import KINDS, is_contest, issues_of, preview
from ledger.histories import CREATED

HASH = "0" * 64
SAMPLES: dict[str, dict[str, Any]] = {
    "contest-created": CREATED,
    "contest-edited": {"title": "Cup", "description": "", "visibility": "private",
                       "starts_at": None, "ends_at": "2026-12-24T18:00:00.000000Z"},
    "contest-opened": {},
    "contest-frozen": {"boards": {"bots": {"sha256": HASH, "merkle_root": HASH, "rows": 3}}},
    "contest-unfrozen": {"reason": "too early"},
    "contest-unfinalised": {"reason": "too early", "frozen_at": None},
    "contest-finalised": {"boards": {}},
    "contest-voided": {"reason": "a leak"},
    "contest-restored": {"reason": "no leak", "state": "frozen"},
    "edition-adopted": {"edition": "e", "overrides": {}, "rules_sha256": HASH, "change": "c",
                        "reason": ""},
    "record-added": {"table": "votes", "row": {}},
    "record-replaced": {"table": "votes", "row": {}, "replaces": 3},
    "records-voided": {"seqs": [1, 2], "subjects": ["ada"], "change": None, "reason": ""},
    "adjustment-made": {"board": "b", "id": "x", "points": -1.5, "change": None, "reason": ""},
    "decision-made": {"case": "k1", "decision": "kept", "subjects": [], "reason": ""},
    "draw-committed": {"round": "r1", "commitment": HASH, "method": "m"},
    "round-settled": {"round": "r1", "outcome": {}},
    "honeypot-answers-changed": {"added": [{"prompt_id": None, "sha256": HASH}], "retired": [HASH]},
    "draw-made": {"purpose": "match", "seed": "s", "method": "m", "inputs_sha256": HASH,
                  "result": [1, 2]},
    "submission-received": {"submission": "s", "user": "u", "problem": None, "content": {}},
    "problem-published": {"problem": "p", "package": {}},
    "problem-revealed": {"problem": "p"},
    "change-rolled-back": {"change": "c", "reason": ""},
}  # fmt: skip


def test_the_list_is_closed() -> None:
    """A new kind is a decision, not an accident."""
    assert set(KINDS) == set(SAMPLES)
    assert [str(issue) for issue in issues_of("record-aded", {})] == [
        "kind 'record-aded' is unknown; did you mean record-added?"
    ]
    assert issues_of(None, {})
    assert issues_of(["x"], {})


@pytest.mark.parametrize("kind", SAMPLES)
def test_each_kind_takes_its_fields_and_no_others(kind: str) -> None:
    """A misspelt field must not be lost in silence."""
    body = SAMPLES[kind]
    assert issues_of(kind, body) == []
    assert [issue.what for issue in issues_of(kind, {**body, "extra": 1})] == [
        f"{kind} has no field 'extra'"
    ]


@pytest.mark.sample(30)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in SAMPLES
                                            for name in SAMPLES[kind]])  # fmt: skip
def test_each_field_is_needed_and_checked(kind: str, name: str) -> None:
    """An entry that says half of what happened is none."""
    body = SAMPLES[kind]
    missing = {key: value for key, value in body.items() if key != name}
    assert [issue.what for issue in issues_of(kind, missing)] == [f"{kind} lacks {name}"]
    if name != "result":
        assert len(issues_of(kind, {**body, name: ("never", object())})) == 1


@pytest.mark.parametrize("body", [None, [], "text", 7])
def test_a_body_is_an_object(body: Any) -> None:
    """Anything else has no fields."""
    assert [issue.remedy for issue in issues_of("contest-opened", body)] == ["give an object"]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("records-voided", {"seqs": [1, 1]}),
        ("records-voided", {"seqs": [True]}),
        ("records-voided", {"seqs": [0]}),
        ("records-voided", {"subjects": [["x"]]}),
        ("contest-created", {"season": True}),
        ("contest-created", {"season": -1}),
        ("contest-created", {"discipline": "chess"}),
        ("contest-created", {"visibility": None}),
        ("contest-created", {"starts_at": "2026-12-24"}),
        ("contest-created", {"ends_at": 7}),
        ("contest-edited", {"ends_at": "2026-13-24T18:00:00.000000Z"}),
        ("contest-created", {"boards": ["a", "a"]}),
        ("contest-created", {"title": "a\x00"}),
        ("contest-frozen", {"boards": {"b": {"sha256": HASH, "merkle_root": HASH}}}),
        ("contest-frozen", {"boards": {"b": {"sha256": "x", "merkle_root": HASH, "rows": 0}}}),
        ("adjustment-made", {"points": True}),
        ("adjustment-made", {"points": "1"}),
        ("record-replaced", {"replaces": 2**63}),
        ("edition-adopted", {"rules_sha256": HASH.upper() + "A"}),
    ],
)
def test_values_that_nearly_fit_are_refused(kind: str, change: dict[str, Any]) -> None:
    """True is no number, and twice the same is no list of different ones."""
    assert len(issues_of(kind, {**SAMPLES[kind], **change})) == 1


@pytest.mark.parametrize("name", ["", ".", "..", ".a", "a/b", "../x", "a\\b", "a b", "a\n", "é",
                                  "a" * 101, "-a", None, 7])  # fmt: skip
def test_a_contests_name_is_safe_as_a_files(name: Any) -> None:
    """Names end up in paths and addresses."""
    assert not is_contest(name)


def test_names_of_contests_may_have_letters_digits_and_signs() -> None:
    """People write seasons."""
    assert all(map(is_contest, ["spring-2026", "A.b_c", "7", "a" * 100]))


def test_values_are_shown_short() -> None:
    """A message is for reading."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert len(preview("x" * 1000)) < 70
    assert preview(deep) == "a value nested too deep to print"
    while deep:
        deep = deep[0]  # so that the interpreter need not free it all at once
