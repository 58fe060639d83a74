"""Count the prompts of a community that grew: those whose counts changed are counted again.

What is summed over prompts changes by what the changed prompts add now, less what they added
before; both are counted by the functions that count all prompts.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.added_feedback import AddedFeedback
from agon.disciplines.community.added_responses import AddedResponses
from agon.disciplines.community.difficulty import Difficulty, count_wrong
from agon.disciplines.community.facts import Facts, NumberArray
from agon.disciplines.community.grown import Grown
from agon.disciplines.community.stored_pairs import (
    GrownPairs,
    StoredPairs,
    distinct,
    pair_arrays,
)
from agon.kernel.marks import AnyInts

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
CountOf = Callable[[Facts], NumberArray]


def prompt_arrays(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield what :class:`AddedPrompts` continues from."""
    yield "wrong", facts.difficulty.wrong
    yield "wrong_sota", facts.difficulty.wrong_sota
    known = np.flatnonzero(facts.creator >= 0)
    prompts = known[np.argsort(facts.creator[known], kind="stable")]
    yield from pair_arrays("prompts_by", facts.creator[prompts], prompts, size=len(facts.people))


class SomeFacts(Facts):
    """Facts of which some are given: of some prompts, or of benchmarks without all their pairs."""

    def __init__(self, grown: Grown, **arrays: Any) -> None:
        self.rules, self.people = grown.rules, grown.people
        vars(self).update(arrays)


class AddedPrompts:
    """Stored counts of prompts, and what added rows change."""

    def __init__(self, grown: Grown, feedback: AddedFeedback, responses: AddedResponses) -> None:
        self._grown, self._feedback, self._responses = grown, feedback, responses
        self._before = grown.stored["positives"]

    @property
    def has_other_models(self) -> bool:
        """Return whether other models are state of the art than before: all prompts change."""
        return self._responses.sota is None

    def sum(self, name: str, of: CountOf) -> NumberArray:
        """Count each user's prompts of a kind.

        Args:
            name: of the stored count.
            of: counts the prompts of some facts.
        """
        now, before = self._changed
        return self._grown.by_user(name) + of(now) - of(before)

    def h_indices(self, name: str, of: CountOf) -> NumberArray:
        """Return each user's h-index.

        It changes only where a prompt's positive feedback passes it: h rises when more prompts
        have at least h + 1, and falls when fewer have at least h.

        Args:
            name: of the stored count.
            of: returns the h-indices of some facts.
        """
        grown, h = self._grown, self._grown.by_user(name)
        before, now = self._positives_of(self._rated)
        own = grown.creator[self._rated]
        h_then = np.where(own >= 0, h[own], 0)
        passes = ((before <= h_then) & (h_then < now)) | ((now < h_then) & (h_then <= before))
        users = distinct(own[passes & (own >= 0)])
        pairs = StoredPairs(grown.stored, "prompts_by")
        new = grown.prompts.added
        written = new[grown.creator[new] >= 0]
        _, prompts = GrownPairs(pairs, grown.creator[written], written).of(users)
        h[users] = of(self._facts(prompts, self._feedback.positives[prompts]))[users]
        return h

    @cached_property
    def _rated(self) -> IntArray:
        """Return the prompts whose positive feedback may have changed, and the added ones."""
        opinions, added = self._feedback.opinions, self._grown.prompts.added
        rated = opinions.prompt[opinions.positive]
        return distinct(np.concatenate([rated, opinions.replaced_prompt, added]))

    def _positives_of(self, prompts: IntArray) -> tuple[ShortArray, ShortArray]:
        """Return the positive feedback of some prompts before and after rows were added."""
        earlier = prompts < len(self._before)
        before = np.zeros(len(prompts), dtype=np.int32)
        before[earlier] = self._before[prompts[earlier]]
        return before, self._feedback.positives[prompts]

    @cached_property
    def _changed(self) -> tuple[Facts, Facts]:
        """Return the facts now and before of all prompts whose kind may have changed.

        These are the ones that became, or are no longer, quality prompts, and the quality prompts
        with added responses or scores.
        """
        grown, rated = self._grown, self._rated
        was, is_now = (self._facts(rated, likes).is_quality for likes in self._positives_of(rated))
        answered = self._responses.prompts
        quality = self._facts(answered, self._feedback.positives[answered]).is_quality
        prompts = distinct(np.append(rated[was != is_now], answered[quality]))
        now = self._facts(prompts, self._feedback.positives[prompts])
        responses, sota = self._responses.of(prompts), self._responses.sota or frozenset()
        looked_at = now.is_quality
        now.difficulty = count_wrong(responses, grown.rules, looked_at=looked_at, sota=sota)
        stored, earlier = grown.stored, prompts[prompts < len(self._before)]
        before = self._facts(earlier, self._before[earlier])
        before.difficulty = Difficulty(
            stored["wrong"][earlier], stored["wrong_sota"][earlier], now.difficulty.sota
        )
        return now, before

    def _facts(self, prompts: IntArray, likes: AnyInts) -> Facts:
        """Return the facts of some prompts with some positive feedback."""
        creator = self._grown.creator[prompts].astype(np.int64)
        return SomeFacts(self._grown, creator=creator, likes=likes.astype(np.int64))
