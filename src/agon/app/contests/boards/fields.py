"""The fields of boards and of their pages, as JSON has them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import BoardRows, PublishedBoard
from agon.app.contests.clock import contest_clock
from agon.disciplines import discipline
from agon.entities.contests import Amendment, Phase, Snapshot
from agon.kernel.times import written_time


def page_fields(view: View, page: BoardRows, *, now: datetime) -> dict[str, Any]:
    """Return a page as fields of JSON, without its rows."""
    phase = contest_clock(view.contest, now=now, amendment=page.amendment).phase
    return {**board_fields(view, page), **window_fields(page, phase=phase)}


def board_fields(view: View, board: BoardRows | PublishedBoard) -> dict[str, Any]:
    """Return the fields that all pages of a published board share."""
    amended_by, amendment = board.amended_by, board.amendment
    return {
        "contest": view.contest.id,
        "discipline": view.contest.discipline,
        "title": view.contest.title,
        "state": view.contest.state,
        "void_reason": view.contest.void_reason,
        **proof_fields(board.snapshot),
        "amended_by": None if amended_by is None else _amendment_fields(amended_by),
        "amendment": None if amendment is None else _reason_fields(amendment),
        "intervals": _intervals(view, board.snapshot),
        "notes": list(board.snapshot.notes),
    }


def window_fields(page: BoardRows, *, phase: Phase) -> dict[str, Any]:
    """Return the fields that say when a page is read, which rows it has, and the names it shows."""
    window = {"phase": phase} | {
        name: getattr(page, name) for name in ("start", "index", "next", "previous")
    }
    optional = {"matching": page.matching, "names": page.names}
    return window | {name: value for name, value in optional.items() if value is not None}


def proof_fields(snapshot: Snapshot) -> dict[str, Any]:
    """Return what a board was made from and its hashes, as fields of JSON."""
    manifest = snapshot.manifest
    return {
        "board": snapshot.board,
        "edition": manifest.get("edition"),
        "overrides": manifest.get("overrides"),
        "rules_sha256": manifest.get("rules_sha256"),
        "seq": snapshot.seq,
        "head_sha256": manifest.get("head_sha256"),
        "at": written_time(snapshot.at),
        "published_at": written_time(snapshot.published_at),
        "snapshot": snapshot.no,
        "board_sha256": snapshot.board_sha256,
        "merkle_root": manifest.get("merkle_root"),
        "rows_total": snapshot.rows,
        "unscored_total": snapshot.unscored,
    }


def _intervals(view: View, snapshot: Snapshot) -> Mapping[str, Any] | None:
    """Return the method and level of a board's intervals, under the rules it was scored under."""
    manifest, chosen = snapshot.manifest, discipline(view.contest.discipline)
    if chosen.traits.intervals is None:
        return None
    from agon.app.analysis.score import rules_of

    _, rules = rules_of(chosen.name, manifest["edition"], manifest["overrides"])
    return chosen.traits.intervals(snapshot.board, rules)


def _reason_fields(amendment: Amendment) -> Mapping[str, Any]:
    return {**vars(amendment), "at": written_time(amendment.at)}


def _amendment_fields(snapshot: Snapshot) -> Mapping[str, Any]:
    return {
        "snapshot": snapshot.no,
        "seq": snapshot.seq,
        "at": written_time(snapshot.at),
        "board_sha256": snapshot.board_sha256,
    }
