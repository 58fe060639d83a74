"""Return how much feedback each creator draws, which is what chance would send them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agon.disciplines.community.facts import Facts
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.marks import AnyInts


@dataclass(frozen=True)
class Exposure:
    """The feedback on prompts with a known creator, by giver and creator.

    Attributes:
        author: creator of the prompt of each feedback, −1 where unknown.
        sent: feedbacks each user gave on such prompts.
        received: feedbacks on each user's prompts.
    """

    author: IntArray
    sent: IntArray
    received: IntArray

    @classmethod
    def of(cls, facts: Facts, chosen: BoolArray | None = None) -> "Exposure":
        """Count the feedback that counts, or the chosen part of it."""
        user, size = facts.feedback.user, len(facts.people)
        author = facts.creator[facts.feedback.prompt]
        counted = author >= 0 if chosen is None else (author >= 0) & chosen
        return cls(
            author,
            np.bincount(user[counted], minlength=size),
            np.bincount(author[counted], minlength=size),
        )

    @cached_property
    def creators(self) -> int:
        """Return the number of users whose prompts got any feedback."""
        return int((self.received > 0).sum())

    def share(self, creator: IntArray, *, away: IntArray, on: IntArray) -> FloatArray:
        """Return each creator's share of the feedback of all users but one.

        One feedback is added for every creator, so that no share is zero.

        Args:
            creator: whose share.
            away: the user left out.
            on: that user's feedbacks on the creator.

        Example:
            >>> drawn = Exposure(np.array([0, 0, 1]), np.array([0, 2, 1]), np.array([2, 1, 0]))
            >>> drawn.share(np.array([0]), away=np.array([1]), on=np.array([1])).tolist()
            [0.6666666666666666]
        """
        others = self.received[creator] - on
        total = self.received.sum() - self.sent[away]
        return (others + 1) / (total + max(self.creators, 1))

    def pairs(self, user: AnyInts, chosen: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Count the chosen feedback by (user, author): users, authors and counts, in order."""
        rows = np.flatnonzero(chosen & (self.author >= 0))
        size = max(len(self.sent), 1)
        keys = np.sort(user[rows] * np.int64(size) + self.author[rows])
        opens = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
        counts = np.diff(np.concatenate([opens, [len(keys)]]))
        who, author = np.divmod(keys[opens], size)
        return who, author, counts
