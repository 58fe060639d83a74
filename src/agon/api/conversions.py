"""Read the JSON of a response into the values it was made of."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from agon.kernel.explanations import Explanation, Part
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.text.sentences import sentence_of

_MAX_PLACES = 12


def explanation_of(value: Mapping[str, Any]) -> Explanation:
    """Read an explanation; the grid is that of its score.

    Example:
        >>> explained = Explanation("b", "ada", 1, 2.5, (Part("x", 2.5, {}, {}, "why"),))
        >>> explanation_of(explained.to_dict()).parts[0].points
        2.5
    """
    score = value["score"]
    return Explanation(
        board=value["board"],
        id=value["id"],
        rank=value["rank"],
        score=score,
        parts=tuple(_part(part) for part in value["parts"]),
        places=0 if score is None else _places(score),
        reason=value["reason"],
        notes=tuple(map(sentence_of, value["notes"], value["note_pieces"])),
        context=value["context"],
        names=value["names"],
    )


def finding_of(value: Mapping[str, Any]) -> Finding:
    """Read a finding."""
    return Finding(
        **{
            **value,
            "severity": Severity(value["severity"]),
            "subjects": tuple(value["subjects"]),
            "records": _refs(value["records"]),
        }
    )


def _part(value: Mapping[str, Any]) -> Part:
    fields = {key: each for key, each in value.items() if key != "pieces"}
    text = sentence_of(value["text"], value["pieces"])
    return Part(**{**fields, "text": text, "records": _refs(value["records"])})


def _refs(values: Iterable[Mapping[str, Any]]) -> tuple[RecordRefs, ...]:
    return tuple(
        RecordRefs(value["table"], tuple(value["ids"]), value["count"]) for value in values
    )


def _places(score: float) -> int:
    exponent = Decimal(repr(score)).normalize().as_tuple().exponent
    return min(max(-int(exponent), 0), _MAX_PLACES)
