"""Validate the outcomes workers send: types, bounds and patterns of known fields only."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, get_args

from agon.app.queue.leases import InvalidOutcome
from agon.app.sandbox import Mode, RunLimits, RunOutcome, RunResult

_TERM: Final = re.compile(r"0|-?[1-9][0-9]*")
_FIELDS: Final = frozenset(RunResult.__dataclass_fields__)
_MAX_TEXT_LENGTH: Final = 500
_MAX_ATTEMPTS: Final = 3
_MAX_MS: Final = 3.6e6
_MAX_KIB: Final = 1 << 30


def written_run(run: RunResult) -> dict[str, Any]:
    """Return a run as a field of an outcome."""
    return asdict(run) | {"terms": list(run.terms)}


def read_run(value: Any, *, n_check: int, limits: RunLimits) -> RunResult:
    """Return the run that a worker wrote with :func:`written_run`.

    Args:
        value: the JSON value received.
        n_check: maximum number of terms.
        limits: the limits the program ran under, including the maximum length of a term.

    Raises:
        InvalidOutcome: it is not a run of this job; the message says why.

    Example:
        >>> read_run({"outcome": "ok", "terms": ["01"]}, n_check=5, limits=RunLimits())
        Traceback (most recent call last):
        agon.app.queue.leases.InvalidOutcome: the outcome lacks mode, runner; give them
    """
    if not isinstance(value, Mapping):
        raise InvalidOutcome("the outcome has no run; send an object with a run's fields")
    if unknown := sorted(map(str, set(value) - _FIELDS)):
        raise InvalidOutcome(f"the outcome has {', '.join(unknown[:5])}; send only a run's fields")
    if missing := sorted({"outcome", "mode", "runner"} - set(value)):
        raise InvalidOutcome(f"the outcome lacks {', '.join(missing)}; give them")
    outcome = _one_of(value, "outcome", get_args(RunOutcome))
    terms = read_terms(value.get("terms", []), n_check=n_check, digits=limits.max_term_digits)
    if terms and outcome != "ok":
        raise InvalidOutcome(
            f"the outcome is {outcome} and has terms; send terms of an ok run only"
        )
    return RunResult(
        outcome=outcome,
        terms=terms,
        reason=_text(value, "reason", default=""),
        cpu_ms=_number(value, "cpu_ms", most=_MAX_MS),
        wall_ms=_number(value, "wall_ms", most=_MAX_MS),
        memory_kib=int(_number(value, "memory_kib", most=_MAX_KIB, integer=True)),
        mode=_one_of(value, "mode", get_args(Mode)),
        runner=_text(value, "runner", default=""),
        attempts=int(_number(value, "attempts", most=_MAX_ATTEMPTS, least=1, integer=True)),
    )


def read_terms(value: Any, *, n_check: int, digits: int) -> tuple[str, ...]:
    """Read the terms in an outcome.

    Args:
        value: what was sent.
        n_check: maximum number of terms.
        digits: maximum number of digits of a term.

    Raises:
        InvalidOutcome: it is not a list of decimal integers within these bounds.
    """
    if not isinstance(value, list | tuple):
        raise InvalidOutcome("terms is not a list; send decimal integers as text")
    if len(value) > n_check:
        raise InvalidOutcome(f"terms has {len(value):,} items; send {n_check:,} at most")
    for index, term in enumerate(value, start=1):
        fits = isinstance(term, str) and len(term) <= digits + 1 and _TERM.fullmatch(term)
        if not fits:
            fact = f"term {index} is not a decimal integer of {digits:,} digits at most"
            raise InvalidOutcome(f"{fact}; send it as int() prints it")
    return tuple(value)


def _one_of(fields: Mapping[str, Any], name: str, choices: tuple[Any, ...]) -> Any:
    value = fields[name]
    if not isinstance(value, str) or value not in choices:
        raise InvalidOutcome(f"{name} is not one of {', '.join(choices)}; send one of them")
    return value


def _text(fields: Mapping[str, Any], name: str, *, default: str) -> str:
    value = fields.get(name, default)
    if not isinstance(value, str) or len(value) > _MAX_TEXT_LENGTH or not value.isprintable():
        fact = f"{name} is not a printable text of {_MAX_TEXT_LENGTH} characters at most"
        raise InvalidOutcome(f"{fact}; send one line")
    return value


def _number(
    fields: Mapping[str, Any], name: str, *, most: float, least: float = 0, integer: bool = False
) -> float:
    value = fields.get(name, least)
    kinds = (int,) if integer else (int, float)
    if type(value) not in kinds or not math.isfinite(value) or not least <= value <= most:
        noun = "an integer" if integer else "a number"
        raise InvalidOutcome(
            f"{name} is not {noun} from {least:g} to {most:,.0f}; send what was measured"
        )
    return float(value)
