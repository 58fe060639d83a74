"""Make facts and tables of matches and votes that a simulation holds as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.arena.facts import (
    PERSON,
    UNKNOWN_TIME,
    Bots,
    Facts,
    Judges,
    Matches,
    Reinstatements,
    Votes,
)
from agon.disciplines.arena.formulas import NONE, Codes, Ints

_START = np.datetime64("2026-01-01T00:00:00", "us")
_MINUTE = np.timedelta64(1, "m")


@dataclass(frozen=True, eq=False)
class MatchArrays:
    """Matches in order of play and their votes; all sides are 0 or 1, and −1 where there is none.

    Attributes:
        bot_a, bot_b: bot numbers.
        kind: rated, honeypot or skipped.
        real: the real side of a honeypot.
        audit: the audit's verdict.
        winner: the winner of a match without votes.
        match, judge: of each vote; the index of its match, and the number of its judge.
        side: what each vote is for.
        first: the side that each judge was shown as A.
    """

    bot_a: Ints
    bot_b: Ints
    kind: Codes
    real: Codes
    audit: Codes
    winner: Codes
    match: Ints
    judge: Ints
    side: Codes
    first: Codes

    def __len__(self) -> int:
        return len(self.kind)

    def extend(self, later: "MatchArrays") -> "MatchArrays":
        """Return these matches followed by later ones."""
        columns: dict[str, Any] = {
            field.name: np.concatenate([getattr(self, field.name), getattr(later, field.name)])
            for field in fields(self)
        }
        columns["match"][len(self.match) :] += len(self)
        return MatchArrays(**columns)

    def until(self, matches: int) -> "MatchArrays":
        """Return the first matches and their votes."""
        return self.without(np.arange(len(self)) >= matches)

    def without(self, left_out: npt.NDArray[np.bool_]) -> "MatchArrays":
        """Return the matches that are not left out, with their votes, numbered from 0 on."""
        voted = ~left_out[self.match]
        of_votes = {"match", "judge", "side", "first"}
        columns: dict[str, Any] = {
            field.name: getattr(self, field.name)[voted if field.name in of_votes else ~left_out]
            for field in fields(self)
        }
        columns["match"] = (np.cumsum(~left_out) - 1)[columns["match"]]
        return MatchArrays(**columns)


def no_matches() -> MatchArrays:
    """Return arrays without a match."""
    ints, codes = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8)
    return MatchArrays(ints, ints, codes, codes, codes, codes, ints, ints, codes, codes)


def facts_of_arrays(arrays: MatchArrays, *, bots: int, judges: int) -> Facts:
    """Return the facts of matches among numbered bots and judges, who are persons."""
    order = np.lexsort((arrays.match, arrays.judge))
    judge, match, side = arrays.judge[order], arrays.match[order], arrays.side[order]
    counts = np.bincount(match * 3 + side, minlength=3 * len(arrays)).reshape(-1, 3)
    unknown = np.full(bots, UNKNOWN_TIME)
    number = np.arange(len(arrays))
    return Facts(
        Bots(
            _names("b", bots), _names("b", bots), pa.nulls(bots, pa.string()),
            unknown, np.ones(bots, dtype=bool), unknown,
        ),
        Judges(
            _names("j", judges), pa.nulls(judges, pa.string()),
            np.full(judges, NONE, dtype=np.int32), np.full(judges, PERSON, dtype=np.int8),
        ),
        Matches(
            pa.array(number), number, arrays.bot_a.astype(np.int32),
            arrays.bot_b.astype(np.int32), arrays.kind, arrays.real, arrays.audit,
            arrays.winner, counts,
        ),
        Votes(
            judge.astype(np.int32), match.astype(np.int32), side,
            (arrays.first[order] ^ side).astype(np.int8), match,
            np.searchsorted(judge, np.arange(judges + 1)),
        ),
        Reinstatements(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), ()),
    )  # fmt: skip


def tables_of_arrays(arrays: MatchArrays, names: Sequence[str]) -> dict[str, pa.Table]:
    """Return the matches and votes as tables, one match a minute; judges are bots by number."""
    ids = pa.array(names, pa.string())
    number = np.arange(len(arrays))
    played = _START + number * _MINUTE.astype("m8[us]")
    matches = {
        "id": number + 1,
        "played_at": pa.array(played),
        "bot_a": _texts_of(ids, arrays.bot_a, keep=(arrays.kind != 1) | (arrays.real == 0)),
        "bot_b": _texts_of(ids, arrays.bot_b, keep=(arrays.kind != 1) | (arrays.real == 1)),
        "kind": _texts_of(["rated", "honeypot", "skipped"], arrays.kind),
        "honeypot_real": _texts_of(["a", "b"], arrays.real, keep=arrays.real != NONE),
        "audit_verdict": _texts_of(["a", "b"], arrays.audit, keep=arrays.audit != NONE),
        "winner": _texts_of(["a", "b"], arrays.winner, keep=arrays.winner != NONE),
    }
    votes = {
        "match_id": arrays.match + 1,
        "judge_id": _texts_of(ids, arrays.judge),
        "shown_first": _texts_of(["a", "b"], arrays.first),
        "vote": _texts_of(["A", "B"], arrays.first ^ arrays.side),
        "voted_at": pa.array(played[arrays.match]),
    }
    return {"matches": pa.table(matches), "votes": pa.table(votes)}


def _texts_of(values: Any, codes: Any, *, keep: Any = None) -> pa.Array:
    """Return the values of codes, empty where they are not kept."""
    mask = None if keep is None else ~keep
    return pa.array(values, pa.string()).take(pa.array(codes.astype(np.int64), mask=mask))


def _names(letter: str, count: int) -> pa.Array:
    width = len(str(count))
    return pa.array([f"{letter}{number:0{width}}" for number in range(count)], pa.string())
