"""Honeypots: obviously robotic, and not recognized by wording seen before or by length."""

import random
from collections import deque

import pytest

from agon.disciplines.arena.checks.plagiarism import jaccard
from agon.disciplines.arena.rounds.honeypot_texts import TEMPLATES
from agon.disciplines.arena.rounds.honeypots import MEMORY_VOTES, RoboticAnswer, draw_robotic_answer
from sizes import size

PROMPT = "What would you do with a free afternoon in a city?"


def answer(
    match: str, *, seen: tuple[str, ...] = (), lengths: tuple[int, ...] = ()
) -> RoboticAnswer:
    """Draw the robotic answer of a match."""
    drawn = draw_robotic_answer(
        "s", match, prompt=PROMPT, seen=seen, lengths=lengths, max_chars=400
    )
    assert drawn is not None
    return drawn


def test_there_are_enough_templates_in_many_tones() -> None:
    """At least 30 (spec), each with choices and a topic in its first sentence, none twice."""
    assert len(TEMPLATES) >= 30
    assert len({template.name for template in TEMPLATES}) == len(TEMPLATES)
    assert len({template.tone for template in TEMPLATES}) >= 8
    for template in TEMPLATES:
        assert "{topic}" in template.sentences[0], template.name
        assert sum(sentence.count("|") for sentence in template.sentences) >= 4, template.name
        assert len(template.sentences) >= 3, template.name


def test_all_choices_are_made_and_the_topic_is_inserted() -> None:
    """No bracket of a template is left; a prompt without a word has a topic all the same."""
    for number in range(size(2_000)):
        text = answer(f"m{number}", lengths=(40, 400)).text
        assert not set(text) & set("[]{}|") - (
            {"[", "]"} if "[INFO]" in text or "#" in text else set()
        )
    without = draw_robotic_answer("s", "m", prompt="?", seen=(), lengths=(300,), max_chars=400)
    assert without is not None
    assert "{" not in without.text


def test_no_template_is_shown_to_a_judge_twice_in_its_latest_votes() -> None:
    """Three judges of 30, honeypots ten times as often as usual, templates remembered by each."""
    dice = random.Random(1)
    latest: list[deque[tuple[str, ...]]] = [deque(maxlen=MEMORY_VOTES - 1) for _ in range(30)]
    shown = 0
    for number in range(size(3_000)):
        panel = dice.sample(range(30), 3)
        templates: tuple[str, ...] = ()
        if dice.random() < 0.15:
            seen = {name for judge in panel for vote in latest[judge] for name in vote}
            drawn = draw_robotic_answer(
                "s", f"m{number}", prompt=PROMPT, seen=seen, lengths=(60, 160), max_chars=400
            )
            if drawn is not None:
                templates = drawn.templates
                assert not seen & set(templates)
                shown += 1
        for judge in panel:
            latest[judge].append(templates)
    assert shown > size(3_000) * 0.12


def test_no_answer_is_drawn_when_all_templates_were_seen() -> None:
    """The engine then plays the match as a rated one."""
    seen = [template.name for template in TEMPLATES]
    assert (
        draw_robotic_answer("s", "m", prompt=PROMPT, seen=seen, lengths=(), max_chars=400) is None
    )
    assert answer("m", seen=tuple(seen[1:]), lengths=(400,)).templates == (seen[0],)


@pytest.mark.parametrize("shortest", [45, 120])
def test_lengths_are_distributed_as_those_of_ordinary_answers(shortest: int) -> None:
    """The largest difference of the two distributions (Kolmogorov–Smirnov) is small."""
    dice = random.Random(2)
    ordinary = sorted(min(400, shortest + int(dice.expovariate(1 / 110))) for _ in range(500))
    robotic = sorted(
        len(answer(f"m{number}", lengths=tuple(ordinary)).text) for number in range(500)
    )
    difference = max(
        abs(sum(x <= at for x in ordinary) - sum(x <= at for x in robotic)) / 500
        for at in range(0, 401, 5)
    )
    assert difference < 0.2
    assert abs(sum(ordinary) - sum(robotic)) / 500 < 20


def test_two_texts_of_one_template_differ() -> None:
    """Choices are drawn for each match, so that not even a template makes one text."""
    by_template: dict[str, set[str]] = {}
    for number in range(1_000):
        drawn = answer(f"m{number}", lengths=(150,))
        by_template.setdefault(drawn.templates[0], set()).add(drawn.text)
    assert len(by_template) == len(TEMPLATES)
    assert min(map(len, by_template.values())) >= 2


def test_templates_share_few_words() -> None:
    """A judge cannot learn one wording for all: no two full texts are near copies."""
    full = [" ".join(template.sentences) for template in TEMPLATES]
    assert (
        max(jaccard(first, second) for at, first in enumerate(full) for second in full[:at]) < 0.25
    )


def test_answers_fit_into_the_limit_and_can_be_repeated() -> None:
    """Longer than ``max_chars`` would be cut and look cut."""
    drawn = draw_robotic_answer("s", "m", prompt=PROMPT, seen=(), lengths=(300,), max_chars=50)
    assert drawn is not None
    assert len(drawn.text) <= 50
    assert answer("m7", lengths=(9, 90)) == answer("m7", lengths=(9, 90))
