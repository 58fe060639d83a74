"""Draws of a league are repeated from its ledger; every change of one is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agon.app.arena.draw_audit import check_draws
from agon.ledger.entry import read_line
from agon.ledger.fold import LedgerState, empty_ledger, fold
from fakes.arena import Model, league


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[bytes], LedgerState]:
    """Play three rounds with honeypots; return the lines and their state."""
    played = league(
        tmp_path_factory.mktemp("league"),
        honeypot_probability=0.4,
        audit_probability=0.0,
        pairing="spread",
    )
    for _ in range(3):
        assert played.play() == []
    lines = played.ledger()
    played.service.store.close()
    return lines, fold(lines, start=empty_ledger("autumn"))


def change(line: bytes, edit: Callable[[dict[str, Any]], None]) -> bytes:
    """Return a line with another body, in canonical form."""
    value = json.loads(line)
    edit(value["body"])
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def issues(lines: list[bytes], state: LedgerState) -> list[str]:
    """Return what is reported."""
    return [issue.what for issue in check_draws(lines, state).issues]


@pytest.mark.exhaustive
def test_the_draws_of_a_league_are_repeated(ledger: tuple[list[bytes], LedgerState]) -> None:
    """Honeypots among them, and the votes are in the drawn order."""
    lines, state = ledger
    assert issues(lines, state) == []
    kinds = [read_line(line).kind for line in lines]
    assert kinds.count("draw-made") == 3
    text = b"".join(lines)
    assert b'"kind":"honeypot"' in text


def drawn(body: dict[str, Any]) -> dict[str, Any]:
    """Return the first match of a draw."""
    match: dict[str, Any] = body["result"]["matches"][0]
    return match


def text(body: dict[str, Any], name: str, value: Any) -> None:
    """Change what a round states of its first honeypot."""
    match = next(one for one in body["outcome"]["matches"] if one["outcome"] == "honeypot")
    if name == "honeypot_text":
        del match[name]
    else:
        match["honeypot_text"][name] = value


HONEYPOT = {"kind": "honeypot", "honeypot_real": "x"}
CHANGES: list[tuple[str, str, Callable[[dict[str, Any]], None]]] = [
    ("draw-made", "does not have the committed SHA-256", lambda body: body.update(seed="chosen")),
    ("draw-made", "the head is", lambda body: body["result"].update(head="00" * 32)),
    ("draw-made", "the recorded SHA-256", lambda body: body.update(inputs_sha256="00" * 32)),
    ("draw-made", "wait, drawn were", lambda body: body["result"].update(waiting=["b1"])),
    ("draw-made", "matches, drawn were", lambda body: body["result"]["matches"].pop()),
    ("draw-made", "judges of r1-1 is", lambda body: drawn(body)["judges"].reverse()),
    ("draw-made", "audited of r1-1 is", lambda body: drawn(body).update(audited=3)),
    ("draw-made", "bot_b of r1-1 is", lambda body: drawn(body).update(bot_b="b9")),
    ("draw-made", "has no commitment", lambda body: body.update(purpose="round r99")),
    ("draw-committed", "committed SHA-256", lambda body: body.update(commitment="00" * 32)),
    ("draw-committed", "the method is", lambda body: body.update(method="other")),
    ("matches", "bot_a is 'zz', drawn was", lambda body: body["row"].update(bot_a="zz")),
    ("matches", "honeypot of side", lambda body: body["row"].update(HONEYPOT)),
    ("round-settled", "is not stated what", lambda body: text(body, "honeypot_text", None)),
    ("round-settled", "stated is ['x']", lambda body: text(body, "seen", ["x"])),
    ("round-settled", "x was asked besides, drawn was None",
     lambda body: text(body, "weak", {"bot": "x", "use": "fault"})),
    ("round-settled", "cannot be repeated", lambda body: text(body, "seen", 3)),
    ("round-settled", "shows the answer aa of the contest, drawn was None",
     lambda body: text(body, "bank", {"sha256": "aa", "salt": "00"})),
    ("round-settled", "text of its honeypot is not",
     lambda body: body["outcome"].update(honeypot_lengths=[300])),
    ("honeypot", "text of its honeypot",
     lambda body: body["row"].update(response_a="x", response_b="x")),
    ("votes", "first, drawn was", lambda body: body["row"].update(shown_first="c")),
    ("votes", "voted, who was not drawn", lambda body: body["row"].update(judge_id="zz")),
]  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize(("kind", "difference", "edit"), CHANGES, ids=range(len(CHANGES)))
def test_every_change_of_a_draw_is_named(
    ledger: tuple[list[bytes], LedgerState],
    kind: str,
    difference: str,
    edit: Callable[[dict[str, Any]], None],
) -> None:
    """The first entry of a kind, or the first record of a table, is changed."""
    lines, state = ledger
    entries = [read_line(line) for line in lines]
    at = next(
        at
        for at, entry in enumerate(entries)
        if (entry.kind == kind and (kind != "round-settled" or b"honeypot_text" in lines[at]))
        or (
            entry.kind == "record-added"
            and kind in {entry.body["table"], entry.body["row"].get("kind")}
        )
    )
    changed = [*lines[:at], change(lines[at], edit), *lines[at + 1 :]]
    reported = issues(changed, state)
    assert any(difference in what for what in reported), reported


@pytest.mark.exhaustive
def test_a_model_may_judge_where_no_judge_is_left(tmp_path: Path) -> None:
    """Nothing was tampered with: the last judge failed, and no reserve was left."""
    played = league(tmp_path, bots=6, judges_per_match=4)
    played.model = Model()
    played.fail("b1", only="vote")
    assert played.play() == []
    lines = played.ledger()
    assert any(vote["judge_id"] == "model-1" for vote in played.rows("votes"))
    assert issues(lines, fold(lines, start=empty_ledger("autumn"))) == []
    at = next(at for at, line in enumerate(lines) if b'"kind":"round-settled"' in line)

    def forget(body: dict[str, Any]) -> None:
        for match in body["outcome"]["matches"]:
            match["replaced"] = []

    lines[at] = change(lines[at], forget)
    reported = issues(lines, fold(played.ledger(), start=empty_ledger("autumn")))
    assert any("model-1 voted, who was not drawn" in what for what in reported)
    played.service.store.close()


def test_a_second_commitment_is_named(ledger: tuple[list[bytes], LedgerState]) -> None:
    """Two seeds for one round would leave a choice."""
    lines, state = ledger
    at = next(at for at, line in enumerate(lines) if b"draw-committed" in line)
    reported = issues([*lines[: at + 1], lines[at], *lines[at + 1 :]], state)
    assert "round r1 is committed twice" in reported
