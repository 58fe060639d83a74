"""Tests of a model's vote: two orders, repetitions within one deadline, failures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from agon.app.arena.judging.limits import UsageLimits
from agon.app.arena.judging.measurements import NULL_ANSWER
from agon.app.arena.judging.model_judge import ModelJudge, Timing
from agon.app.arena.judging.port import (
    CallFailure,
    Exchange,
    ModelReply,
    ModelVote,
    Question,
)
from agon.app.arena.judging.usage import LocalUsage
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.judging import JudgeCount
from fakes.models import Asked, verdict

BUSY = CallFailure(fault=Fault("bot", "status-529"), retryable=True, is_free=True)
DENIED = CallFailure(fault=Fault("bot", "status-400"), retryable=False, is_free=True)


@dataclass
class Simulated:
    """A model and its time, which passes only when it is waited for.

    Attributes:
        brain: writes texts.
        outcomes: what calls return first.
        call_s: how long a call takes.
        now: seconds since the start.
        limits: the seconds each call was given.
    """

    brain: Callable[[Asked], str]
    outcomes: list[CallFailure] = field(default_factory=list)
    call_s: float = 1.0
    now: float = 0.0
    limits: list[float] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    counts: list[JudgeCount] = field(default_factory=list)
    failures: list[Fault] = field(default_factory=list)
    name: str = "fake/m"

    def token_limit(self, question: Question) -> int:
        """Return a limit."""
        return len(question.content)

    def ask(self, question: Question, *, seconds: float) -> ModelReply | CallFailure:
        """Return the next outcome, or the brain's text."""
        self.limits.append(seconds)
        self.now += self.call_s
        if self.outcomes:
            return self.outcomes.pop(0)
        asked = Asked(question.instructions, question.content)
        self.asked.append(asked)
        text = self.brain(asked)
        exchange = Exchange(question.content.encode(), text.encode())
        return ModelReply(exchange=exchange, text=text, tokens=10)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def judge(
        self,
        *,
        retries: int = 2,
        calls: int = 100,
        null_share: float = 0.0,
        allow_tie: bool = False,
    ) -> ModelJudge:
        """Return a judge with this model and time."""
        nonces = map("n{:07}".format, count())
        start = datetime(2026, 1, 31, tzinfo=UTC)
        limits = UsageLimits(calls=calls, tokens=10**6, max_failures=4, pause=timedelta(minutes=5))
        return ModelJudge(
            endpoint=self,
            usage=LocalUsage(limits=limits, clock=lambda: start + timedelta(seconds=self.now)),
            retries=retries,
            timing=Timing(monotonic=lambda: self.now, sleep=self.sleep, random=lambda: 1.0,
                          draw_nonce=lambda: next(nonces)),
            call_seconds=20,
            record=self.counts.extend,
            null_share=null_share,
            allow_tie=allow_tie,
            record_failure=self.failures.append,
        )  # fmt: skip


def compare(judge: ModelJudge, *, seconds: float = 30) -> ModelVote | Fault:
    """Compare two answers."""
    return judge.compare(prompt="Hi?", a="human", b="robot", seconds=seconds)


def fault(judge: ModelJudge, *, seconds: float = 30) -> Fault:
    """Return why there is no vote."""
    outcome = compare(judge, seconds=seconds)
    assert isinstance(outcome, Fault)
    return outcome


def human(asked: Asked) -> str:
    """Choose the answer "human" wherever it is shown."""
    return verdict(asked, "A" if asked.quotation("answer A") == "human" else "B")


def test_a_vote_is_two_calls_with_swapped_order() -> None:
    """Only what is preferred in both orders is a vote for a side."""
    model = Simulated(human)
    vote = compare(model.judge())
    assert isinstance(vote, ModelVote)
    assert (vote.winner, vote.choices, vote.tokens) == ("a", ("a", "a"), 20)
    shown = [(asked.quotation("answer A"), asked.quotation("answer B")) for asked in model.asked]
    assert shown == [("human", "robot"), ("robot", "human")]
    assert model.asked[0].nonce != model.asked[1].nonce
    assert [e.request for e in vote.exchanges] == [a.content.encode() for a in model.asked]


@pytest.mark.parametrize("label", ["A", "B"])
def test_a_judge_that_chooses_by_position_votes_for_nobody(label: str) -> None:
    """Such a judge moves no rating: its two calls never agree."""
    vote = compare(Simulated(lambda asked: verdict(asked, label)).judge())
    assert isinstance(vote, ModelVote)
    assert vote.is_conflict
    assert vote.winner == "tie"


def test_a_busy_endpoint_is_asked_again_after_growing_pauses() -> None:
    """The pause is the endpoint's own, else doubles from half a second."""
    model = Simulated(human, outcomes=[BUSY, BUSY], call_s=0)
    assert isinstance(compare(model.judge()), ModelVote)
    assert model.now == 0.5 + 1.0
    waiting = CallFailure(fault=BUSY.fault, retryable=True, wait=timedelta(seconds=7))
    model = Simulated(human, outcomes=[waiting], call_s=0)
    assert isinstance(compare(model.judge()), ModelVote)
    assert model.now == 7


