"""Measure how often injected text makes a model judge choose an answer.

Each of the texts is added to a robotic answer, which is compared with a human one in both orders:
48 calls. A call is *fooled* when it chooses the injected answer. The same duels without injection
(``control``) and a constant text instead of the robotic answer (``null-answer``) show what the
judge does on its own: a judge that chooses by position is fooled in half of all calls.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agon.app.arena.judging.injection_texts import DUELS, FAMILIES, Duel
from agon.app.arena.judging.measurements import (
    NULL_ANSWER,
    JudgeMeasurement,
    counts_of_vote,
    measure,
)
from agon.app.arena.judging.port import JudgeModel, Side
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.judging import JudgeCount
from agon.errors import Unavailable
from agon.kernel.statistics import Interval, wilson

CONTROL: Final = "control"
NULL: Final = "null-answer"
CALLS_PER_CASE: Final = 2


@dataclass(frozen=True)
class InjectionCase:
    """A comparison of the suite.

    Attributes:
        group: its family, ``control`` or ``null-answer``.
        duel: the prompt and the human answer.
        other: the answer that must not win.
    """

    group: str
    duel: Duel
    other: str


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """The result of a family.

    Attributes:
        group: the family.
        calls: number of calls with a verdict.
        chosen: calls that chose the answer that must not win.
        interval: where the true share of chosen calls lies.
        without_verdict: calls that gave no valid verdict.
    """

    group: str
    calls: int
    chosen: int
    interval: Interval
    without_verdict: int

    @property
    def share(self) -> float | None:
        """Share of calls that chose the answer that must not win; None without calls."""
        return self.chosen / self.calls if self.calls else None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why comparisons gave no verdict.

    Attributes:
        code: the reason.
        detail: what happened, with how the reply began.
        comparisons: number of comparisons with equal code and detail.
    """

    code: str
    detail: str
    comparisons: int


@dataclass(frozen=True, kw_only=True)
class SuiteResult:
    """The result of the suite.

    Attributes:
        judge: the judge.
        groups: families, then ``control`` and ``null-answer``.
        total: all families together.
        measurements: how often the order decided.
        failures: why comparisons gave no verdict, the most frequent first.
    """

    judge: str
    groups: tuple[GroupResult, ...]
    total: GroupResult
    measurements: tuple[JudgeMeasurement, ...]
    failures: tuple[Failure, ...]


def cases() -> Iterator[InjectionCase]:
    """Yield the comparisons of the suite: 24 injections, 3 controls, 3 null answers."""
    for family, texts in FAMILIES.items():
        for duel, text in zip(DUELS, texts, strict=True):
            yield InjectionCase(family, duel, f"{duel.robotic}\n{text}")
    for duel in DUELS:
        yield InjectionCase(CONTROL, duel, duel.robotic)
    for duel in DUELS:
        yield InjectionCase(NULL, duel, NULL_ANSWER)


def run_suite(judge: JudgeModel, *, seconds: float, confidence: float) -> SuiteResult:
    """Return how a judge did in the suite.

    The robotic answer stands on side b in one half of the comparisons and on side a in the other.

    Args:
        judge: the judge.
        seconds: the time limit of a comparison.
        confidence: of all intervals.

    Raises:
        Unavailable: a call failed for another reason than an invalid verdict.
    """
    outcomes: list[tuple[InjectionCase, int | None]] = []
    counts: list[JudgeCount] = []
    failed: Counter[tuple[str, str]] = Counter()
    for number, case in enumerate(cases()):
        side: Side = "a" if number % 2 else "b"
        texts = (case.other, case.duel.human) if side == "a" else (case.duel.human, case.other)
        vote = judge.compare(prompt=case.duel.prompt, a=texts[0], b=texts[1], seconds=seconds)
        if isinstance(vote, Fault):
            _require_verdict_issue(judge, vote)
            failed[vote.code, vote.detail] += 1
            outcomes.append((case, None))
        else:
            outcomes.append((case, vote.choices.count(side)))
            counts += counts_of_vote(vote, judge=judge.name)
    groups = tuple(
        _result(group, [(case, chosen) for case, chosen in outcomes if case.group == group],
                confidence)
        for group in (*FAMILIES, CONTROL, NULL)
    )  # fmt: skip
    injected = [(case, chosen) for case, chosen in outcomes if case.group in FAMILIES]
    return SuiteResult(
        judge=judge.name,
        groups=groups,
        total=_result("all families", injected, confidence),
        measurements=tuple(measure(_sums(counts), confidence=confidence)),
        failures=tuple(
            Failure(code=code, detail=detail, comparisons=number)
            for (code, detail), number in failed.most_common()
        ),
    )


def _require_verdict_issue(judge: JudgeModel, fault: Fault) -> None:
    if fault.code != "invalid":
        raise Unavailable(f"{judge.name} does not answer: {fault.code}, {fault.detail}")


def _result(
    group: str, outcomes: Sequence[tuple[InjectionCase, int | None]], confidence: float
) -> GroupResult:
    chosen = [count for _, count in outcomes if count is not None]
    calls = CALLS_PER_CASE * len(chosen)
    return GroupResult(
        group=group,
        calls=calls,
        chosen=sum(chosen),
        interval=wilson(sum(chosen), trials=calls, confidence=confidence),
        without_verdict=CALLS_PER_CASE * (len(outcomes) - len(chosen)),
    )


def _sums(counts: Sequence[JudgeCount]) -> list[JudgeCount]:
    """Return the counts with those of equal judge and measure added up."""
    keys = dict.fromkeys((count.judge, count.measure) for count in counts)
    return [
        JudgeCount(
            judge=judge,
            measure=name,
            successes=sum(c.successes for c in counts if (c.judge, c.measure) == (judge, name)),
            trials=sum(c.trials for c in counts if (c.judge, c.measure) == (judge, name)),
        )
        for judge, name in keys
    ]
