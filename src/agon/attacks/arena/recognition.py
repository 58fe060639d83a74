"""Recognize honeypots by their wording, with nothing but what this package contains.

Two judges are tried. The first knows every sentence of every template, with all its choices. The
second is a classifier (naive Bayes) of words, pairs of words and parts of words, which compares
texts of the templates with prose of this package. Its threshold is set on ordinary answers, of
which an arena publishes thousands. The larger share that either recognizes is what texts are worth.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import Final

from agon.disciplines.arena.rounds.honeypot_texts import TEMPLATES
from agon.disciplines.arena.rounds.honeypots import draw_robotic_answer

FALSE_ALARMS: Final = 0.01
"""Largest share of ordinary answers that a judge takes for honeypots."""

TRAINED: Final = 3_000
"""Number of texts of templates that the classifier learns from, and of those that measure it."""

_WORD: Final = re.compile(r"[^\W_]+|[^\w\s]")
_CHOICE: Final = re.compile(r"\\\[((?:[^\[\]])*?\\\|(?:[^\[\]])*?)\\\]")
_PART: Final = 4  # characters
_CHARS: Final = 400
_LENGTHS: Final = range(40, 241)
_MIN_PROSE: Final = 40
_SMOOTHING: Final = 0.5
_PROMPTS: Final = {
    "learned": ("What did you eat yesterday?", "Describe your street.", "Why do people swim?"),
    "measured": ("Is it worth learning to drive?", "Which smell reminds you of school?"),
}


@dataclass(frozen=True, kw_only=True)
class Recognition:
    """How much of a set of texts judges take for honeypots.

    Attributes:
        texts: what they are.
        count: their number.
        wording: the share that has a sentence of a template.
        style: the share that the classifier takes for texts of templates.
    """

    texts: str
    count: int
    wording: float
    style: float


def recognize(
    ordinary: Sequence[str], bank: Sequence[str] = (), *, samples: int = TRAINED
) -> list[Recognition]:
    """Return how much of ordinary answers, of the templates and of a bank is recognized.

    The threshold of the classifier is set on every second ordinary answer, so that it takes at most
    ``FALSE_ALARMS`` of them for honeypots; the others are the first row.

    Args:
        ordinary: answers of bots or people to prompts.
        bank: texts that a contest would show in its honeypots.
        samples: number of texts of templates to learn from, and of others to measure.

    Raises:
        ValueError: there are fewer than two ordinary answers.
    """
    if len(ordinary) < 2:  # noqa: PLR2004 - one to set the threshold, one to measure
        raise ValueError(f"expected at least two ordinary answers, got {len(ordinary)}")
    style = Style.of_package(samples=samples)
    threshold = style.threshold(ordinary[::2])
    rows = {
        "ordinary answers": ordinary[1::2],
        "built-in templates": template_texts("measured", samples),
        "bank": bank,
    }
    return [
        Recognition(
            texts=name,
            count=len(texts),
            wording=_share(has_template(text) for text in texts),
            style=_share(style.score(text) > threshold for text in texts),
        )
        for name, texts in rows.items()
        if texts
    ]


def has_template(text: str) -> bool:
    """Return whether a text has a whole sentence of a template.

    Example:
        >>> has_template("My knowledge of weather ends with my last training cutoff.")
        True
        >>> has_template("It rained all day, so we stayed in.")
        False
    """
    return _sentences().search(text) is not None


def template_texts(purpose: str, count: int) -> list[str]:
    """Return texts of the built-in templates as honeypots show them; each purpose has its own."""
    prompts, texts = _PROMPTS.get(purpose, _PROMPTS["measured"]), []
    for number in range(count):
        drawn = draw_robotic_answer(
            purpose,
            f"m{number}",
            prompt=prompts[number % len(prompts)],
            seen=(),
            lengths=_LENGTHS,
            max_chars=_CHARS,
        )
        if drawn is not None:
            texts.append(drawn.text)
    return texts


class Style:
    """A classifier of texts: how much likelier their features are in one set than in another.

    Args:
        robotic: texts of the set that is recognized.
        other: texts of the other one.
    """

    def __init__(self, robotic: Iterable[str], other: Iterable[str]) -> None:
        counts = [Counter(feature for text in texts for feature in _features(text))
                  for texts in (robotic, other)]  # fmt: skip
        names = counts[0].keys() | counts[1].keys()
        logs = []
        for counted in counts:
            total = counted.total() + _SMOOTHING * (len(names) + 1)
            logs.append({name: math.log((counted[name] + _SMOOTHING) / total) for name in names})
        self._weights = {name: logs[0][name] - logs[1][name] for name in names}

    @classmethod
    def of_package(cls, *, samples: int = TRAINED) -> "Style":
        """Return the classifier that learned from the texts of this package."""
        return cls(template_texts("learned", samples), _prose(files("agon.disciplines")))

    def score(self, text: str) -> float:
        """Return the mean weight of a text's features; 0 for a text without any."""
        features = list(_features(text))
        weights = (self._weights.get(name, 0.0) for name in features)
        return math.fsum(weights) / max(len(features), 1)

    def threshold(self, ordinary: Iterable[str]) -> float:
        """Return the lowest score that at most ``FALSE_ALARMS`` of some texts exceed."""
        scores = sorted(map(self.score, ordinary), reverse=True)
        return scores[math.floor(FALSE_ALARMS * len(scores))]


def _share(recognized: Iterable[bool]) -> float:
    each = list(recognized)
    return sum(each) / len(each)


def _features(text: str) -> Iterator[str]:
    """Yield words, pairs of words, and parts of words of a text."""
    words = _WORD.findall(text.lower())
    yield from words
    yield from map(" ".join, pairwise(words))
    joined = f" {' '.join(words)} "
    yield from (f"_{joined[index : index + _PART]}" for index in range(len(joined) - _PART + 1))


@cache
def _sentences() -> "re.Pattern[str]":
    """Return the expression of every sentence of every template, with all choices."""
    patterns = []
    for template in TEMPLATES:
        for sentence in template.sentences:
            escaped = re.escape(sentence).replace(r"\{topic\}", r"[\w ]{1,60}")
            patterns.append(_CHOICE.sub(_alternatives, escaped))
    return re.compile("|".join(patterns), re.IGNORECASE)


def _alternatives(choice: "re.Match[str]") -> str:
    return f"(?:{choice[1].replace(chr(92) + '|', '|')})"


def _prose(folder: Traversable) -> Iterator[str]:
    """Yield the paragraphs of the docstrings of a package, in the order of its files."""
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            yield from _prose(entry)
        elif entry.name.endswith(".py"):
            for node in ast.walk(ast.parse(entry.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    paragraphs = (ast.get_docstring(node) or "").split("\n\n")
                    yield from (text for text in paragraphs if len(text) >= _MIN_PROSE)
