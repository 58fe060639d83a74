"""Write the robotic side of a honeypot: a template drawn among those its judges have not seen."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from agon.disciplines.arena.rounds.draws import uniform
from agon.disciplines.arena.rounds.honeypot_texts import TEMPLATES

MEMORY_VOTES: Final = 50
"""Number of a judge's latest votes in which no template occurs twice."""
_CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_NO_TOPIC = "this topic"


@dataclass(frozen=True)
class RoboticAnswer:
    """An obviously robotic answer and the names of its templates; a long one has two."""

    templates: tuple[str, ...]
    text: str


def draw_robotic_answer(
    seed: str,
    match: str,
    *,
    prompt: str,
    seen: Collection[str],
    lengths: Sequence[int],
    max_chars: int,
) -> RoboticAnswer | None:
    """Draw the robotic answer of a honeypot; None when its judges have seen all templates.

    The length is near one of ``lengths``, drawn uniformly, so that it does not give the answer
    away.

    Args:
        seed: the seed of the draw.
        match: the match.
        prompt: the prompt that both answers are to; its longest word becomes the topic.
        seen: the templates that a judge of the match saw in its last ``MEMORY_VOTES`` votes.
        lengths: lengths of ordinary answers, in characters; empty: from 40 to 240.
        max_chars: the greatest length.

    Source: spec arena live, A round, step 5.

    Example:
        >>> answer = draw_robotic_answer("s1", "m7", prompt="Do you like rainy weather?", seen=(),
        ...                              lengths=[60], max_chars=400)
        >>> answer.templates, answer.text
        (('cutoff',), 'My knowledge of weather ends with my last training cutoff.')
    """
    unseen = [template for template in TEMPLATES if template.name not in set(seen)]
    if not unseen:
        return None
    first = unseen.pop(_index(len(unseen), seed, match, "honeypot-template"))
    parts = [first]
    if unseen:
        parts.append(unseen[_index(len(unseen), seed, match, "honeypot-continuation")])
    possible = lengths or range(40, 241)
    length = min(possible[_index(len(possible), seed, match, "honeypot-length")], max_chars)
    topic = max(_WORD.findall(prompt), key=len, default=_NO_TOPIC).lower()
    sentences = [
        _fill(sentence, topic, seed, match, f"{template.name}/{number}")
        for template in parts
        for number, sentence in enumerate(template.sentences)
    ]
    texts = [" ".join(sentences[: count + 1]) for count in range(len(sentences))]
    count = min(range(len(texts)), key=lambda index: abs(len(texts[index]) - length))
    used = parts if count >= len(first.sentences) else [first]
    return RoboticAnswer(tuple(template.name for template in used), texts[count][:max_chars])


def _index(count: int, seed: str, *names: str) -> int:
    """Draw one of the numbers from 0 to ``count`` − 1."""
    return int(uniform(seed, *names) * count)


def _fill(sentence: str, topic: str, seed: str, match: str, number: str) -> str:
    """Make the choices of a sentence, and insert the topic."""
    choices = iter(range(sentence.count("[")))

    def choose(choice: "re.Match[str]") -> str:
        texts = choice[1].split("|")
        place = f"{number}.{next(choices)}"
        return texts[_index(len(texts), seed, match, "honeypot-choice", place)]

    filled = _CHOICE.sub(choose, sentence).replace("{topic}", topic)
    return filled[0].upper() + filled[1:]
