"""Write scores by hand: worked examples of released editions, as the engine explains them."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from reference_tables import table

from agon.cli.shared.tables import number
from agon.disciplines import discipline
from agon.editions import Example, edition
from agon.records import read_rows


class HandExample(NamedTuple):
    """One participant of a worked example.

    Attributes:
        edition: the edition.
        title: the beginning of the example's title.
        participant: the id of the one whose score is explained.
        said: the sentence before the table.
    """

    edition: str
    title: str
    participant: str
    said: str


SHOWN: Final[Mapping[str, tuple[HandExample, ...]]] = {
    "community": (
        HandExample(
            "community/scores0002-1", "Example 1", "ada",
            "Ada is affiliated, owns a benchmark to which others contribute, writes prompts and "
            "gives feedback. Her user score is the sum of what each component gives:",
        ),
    ),
    "arena": (
        HandExample(
            "arena/sentience-1", "Equal times play", "b",
            "Bot b plays two matches and loses both. A match moves a rating by K times the result "
            "less what the two ratings let expect:",
        ),
        HandExample(
            "arena/sentience-1", "The audit disagrees", "j1",
            "Judge j1 votes with the others, and an audit of the match finds otherwise:",
        ),
    ),
    "challenge": (
        HandExample(
            "challenge/term-1", "Outliers: z of 0.20", "a",
            "Five validators of equal stake evaluate submission a; one differs from all others. "
            "The score is the mean of what is kept, weighted by stake:",
        ),
        HandExample(
            "challenge/term-1", "Cap: 90, 6 and 4", "2",
            "Three miners have scores of 0.9, 0.06 and 0.04. Miner 2 has a share of its score, and "
            "a part of what the first has above the limit:",
        ),
    ),
    "dojo": (
        HandExample(
            "dojo/0.1", "Diversity:", "first",
            "The first of three programs that are correct, 800 bytes long, and of a method that no "
            "program had before it:",
        ),
    ),
}  # fmt: skip
"""The examples of each discipline's page."""


def by_hand(name: str) -> str:
    """Write the examples of a discipline, each with its explanation as a table."""
    return "\n\n".join(_written(shown) for shown in SHOWN[name])


def _written(shown: HandExample) -> str:
    released = edition(shown.edition)
    example = next(one for one in released.examples if one.title.startswith(shown.title))
    parts = table(["part", "computation", "points"], list(_rows(shown, example)))
    return f"{shown.said}\n\n{parts}"


def _rows(shown: HandExample, example: Example) -> Iterator[list[str]]:
    """Yield a row for each part of the score, and the sum; the numbers are the engine's."""
    released = edition(shown.edition)
    chosen = discipline(released.discipline)
    with read_rows(chosen.schema, example.records) as records:
        scored = chosen.score(records, released.with_rules(example.overrides))
        explained = scored.explain(shown.participant, board=chosen.board_name(example.board))
    for part in explained.parts:
        yield [part.name.replace("_", " "), part.text, number(part.points)]
    yield ["**score**", "", f"**{number(explained.score)}**"]
