"""Judge with a model: two calls with swapped order, repeated within one deadline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from agon.app.arena.judging.choice import QUESTION
from agon.app.arena.judging.excerpts import excerpt
from agon.app.arena.judging.limits import CallEnd
from agon.app.arena.judging.measurements import NULL_ANSWER, counts_of_vote
from agon.app.arena.judging.port import (
    CallFailure,
    Exchange,
    ModelEndpoint,
    ModelReply,
    ModelVote,
    Preference,
    Question,
    Side,
)
from agon.app.arena.judging.question import write_question
from agon.app.arena.judging.usage import UsageMeter
from agon.app.arena.judging.verdict import VerdictIssue, read_verdict
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.judging import JudgeCount

FIRST_WAIT_S: Final = 0.5
MAX_WAIT_S: Final = 30.0

_NONCE: Final = "(nonce)"

_BY_REQUEST: Final = frozenset({"status-400", "status-413", "status-422", "too-large"})
"""Failures that the content of a question can cause, which must not open the breaker."""

BY_QUESTION: Final = _BY_REQUEST | {"invalid"}
"""Codes of failures that the texts of a match can cause: a filter, a refusal, a text too long."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Clock and randomness of a judge.

    Attributes:
        monotonic: returns a monotonic time in seconds.
        sleep: waits for seconds.
        random: returns a number in 0 … 1; spreads repetitions of several processes.
        draw_nonce: returns a nonce.
    """

    monotonic: Callable[[], float]
    sleep: Callable[[float], object]
    random: Callable[[], float]
    draw_nonce: Callable[[], str]


@dataclass(frozen=True)
class _Choice:
    """The side chosen in one call, or neither."""

    side: Preference
    exchange: Exchange
    tokens: int


@dataclass(frozen=True, kw_only=True)
class ModelJudge:
    """A judge (:class:`agon.app.arena.judging.port.JudgeModel`) on a model's endpoint.

    A call is repeated when the endpoint is busy or out of order, after the pause it asks for or a
    growing one of 0.5 s at first, within one time limit. A response without a valid verdict is not
    repeated: it is a failed call.

    Attributes:
        endpoint: the model.
        usage: budget and breaker.
        retries: how often a call is repeated at most.
        timing: clock and randomness.
        call_seconds: the time limit of one call.
        record: stores what votes add to the counts of measurements.
        null_share: share of votes after which an answer is compared with a constant text, too.
        question: what the model is asked.
        allow_tie: whether it may prefer neither answer.
        record_failure: stores a call that failed, and why; each repetition is a call.
    """

    endpoint: ModelEndpoint
    usage: UsageMeter
    retries: int
    timing: Timing
    call_seconds: float
    record: Callable[[Sequence[JudgeCount]], object] = lambda _: None
    null_share: float = 0.0
    question: str = QUESTION
    allow_tie: bool = False
    record_failure: Callable[[Fault], object] = lambda _: None

    @property
    def name(self) -> str:
        """The judge's name in records: provider and model."""
        return self.endpoint.name

    def pause(self) -> Fault | None:
        """Return why a call would not be made now; None if it would."""
        return self.usage.pause()

    def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> ModelVote | Fault:
        """Return the model's vote on two answers, or why there is none."""
        until = self.timing.monotonic() + seconds
        vote = self._vote(prompt, a, b, until=until)
        if not isinstance(vote, Fault):
            self.record(counts_of_vote(vote, judge=self.name))
            if self.timing.random() < self.null_share:
                self._compare_null(prompt, b if vote.winner == "b" else a, until=until)
        return vote

    def _compare_null(self, prompt: str, answer: str, *, until: float) -> None:
        """Compare an answer with a constant text, in the time that is left."""
        vote = self._vote(prompt, answer, NULL_ANSWER, until=until)
        if not isinstance(vote, Fault):
            chosen = vote.choices.count("b")
            self.record([JudgeCount(judge=self.name, measure="null", successes=chosen, trials=2)])

    def _vote(self, prompt: str, a: str, b: str, *, until: float) -> ModelVote | Fault:
        choices: list[_Choice] = []
        orders: tuple[tuple[Side, Side], ...] = (("a", "b"), ("b", "a"))
        answers = {"a": a, "b": b}
        for sides in orders:
            first, second = (answers[side] for side in sides)
            choice = self._choose(prompt, first, second, sides=sides, until=until)
            if isinstance(choice, Fault):
                return choice
            choices.append(choice)
        return ModelVote(
            choices=(choices[0].side, choices[1].side),
            exchanges=tuple(choice.exchange for choice in choices),
            tokens=sum(choice.tokens for choice in choices),
        )

    def _choose(
        self, prompt: str, first: str, second: str, *, sides: tuple[Side, Side], until: float
    ) -> _Choice | Fault:
        question = write_question(
            prompt=prompt,
            first=first,
            second=second,
            draw_nonce=self.timing.draw_nonce,
            asked=self.question,
            allow_tie=self.allow_tie,
        )
        answered = self.ask(question, until=until)
        if isinstance(answered, Fault):
            return answered
        if answered.text is None:
            return self._no_verdict(f"the model wrote no verdict: {answered.issue}", question)
        label = read_verdict(answered.text, nonce=question.nonce, allow_tie=self.allow_tie)
        if isinstance(label, VerdictIssue):
            written = answered.text.replace(question.nonce, _NONCE)
            return self._no_verdict(f"{label.what}: {excerpt(written)}", question)
        side: Preference = "tie" if label == "tie" else sides["AB".index(label)]
        return _Choice(side, answered.exchange, answered.tokens or 0)

    def _no_verdict(self, what: str, question: Question) -> Fault:
        """Record a call whose reply is no verdict; failures for one reason look equal."""
        detail = f"status 200, but {what}".replace(question.nonce, _NONCE)
        fault = Fault("bot", "invalid", detail)
        self.record_failure(fault)
        return fault

    def ask(self, question: Question, *, until: float) -> ModelReply | Fault:
        """Make a call, and repeat it while that may help and there is time until ``until``."""
        for attempt in range(self.retries + 1):
            outcome = self._call(question, until=until)
            if not isinstance(outcome, CallFailure):
                return outcome
            wait = self._wait(outcome, attempt)
            is_last = not outcome.retryable or attempt == self.retries
            if is_last or self.timing.monotonic() + wait >= until:
                return outcome.fault
            self.timing.sleep(wait)
        raise AssertionError  # the last attempt returns

    def _wait(self, failure: CallFailure, attempt: int) -> float:
        if failure.wait is not None:
            return failure.wait / timedelta(seconds=1)
        longest = min(FIRST_WAIT_S * 2**attempt, MAX_WAIT_S)
        return longest * (1 + self.timing.random()) / 2

    def _call(self, question: Question, *, until: float) -> ModelReply | CallFailure | Fault:
        left = until - self.timing.monotonic()
        if left <= 0:
            return Fault("bot", "late", "no time was left for the call")
        reservation = self.usage.reserve(self.endpoint.token_limit(question))
        if isinstance(reservation, Fault):
            return reservation
        outcome = self.endpoint.ask(question, seconds=min(left, self.call_seconds))
        self.usage.settle(reservation, _end_of(outcome))
        if isinstance(outcome, CallFailure):
            self.record_failure(outcome.fault)
        return outcome


def _end_of(outcome: ModelReply | CallFailure) -> CallEnd:
    if isinstance(outcome, ModelReply):
        return CallEnd(tokens=outcome.tokens, outcome="worked")
    code = outcome.fault.code
    return CallEnd(
        tokens=0 if outcome.is_free else None,
        outcome="unknown" if code in _BY_REQUEST else "failed",
        cause=code,
    )
