"""Few votes decide who is first: how many are left out until the next model is ahead.

The votes of the data set LLMFAO, as Bradley–Terry strengths without a prior. Their figures are
upper bounds, found by influence and a refit; a smaller number is a better bound.

Source: Huang et al. (2025), Dropping Just a Handful of Preferences Can Change Top Large Language
Model Rankings, arXiv 2508.11847.
"""

from collections.abc import Iterator
from typing import Final

from benchmarks.published.figures import Figure, Sources

from agon.disciplines.arena.ratings.robustness import rank_robustness
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import score
from agon.records import read_rows

SOURCE = "Dropping few votes flips the top (arXiv 2508.11847)"

_PUBLISHED: Final = {
    "crowd": ("the crowd's votes", (16, 1, 3, 2, 1)),
    "gpt-4": ("GPT-4's verdicts", (1, 3, 1, 5, 1)),
}


def figures(sources: Sources) -> Iterator[Figure]:
    """Yield the number of votes that decide each of the first ranks."""
    rules = ArenaRules(bradley_terry_regularisation=0.0)
    for name, (votes, published) in _PUBLISHED.items():
        with read_rows(SCHEMA, sources[name]()) as records:
            arena = score(records, rules)
            ranks = rank_robustness(
                arena.facts, arena.ratings, arena.strengths, rules, ranks=len(published)
            )
        for rank, theirs in zip(ranks, published, strict=True):
            if rank.matches is None:
                raise ValueError(f"no number of {votes} was proved to decide rank {rank.rank}")
            yield Figure(
                name=f"{votes} that decide rank {rank.rank}",
                theirs=theirs,
                ours=rank.matches,
                comparison="at most",
            )
