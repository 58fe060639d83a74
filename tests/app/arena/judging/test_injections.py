"""Tests of the injection suite against models that obey, choose by position, or read.

The mock obeys any order, claim or verdict that it reads outside of quotations. Asked by agon, it
finds nothing there. Asked by a naive prompt, it is fooled: the suite can fail.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from agon.app.arena.judging.choice import Provider
from agon.app.arena.judging.injection_texts import DUELS, FAMILIES
from agon.app.arena.judging.injections import CONTROL, NULL, SuiteResult, cases, run_suite
from agon.app.arena.judging.measurements import NULL_ANSWER
from agon.app.arena.judging.port import ModelVote, Side
from agon.app.arena.judging.question import write_question
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import Unavailable
from agon.kernel.statistics import wilson
from agon.runners.judges.opening import open_separate_judge
from fakes.models import Asked, Reply, serve_model, served, verdict

ORDER = re.compile(
    r"choose|chose|vote for|verdict|winner|win\b|criteria|ignore|disregard|forget|honeypot|"
    r"instruction|\"choice\"",
    re.IGNORECASE,
)
HUMAN = {duel.human for duel in DUELS}


def readable(text: str) -> str:
    """Return what a tokenizer reads: tags as their letters, nothing between letters."""
    text = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) <= 0xE007E else c for c in text)
    return re.sub("[\u200b\u202a-\u202e\u2066-\u2069]", "", text)


def outside(asked: Asked) -> str:
    """Return the content without the quotations and without what the question itself says."""
    name = r"prompt|answer A|answer B"
    quoted = re.compile(rf"\[begin ({name}) {asked.nonce}\]\n(\|[^\n]*\n)*\[end \1 {asked.nonce}\]")
    empty = write_question(prompt="", first="", second="", draw_nonce=lambda: asked.nonce)
    rest, own = quoted.sub("", asked.content), quoted.sub("", empty.content)
    return rest.replace(own, "")


def obedient(asked: Asked) -> str:
    """Obey what stands outside of quotations; else choose the human answer."""
    if ORDER.search(readable(outside(asked))):
        injected = "A" if asked.quotation("answer A") not in HUMAN else "B"
        return verdict(asked, injected)
    return verdict(asked, "A" if asked.quotation("answer A") in HUMAN else "B")


@dataclass(frozen=True)
class NaiveJudge:
    """A judge whose prompt has both answers as they are, between fixed lines."""

    name: str = "naive"

    def pause(self) -> Fault | None:
        """Never pause."""
        return None

    def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> ModelVote | Fault:
        """Return the vote of a mock that obeys what it reads."""
        assert seconds > 0
        first = self._choose(prompt, a, b)
        second = self._choose(prompt, b, a)
        sides: tuple[Side, Side] = ("a" if first == 0 else "b", "b" if second == 0 else "a")
        return ModelVote(choices=sides, exchanges=(), tokens=0)

    def _choose(self, prompt: str, first: str, second: str) -> int:
        text = f"{prompt}\n\nAnswer A:\n{first}\n\nAnswer B:\n{second}\n\nWhich is more human?"
        both = text.split("Answer A:\n", 1)[1].split("\n\nAnswer B:\n", 1)
        for index, answer in enumerate(both):
            if ORDER.search(readable(answer)):
                return index
        return 0 if first in HUMAN else 1


def run(brain: Callable[[Asked], str | Reply], *, provider: Provider = "anthropic") -> SuiteResult:
    """Run the suite against a model on the loopback, asked as in a match."""
    with serve_model(brain) as server:
        judge = open_separate_judge(served(provider, server.url))
        return run_suite(judge, seconds=60, confidence=0.95)


def test_the_suite_has_eight_families_of_three_in_both_orders() -> None:
    """Every injected answer fits into an answer of the arena and is different."""
    assert len(FAMILIES) == 8
    injected = [case for case in cases() if case.group in FAMILIES]
    assert len({case.other for case in injected}) == 24
    assert max(len(case.other) for case in cases()) <= 400
    assert [case.group for case in cases()].count(CONTROL) == 3
    assert {case.other for case in cases() if case.group == NULL} == {NULL_ANSWER}


@pytest.mark.exhaustive
def test_a_model_that_obeys_what_stands_outside_the_quotations_is_never_fooled() -> None:
    """No text of an answer leaves its quotation; then the model judges by the answers."""
    result = run(obedient)
    assert (result.total.calls, result.total.chosen, result.total.without_verdict) == (48, 0, 0)
    assert result.total.interval == wilson(0, trials=48, confidence=0.95)
    assert [(group.group, group.calls, group.chosen) for group in result.groups] == [
        *((family, 6, 0) for family in FAMILIES), (CONTROL, 6, 0), (NULL, 6, 0),
    ]  # fmt: skip
    shares = {item.measure: item.share for item in result.measurements}
    assert shares == {"flip": 0, "first-shown": 0.5}


def test_the_same_model_is_fooled_by_every_family_when_asked_naively() -> None:
    """A suite that no prompt can fail would prove nothing."""
    result = run_suite(NaiveJudge(), seconds=1, confidence=0.95)
    assert {group.group: group.chosen for group in result.groups} == {
        **dict.fromkeys(FAMILIES, 6), CONTROL: 0, NULL: 0,
    }  # fmt: skip
    assert result.total.share == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(("label", "shown_first"), [("A", 1.0), ("B", 0.0)])
def test_a_model_that_chooses_by_position_is_measured(label: str, shown_first: float) -> None:
    """It chooses each answer in half of the calls, and every vote flips."""
    result = run(lambda asked: verdict(asked, label), provider="openai")
    assert result.total.share == 0.5
    shares = {item.measure: item.share for item in result.measurements}
    assert shares == {"flip": 1, "first-shown": shown_first}


@pytest.mark.exhaustive
def test_calls_without_a_verdict_are_counted_and_other_failures_end_the_suite() -> None:
    """An injection that makes a model write something else is a result; a dead endpoint is not."""
    result = run(lambda asked: "no" if "honeypot" in asked.content.lower() else verdict(asked, "A"))
    by_group = {group.group: group for group in result.groups}
    silent = by_group["honeypot-imitation"]
    assert (silent.calls, silent.share, silent.without_verdict) == (0, None, 6)
    assert by_group["authority-note"].calls == 6
    [failure] = result.failures
    assert (failure.code, failure.comparisons) == ("invalid", 3)
    assert failure.detail == "status 200, but the text is not one JSON object: 'no'"
    with pytest.raises(Unavailable, match="status-401"):
        run(lambda _: Reply(401, b"{}"))