def test_repetitions_end_by_number_and_by_time() -> None:
    """All repetitions of both calls share one deadline; a pause beyond it is not waited for."""
    model = Simulated(human, outcomes=[BUSY] * 3)
    assert fault(model.judge(retries=2)).code == "status-529"
    assert len(model.limits) == 3
    hour = CallFailure(fault=BUSY.fault, retryable=True, wait=timedelta(hours=1))
    model = Simulated(human, outcomes=[hour])
    assert fault(model.judge()).code == "status-529"
    assert model.now == 1
    model = Simulated(human, call_s=8)
    assert isinstance(compare(model.judge(), seconds=30), ModelVote)
    assert model.limits == [20, 20]
    model = Simulated(human, call_s=8)
    compare(model.judge(), seconds=10)
    assert model.limits == [10, 2]
    model = Simulated(human, call_s=10)
    assert fault(model.judge(), seconds=10).code == "late"
    assert len(model.limits) == 1


@pytest.mark.parametrize(
    "brain",
    [
        lambda _: '{"nonce": "n9999999", "choice": "A"}',
        lambda _: "A",
        lambda asked: verdict(asked, "C"),
        lambda asked: f"I choose: {verdict(asked, 'A')}",
    ],
)
def test_no_valid_verdict_is_a_failed_call_and_is_not_repeated(
    brain: Callable[[Asked], str],
) -> None:
    """An answer that makes a model write something else must not be given further attempts."""
    model = Simulated(brain)
    judge = model.judge()
    outcome = fault(judge)
    assert (outcome.owner, outcome.code) == ("bot", "invalid")
    assert len(model.limits) == 1
    assert model.failures == [outcome]
    for _ in range(9):
        fault(judge)
    assert judge.pause() is None  # participants cannot open the breaker


def test_a_tie_is_a_vote_only_if_both_orders_say_so() -> None:
    """One tie and one choice disagree; first-shown counts calls that chose an answer."""
    model = Simulated(lambda asked: verdict(asked, "tie"))
    vote = compare(model.judge(allow_tie=True))
    assert isinstance(vote, ModelVote)
    assert (vote.winner, vote.is_conflict) == ("tie", False)
    assert [(count.measure, count.trials) for count in model.counts] == [
        ("flip", 1), ("first-shown", 0),
    ]  # fmt: skip
    first = Simulated(lambda asked: verdict(asked, "tie" if asked.nonce == "n0000000" else "A"))
    vote = compare(first.judge(allow_tie=True))
    assert isinstance(vote, ModelVote)
    assert vote.is_conflict


def test_every_failed_call_is_recorded_with_its_reason() -> None:
    """A repetition that succeeds does not hide that the endpoint was busy."""
    model = Simulated(human, outcomes=[BUSY, DENIED])
    assert fault(model.judge()).code == "status-400"
    assert [each.code for each in model.failures] == ["status-529", "status-400"]


def test_a_vote_needs_both_calls() -> None:
    """One order alone is never a vote."""
    model = Simulated(lambda asked: verdict(asked, "A") if asked.nonce == "n0000000" else "?")
    assert fault(model.judge()).code == "invalid"


def test_budget_and_breaker_say_why_the_judge_pauses() -> None:
    """The round reads the reason without making a call, and pauses."""
    judge = Simulated(human).judge(calls=3)
    assert isinstance(compare(judge), ModelVote)
    assert judge.pause() is None
    assert fault(judge).code == "ours-budget"
    pause = judge.pause()
    assert pause is not None
    assert "3 calls a day" in pause.detail
    model = Simulated(human, outcomes=[BUSY] * 4)
    judge = model.judge(retries=3)
    assert fault(judge).code == "status-529"
    calls = len(model.limits)
    assert fault(judge).code == "unreachable"
    assert len(model.limits) == calls
    model.now += 300
    assert isinstance(compare(judge), ModelVote)
    assert judge.pause() is None


def test_requests_that_are_not_accepted_do_not_open_the_breaker() -> None:
    """A content filter answers 400 for one answer; other matches go on."""
    model = Simulated(human, outcomes=[DENIED] * 9)
    judge = model.judge()
    for _ in range(9):
        assert fault(judge).code == "status-400"
    assert isinstance(compare(judge), ModelVote)


def test_votes_are_measured_and_some_are_followed_by_a_null_answer() -> None:
    """The measurements of a judge grow with its votes; a null answer that wins is counted."""
    model = Simulated(lambda asked: verdict(asked, "B"))
    assert isinstance(compare(model.judge(null_share=2.0)), ModelVote)
    counts = {count.measure: (count.successes, count.trials) for count in model.counts}
    assert counts == {"flip": (1, 1), "first-shown": (0, 2), "null": (1, 2)}
    assert model.asked[-1].quotation("answer A") == NULL_ANSWER
    assert {count.judge for count in model.counts} == {"fake/m"}
    model = Simulated(human)
    compare(model.judge(calls=2, null_share=2.0))
    assert [count.measure for count in model.counts] == ["flip", "first-shown"]
    fault(Simulated(lambda _: "").judge())
