"""Read what a worker sent back: by type, bound and pattern, and nothing beside."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, get_args

from agon.app.queue.leases import InvalidOutcome
from agon.app.sandbox import Mode, RunLimits, RunOutcome, RunResult

_TERM: Final = re.compile(r"0|-?[1-9][0-9]*")
_FIELDS: Final = frozenset(RunResult.__dataclass_fields__)
_LONGEST_TEXT: Final = 500
_MOST_ATTEMPTS: Final = 3
_MOST_MS: Final = 3.6e6
_MOST_KIB: Final = 1 << 30


def written_run(run: RunResult) -> dict[str, Any]:
    """Write a run as an outcome carries it."""
    return asdict(run) | {"terms": list(run.terms)}


def read_run(given: Any, *, n_check: int, limits: RunLimits) -> RunResult:
    """Read what :func:`written_run` made, by whomever.

    Args:
        given: what came.
        n_check: how many terms were wanted; more are no outcome of this job.
        limits: what the program was allowed; longer terms are no outcome either.

    Raises:
        InvalidOutcome: it is no run of this job, with what is wrong and what would be right.

    Example:
        >>> read_run({"outcome": "ok", "terms": ["01"]}, n_check=5, limits=RunLimits())
        Traceback (most recent call last):
        agon.app.queue.leases.InvalidOutcome: the outcome lacks mode, runner; give them
    """
    if not isinstance(given, Mapping):
        raise InvalidOutcome("the outcome holds no run; send an object with a run's fields")
    if unknown := sorted(map(str, set(given) - _FIELDS)):
        raise InvalidOutcome(f"the outcome has {', '.join(unknown[:5])}; send only a run's fields")
    if missing := sorted({"outcome", "mode", "runner"} - set(given)):
        raise InvalidOutcome(f"the outcome lacks {', '.join(missing)}; give them")
    outcome = _one_of(given, "outcome", get_args(RunOutcome))
    terms = read_terms(given.get("terms", []), n_check=n_check, digits=limits.max_term_digits)
    if terms and outcome != "ok":
        raise InvalidOutcome(
            f"the outcome is {outcome} and has terms; send terms of an ok run alone"
        )
    return RunResult(
        outcome=outcome,
        terms=terms,
        reason=_text(given, "reason", default=""),
        cpu_ms=_number(given, "cpu_ms", most=_MOST_MS),
        wall_ms=_number(given, "wall_ms", most=_MOST_MS),
        memory_kib=int(_number(given, "memory_kib", most=_MOST_KIB, whole=True)),
        mode=_one_of(given, "mode", get_args(Mode)),
        runner=_text(given, "runner", default=""),
        attempts=int(_number(given, "attempts", most=_MOST_ATTEMPTS, least=1, whole=True)),
    )


def read_terms(value: Any, *, n_check: int, digits: int) -> tuple[str, ...]:
    """Read the terms in an outcome.

    Args:
        value: what was sent.
        n_check: maximum number of terms.
        digits: maximum number of digits of a term.

    Raises:
        Refused: it is not a list of decimal integers within these bounds.
    """
    if not isinstance(value, list | tuple):
        raise InvalidOutcome("terms is no list; send decimal integers as text")
    if len(value) > n_check:
        raise InvalidOutcome(f"terms has {len(value):,} items; send {n_check:,} at most")
    for at, term in enumerate(value, start=1):
        fits = isinstance(term, str) and len(term) <= digits + 1 and _TERM.fullmatch(term)
        if not fits:
            what = f"term {at} is no decimal integer of {digits:,} digits at most"
            raise InvalidOutcome(f"{what}; send it as int() prints it")
    return tuple(value)


def _one_of(given: Mapping[str, Any], name: str, choices: tuple[Any, ...]) -> Any:
    value = given[name]
    if not isinstance(value, str) or value not in choices:
        raise InvalidOutcome(f"{name} is none of {', '.join(choices)}; send one of them")
    return value


def _text(given: Mapping[str, Any], name: str, *, default: str) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not value.isprintable():
        what = f"{name} is no printable text of {_LONGEST_TEXT} characters at most"
        raise InvalidOutcome(f"{what}; send one line")
    return value


def _number(
    given: Mapping[str, Any], name: str, *, most: float, least: float = 0, whole: bool = False
) -> float:
    value = given.get(name, least)
    kinds = (int,) if whole else (int, float)
    if type(value) not in kinds or not math.isfinite(value) or not least <= value <= most:
        what = f"{name} is no {'whole ' if whole else ''}number from {least:g} to {most:,.0f}"
        raise InvalidOutcome(f"{what}; send what was measured")
    return float(value)
