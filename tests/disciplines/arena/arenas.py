"""Draw small arenas with nasty features, and score rows at hand."""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

import agon
from agon.app.analysis.score import Result
from agon.disciplines.arena.records import SCHEMA
from agon.records import read_rows

Row = dict[str, Any]
Tables = dict[str, list[Row]]

TIMES = [datetime(2026, 1, day, 12) for day in range(1, 5)]  # noqa: DTZ001 - records hold UTC


def scored(tables: Tables, *, as_of: datetime | None = None, **rules: Any) -> Result:
    """Score rows at hand under the reference edition."""
    return agon.score("arena", read_rows(SCHEMA, tables), overrides=rules, as_of=as_of)


def match(name: Any, a: Any, b: Any, **more: Any) -> Row:
    """Write one match; rated unless said otherwise."""
    return {"id": name, "played_at": None, "bot_a": a, "bot_b": b, "kind": "rated", **more}


def vote(match_id: Any, judge: Any, side: str, *, first: str = "a") -> Row:
    """Write a vote for a side, under the label it had."""
    label = "tie" if side == "tie" else ("A" if side == first else "B")
    return {
        "match_id": match_id,
        "judge_id": judge,
        "shown_first": first,
        "vote": label,
        "voted_at": None,
    }


def bots(*names: Any) -> list[Row]:
    """Write bots that have not qualified."""
    return [{"id": name, "name": f"bot {name}"} for name in names]


def _id(*, is_integer: bool, prefix: str, number: int) -> int | str:
    return number if is_integer else f"{prefix}{number}"


@st.composite
def arenas(draw: st.DrawFn) -> Tables:
    """Draw ties, equal times, missing times, early votes, odd panels, all kinds of matches."""
    is_integer = draw(st.booleans())
    names = [_id(is_integer=is_integer, prefix="b", number=number) for number in (1, 2, 10, 11)]
    judges = [
        _id(is_integer=is_integer, prefix="j", number=number) for number in (1, 2, 30, 31, 32)
    ]
    when = st.sampled_from([None, *TIMES])
    tables: Tables = {
        "bots": [
            {
                "id": name,
                "name": str(name),
                "qualified_at": draw(when),
                "is_judge": draw(st.booleans()),
            }
            for name in names
        ]
    }
    matches: list[Row] = []
    for number in range(draw(st.integers(1, 8))):
        a, b = draw(st.permutations(names))[:2]
        row = match(
            _id(is_integer=is_integer, prefix="m", number=number * 3 + 1),
            a,
            b,
            played_at=draw(when),
            kind=draw(st.sampled_from(["rated", "rated", "rated", "honeypot", "skipped"])),
            audit_verdict=draw(st.sampled_from([None, None, "a", "b", "tie"])),
            winner=draw(st.sampled_from([None, "a", "b", "tie"])),
        )
        row["honeypot_real"] = draw(st.sampled_from("ab")) if row["kind"] == "honeypot" else None
        if row["kind"] == "honeypot":
            row["bot_b" if row["honeypot_real"] == "a" else "bot_a"] = None
        matches.append(row)
    tables["matches"] = draw(st.permutations(matches))
    if draw(st.booleans()):
        cast = [
            {**vote(row["id"], judge, side, first=first), "voted_at": draw(when)}
            for row in matches
            for judge in judges
            for side, first in [(draw(st.sampled_from("aab")), draw(st.sampled_from("ab")))]
            if draw(st.booleans())
        ]
        for row in cast:
            if draw(st.integers(0, 9)) == 0:
                row["vote"] = "tie"
        tables["votes"] = draw(st.permutations(cast))
    if draw(st.booleans()):
        tables["judges"] = [
            {"id": judge, "kind": draw(st.sampled_from(["bot", "person", "api"]))}
            for judge in judges[:3]
        ]
    if draw(st.booleans()):
        times = draw(st.lists(st.sampled_from(TIMES), max_size=2, unique=True))
        tables["reinstatements"] = [
            {"judge_id": draw(st.sampled_from(judges)), "reinstated_at": at, "reason": "asked"}
            for at in times
        ]
    if draw(st.booleans()):
        tables["versions"] = [
            {"bot_id": draw(st.sampled_from(names)), "version": draw(st.sampled_from([None, "2"])),
             "since": at}
            for at in draw(st.lists(st.sampled_from(TIMES), max_size=3, unique=True))
        ]  # fmt: skip
    return tables


RULES = st.sampled_from(
    [
        {},
        {"audit_overturns": True},
        {"round_changes": False},
        {"games_established": 2, "provisional_matches": 2},
        # Steps so large that floor and threshold are reached within a few matches.
        {"credibility_disagree": 25, "credibility_agree": 7, "credibility_honeypot": 45},
        {"credibility_start": 55, "credibility_floor": 50, "credibility_active": 52},
        {"credibility_consensus": "others", "credibility_ceiling": 102, "credibility_agree": 2},
    ]
)
