"""Make facts and tables of matches and votes that a simulation holds as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.arena.facts import (
    BOT,
    HONEYPOT,
    PERSON,
    UNKNOWN_TIME,
    Bots,
    Facts,
    Judges,
    Matches,
    Reinstatements,
    Votes,
)
from agon.disciplines.arena.formulas import NONE, SIDE_A, SIDE_B, Codes, Ints
from agon.kernel.arrays import stable_order
from agon.kernel.boards import id_order

_START = np.datetime64("2026-01-01T00:00:00", "us")
_MINUTE = np.timedelta64(1, "m")
_OF_VOTES = ("match", "judge", "side", "first")


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

    @classmethod
    def join(cls, parts: Sequence["MatchArrays"]) -> "MatchArrays":
        """Return the matches of several parts, one part after the other."""
        columns: dict[str, Any] = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
        }
        begin = np.cumsum([0, *map(len, parts[:-1])])
        columns["match"] += np.repeat(begin, [len(part.match) for part in parts])
        return cls(**columns)

    @property
    def shown(self) -> tuple[Ints, Ints]:
        """The bots of both sides; −1 on a honeypot's robotic side, which no bot wrote."""
        robotic = [(self.kind == HONEYPOT) & (self.real != side) for side in (SIDE_A, SIDE_B)]
        side_a, side_b = (
            np.where(side, NONE, bot)
            for side, bot in zip(robotic, (self.bot_a, self.bot_b), strict=True)
        )
        return side_a, side_b

    def until(self, matches: int) -> "MatchArrays":
        """Return the first matches and their votes."""
        return self.without(np.arange(len(self)) >= matches)

    def without(self, left_out: npt.NDArray[np.bool_]) -> "MatchArrays":
        """Return the matches that are not left out, with their votes, numbered from 0 on."""
        voted = ~left_out[self.match]
        columns: dict[str, Any] = {
            field.name: getattr(self, field.name)[voted if field.name in _OF_VOTES else ~left_out]
            for field in fields(self)
        }
        columns["match"] = (np.cumsum(~left_out) - 1)[columns["match"]]
        return MatchArrays(**columns)

    def of_first(self, bots: int) -> "MatchArrays":
        """Return the matches among the first bots, and the votes of the first judges."""
        among = self.without(np.maximum(*self.shown) >= bots)
        own = among.judge < bots
        votes: dict[str, Any] = {name: getattr(among, name)[own] for name in _OF_VOTES}
        return replace(among, **votes)


def facts_of_arrays(arrays: MatchArrays, *, bots: int, judges: int) -> Facts:
    """Return the facts of matches among numbered bots and judges, who are persons.

    The votes are in order of play.
    """
    order = stable_order(arrays.judge)
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
            np.full(judges, UNKNOWN_TIME),
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


def named_facts(arrays: MatchArrays, names: Sequence[str], *, created: np.datetime64) -> Facts:
    """Return the facts of :func:`tables_of_arrays`, without the tables.

    Args:
        arrays: the matches and votes.
        names: ids of the bots by number; each judges, and is owned by an account of that id.
        created: when the accounts were created, and the bots qualified.
    """
    unsorted = pa.array(names, pa.string())
    place, count = id_order(unsorted), len(names)
    bot_a, bot_b = (np.where(bot == NONE, NONE, place[bot]) for bot in arrays.shown)
    numbered = replace(arrays, bot_a=bot_a, bot_b=bot_b, judge=place[arrays.judge])
    facts = facts_of_arrays(numbered, bots=count, judges=count)
    ids = unsorted.take(pa.array(np.argsort(place)))
    micros = _times(len(arrays)).astype(np.int64)
    made = np.full(count, created.astype("M8[us]").astype(np.int64))
    return replace(
        facts,
        bots=replace(
            facts.bots,
            ids=ids,
            names=ids,
            owner=ids,
            account_created=made,
        ),
        judges=Judges(
            ids, ids, np.arange(count, dtype=np.int32), np.full(count, BOT, dtype=np.int8), made
        ),
        matches=replace(facts.matches, ids=pa.array(facts.matches.played + 1), played=micros),
        votes=replace(facts.votes, voted=micros[facts.votes.match]),
    )


def tables_of_arrays(arrays: MatchArrays, names: Sequence[str]) -> dict[str, pa.Table]:
    """Return the matches and votes as tables, one match a minute; judges are bots by number."""
    ids = pa.array(names, pa.string())
    number, played = np.arange(len(arrays)), _times(len(arrays))
    bot_a, bot_b = arrays.shown
    matches = {
        "id": number + 1,
        "played_at": pa.array(played),
        "bot_a": _texts_of(ids, bot_a, keep=bot_a != NONE),
        "bot_b": _texts_of(ids, bot_b, keep=bot_b != NONE),
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


def _times(matches: int) -> npt.NDArray[np.datetime64]:
    """Return the times of matches: one a minute."""
    return _START + np.arange(matches) * _MINUTE.astype("m8[us]")


def _texts_of(values: Any, codes: Any, *, keep: Any = None) -> pa.Array:
    """Return the values of codes, empty where they are not kept."""
    mask = None if keep is None else ~keep
    return pa.array(values, pa.string()).take(pa.array(codes.astype(np.int64), mask=mask))


def _names(letter: str, count: int) -> pa.Array:
    width = len(str(count))
    return pa.array([f"{letter}{number:0{width}}" for number in range(count)], pa.string())
