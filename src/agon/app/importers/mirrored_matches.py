"""Find imported matches that are all there twice, once from each side."""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from agon.kernel.findings import Finding, Severity

_FEWEST_MATCHES: Final = 20
_FEWEST_PAIRS: Final = 3  # with fewer, equal counts are no surprise
_MIRRORED: Final = {"a": "b", "b": "a", "tie": "tie"}
_KEY: Final = ("bot_a", "bot_b", "winner", "played_at")


def mirrored_matches(matches: pa.Table) -> tuple[Finding, ...]:
    """Return a finding if every match has one with sides and winner exchanged, at the same time.

    Judges may see both orders of two answers: where matches name their prompt, such verdicts are
    counted as one cluster, and nothing is found.

    Example:
        >>> one = [{"bot_a": a, "bot_b": b, "winner": "a", "played_at": None}
        ...        for a, b in ("xy", "yz", "zx") for _ in range(10)]
        >>> two = [{**row, "bot_a": row["bot_b"], "bot_b": row["bot_a"], "winner": "b"}
        ...        for row in one]
        >>> mirrored_matches(pa.Table.from_pylist(one))
        ()
        >>> mirrored_matches(pa.Table.from_pylist(one + two))[0].value
        30
    """
    has_prompts = "prompt_id" in matches.column_names
    if has_prompts or "score_a" in matches.column_names or len(matches) < _FEWEST_MATCHES:
        return ()
    if not _is_first_mirrored(matches):
        return ()
    counted = matches.group_by([*_KEY]).aggregate([([], "count_all")])
    *columns, counts = (counted[name].to_pylist() for name in (*_KEY, "count_all"))
    times = dict(zip(zip(*columns, strict=True), counts, strict=True))
    pairs = {frozenset(key[:2]) for key in times}
    if len(pairs) < _FEWEST_PAIRS:
        return ()
    for (a, b, winner, played_at), count in times.items():
        if times.get((b, a, _MIRRORED[winner], played_at)) != count:
            return ()
    return (
        Finding(
            code="mirrored-matches",
            severity=Severity.WARNING,
            subjects=(),
            statistic="matches that are there from both sides",
            value=len(matches) // 2,
            expected=0,
            probability=None,
            message=f"each of {len(matches) // 2:,} matches is there twice, once with the sides "
            "exchanged; if the rows are both sides of one match, keep one of both: counted twice, "
            "intervals are too narrow by the factor 1.4",
        ),
    )


def _is_first_mirrored(matches: pa.Table) -> bool:
    """Return whether the first match is there as often from the other side; this is fast."""
    first = matches.slice(0, 1).to_pylist()[0]
    a, b, winner = first["bot_a"], first["bot_b"], first["winner"]
    here, there = (
        pc.sum(
            pc.and_(
                pc.and_(pc.equal(matches["bot_a"], one), pc.equal(matches["bot_b"], other)),
                pc.equal(matches["winner"], won),
            )
        ).as_py()
        for one, other, won in ((a, b, winner), (b, a, _MIRRORED[winner]))
    )
    return bool(here == there)
