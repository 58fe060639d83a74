"""Explanations, findings and fingerprints: what adds up, what sorts, what hashes."""

import pyarrow as pa
import pytest

from agon.kernel.boards import Board, UnscoredRow
from agon.kernel.explanations import (
    Explanation,
    Part,
    scored_explanation,
    unscored_explanation,
)
from agon.kernel.findings import Finding, RecordRefs, Severity, in_order
from agon.kernel.fingerprints import canonical_json, sha256, sha256_lines


def part(points: float) -> Part:
    """Make a part worth so many points."""
    return Part("h_index", points, {"h": 5}, {"h_index_coefficient": 2}, "5 squared times 2")


def test_parts_that_do_not_sum_to_the_score_are_rejected() -> None:
    """An explanation that does not add up explains nothing."""
    assert Explanation("b", "u1", 1, 50.3, (part(50), part(0.1), part(0.2))).score == 50.3
    with pytest.raises(ValueError, match="parts sum to 50"):
        Explanation("b", "u1", 1, 51.0, (part(50),))


def test_an_unscored_id_is_explained_without_a_sum() -> None:
    """How far the computation came is shown even when no score came of it."""
    result = Explanation("b", "u1", None, None, (part(3),), reason="only 2 validators")
    assert result.to_dict()["reason"] == "only 2 validators"


def test_an_explanation_has_rank_score_and_grid_of_its_board() -> None:
    """A score of two decimals that was explained on a grid of six would not add up."""
    table = pa.table({"rank": [1], "id": ["u1"], "score": [0.33]})
    board = Board("b", table, (UnscoredRow("u2", "no rows"),), places=2)
    why = scored_explanation(board, board.row("u1"), (part(0.333),), context={"epoch": 1})
    assert why == Explanation("b", "u1", 1, 0.33, (part(0.333),), places=2, context={"epoch": 1})
    why = unscored_explanation(board, "u2", "no rows", notes=["two left"])
    assert why == Explanation("b", "u2", None, None, (), 2, "no rows", ("two left",))


def test_findings_are_ordered_by_severity() -> None:
    """The desk reads from the top."""

    def finding(severity: Severity, code: str) -> Finding:
        return Finding(code, severity, ("u1",), "share", 0.9, 0.1, 0.01, "m")

    mixed = [finding(Severity.INFO, "a"), finding(Severity.ERROR, "z"),
             finding(Severity.WARNING, "b"), finding(Severity.ERROR, "c")]  # fmt: skip
    assert [f.code for f in in_order(mixed)] == ["c", "z", "b", "a"]


def test_record_references_count_what_they_do_not_list() -> None:
    """A finding about a million rows stays readable."""
    refs = RecordRefs.of("votes", [str(n) for n in range(250)])
    assert (len(refs.ids), refs.count) == (100, 250)


def test_hashes_do_not_depend_on_key_order() -> None:
    """The same content has the same hash on every machine."""
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
    assert sha256({"a": 1, "b": 2}) == sha256({"b": 2, "a": 1})
    assert sha256_lines([1, 2]) != sha256_lines([2, 1])
    with pytest.raises(ValueError, match="JSON compliant"):
        sha256({"a": float("nan")})
