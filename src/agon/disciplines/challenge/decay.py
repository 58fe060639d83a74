"""Burn more of a competition's emission the longer no score improves its top score.

The state of a competition is a fold over epochs: ``fold(state, first part)`` and then
``fold(that, the rest)`` equals folding all of them. Epochs without changes need not be
folded: the top ages by the difference of epoch numbers.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from agon.disciplines.challenge.formulas import NOISE, reaches
from agon.kernel.rounding import sufficient


class BestScore(NamedTuple):
    """The best score of an epoch, and the number of the submission that has it.

    Attributes:
        epoch: the epoch.
        score: the score.
        submission: the number of the submission.
        level: the score that enough of the stake behind it gives by itself (``improvement_stake``).
        first_evaluated: the first epoch in which an evaluation of the submission counted, so not
            that of a validator without stake; None: this epoch.
    """

    epoch: int
    score: float
    submission: int = 0
    level: float = math.inf
    first_evaluated: int | None = None


@dataclass(frozen=True)
class Improvement:
    """One improvement: the new best, and the score it had to reach."""

    best: BestScore
    bar: float


@dataclass(frozen=True)
class DecayState:
    """The state of a competition.

    Attributes:
        improvements: first to last.
        old_best: the best of the latest epoch, where it is high enough for an improvement but
            belongs to no new agent, so that a new one has to beat it as well.
        falls: since the last improvement, the best score that was left each time the agent of the
            top score had left the network, and the epoch (rule ``top_of_departed``).
    """

    improvements: tuple[Improvement, ...] = ()
    old_best: BestScore | None = None
    falls: tuple[BestScore, ...] = ()

    @property
    def top(self) -> float | None:
        """Return the best score at the last improvement; None before the first positive one.

        Where its agent has left the network it is what was left then.
        """
        return None if self.top_holder is None else self.top_holder.score

    @property
    def top_holder(self) -> BestScore | None:
        """Return the top score with its submission."""
        if self.falls:
            return self.falls[-1]
        return self.improvements[-1].best if self.improvements else None

    @property
    def last_improvement(self) -> int | None:
        """Return the epoch of the last improvement."""
        return self.improvements[-1].best.epoch if self.improvements else None


def bar(top: float | None, *, threshold: float, improvement: str) -> float:
    """Return the score to reach: top × (1 + θ), or top + θ when ``improvement`` is absolute.

    Before there is a top score, any score above 0 improves.

    Source: document 001, Decay Reset; challenge, step 8.

    Example:
        >>> bar(0.50, threshold=0.02, improvement="relative")
        0.51
        >>> bar(0.50, threshold=0.02, improvement="absolute")
        0.52
    """
    if top is None:
        return 0.0
    return top + threshold if improvement == "absolute" else top * (1 + threshold)


def improves(best: float, top: float | None, *, threshold: float, improvement: str) -> bool:
    """Return whether a new best resets the decay: it is above the top score and reaches the bar.

    Compared as decimals would be: 0.80 → 0.816 improves by 2 %.

    Source: document 001, Decay Reset; challenge, step 8.

    Example:
        >>> improves(0.816, 0.80, threshold=0.02, improvement="relative")
        True
        >>> improves(0.8159, 0.80, threshold=0.02, improvement="relative")
        False
    """
    if top is None:
        return best > 0
    wanted = bar(top, threshold=threshold, improvement=improvement)
    return best > top + NOISE and bool(reaches(best, wanted))


def least_improvement(
    top: float | None,
    *,
    threshold: float,
    improvement: str,
    above: float = 0.0,
    places: int = 6,
) -> float | None:
    """Return the smallest published score that improves on the top score, or None.

    ``above`` is a score that it has to exceed as well: that of an old agent on the first rank.

    None where no score can: scores end at 1, so a top score above 1 / (1 + θ) (absolute:
    above 1 − θ) is never improved on, and the burn grows to its maximum.

    Source: document 001, Decay Reset; challenge, step 8.

    Example:
        >>> least_improvement(2 / 3, threshold=0.02, improvement="relative")
        0.68
        >>> least_improvement(0.7000001, threshold=0.02, improvement="relative")
        0.714001
        >>> least_improvement(0.99, threshold=0.02, improvement="relative") is None
        True
    """

    def enough(score: float) -> bool:
        better = improves(score, top, threshold=threshold, improvement=improvement)
        return better and (above == 0 or score > above + NOISE)

    if not enough(1.0):
        return None
    wanted = max(above, bar(top, threshold=threshold, improvement=improvement))
    return min(sufficient(wanted, enough, places=places), 1.0)


def fold(
    state: DecayState,
    bests: Iterable[BestScore],
    *,
    threshold: float,
    improvement: str,
    improvement_by: str,
) -> DecayState:
    """Carry a competition's state through epochs.

    With ``new_agent`` the best of an epoch improves when its submission was first evaluated after
    the top was set, by an improvement or a fall. Where it was not, nothing below it in that epoch
    is the best either.

    Args:
        state: what earlier epochs left.
        bests: epochs rising, scores of one epoch falling; epochs without scores may be left out. A
            best counts as its score or its level, whichever is lower.
        threshold: θ, rule ``improvement_threshold``.
        improvement: ``relative`` or ``absolute``.
        improvement_by: ``new_agent`` or ``any``.

    Source: document 001, Decay Reset; challenge, step 8.

    Example:
        >>> bests = [BestScore(1, 0.80), BestScore(2, 0.81), BestScore(5, 0.816)]
        >>> rules = {"threshold": 0.02, "improvement": "relative", "improvement_by": "new_agent"}
        >>> state = fold(DecayState(), bests, **rules)
        >>> state.top, state.last_improvement
        (0.816, 5)
        >>> again = fold(state, [BestScore(9, 0.9, first_evaluated=5)], **rules)
        >>> again.top, again.last_improvement
        (0.816, 5)
    """
    improvements, old_best, falls = list(state.improvements), state.old_best, state.falls
    for best in bests:
        last = improvements[-1].best if improvements else None
        if old_best is not None and old_best.epoch != best.epoch:
            old_best = None
        top = DecayState(tuple(improvements[-1:]), falls=falls).top
        reached = min(best.score, best.level)
        if old_best is not None or not improves(
            reached, top, threshold=threshold, improvement=improvement
        ):
            continue
        if improvement_by == "new_agent" and last is not None and not _is_new(best, (last, *falls)):
            old_best = best
            continue
        wanted = bar(top, threshold=threshold, improvement=improvement)
        improvements.append(Improvement(best, wanted))
        falls = ()
    return DecayState(tuple(improvements), old_best, falls)


def _is_new(best: BestScore, tops: tuple[BestScore, ...]) -> bool:
    """Return whether a submission was first evaluated after the top score was set.

    Args:
        best: the submission's score.
        tops: the last improvement, and the falls since, by epoch. A fall sets the top for the
            epochs after its own: who beats the score that falls is as new as before.
    """
    earlier = [top.epoch for top in tops if top.epoch < best.epoch]
    set_in = earlier[-1] if earlier else tops[0].epoch
    return best.first_evaluated is None or best.first_evaluated > set_in


def stale_epochs(*, epoch: int, last_improvement: int, grace_epochs: int) -> int:
    """Count the epochs without improvement beyond the grace: τ = max(0, e - e₀ - G).

    Source: document 001, Decay Activation.

    Example:
        >>> stale_epochs(epoch=15, last_improvement=2, grace_epochs=10)
        3
    """
    return max(0, epoch - last_improvement - grace_epochs)


def burn_percent(stale: int, *, curve: str, rate: float, max_burn: float) -> float:
    """Return how much of a competition's emission burns, in percent.

    Linear: B = min(ρ τ 100, B_max). Exponential: B = min((1 - (1 - ρ)^τ) 100, B_max).

    Args:
        stale: τ, epochs.
        curve: ``linear`` or ``exponential``.
        rate: ρ, 0 … 1.
        max_burn: B_max, percent.

    Raises:
        ValueError: the curve does not exist.

    Source: document 001, Decay Curves.

    Example:
        >>> burn_percent(8, curve="linear", rate=0.05, max_burn=80)
        40.0
        >>> [round(burn_percent(t, curve="exponential", rate=0.05, max_burn=80), 3)
        ...  for t in (1, 2, 10, 32)]
        [5.0, 9.75, 40.126, 80.0]
    """
    if curve == "linear":
        return float(min(rate * stale * 100, max_burn))
    if curve == "exponential":
        return float(min((1 - (1 - rate) ** stale) * 100, max_burn))
    raise ValueError(f"there is no decay curve {curve!r}")


def epochs_until_max(*, curve: str, rate: float, max_burn: float) -> int | None:
    """Count the stale epochs after which the burn has reached its maximum; None if it never does.

    The smallest τ with B(τ) = B_max.

    Source: document 001, Decay Curves.

    Example:
        >>> epochs_until_max(curve="linear", rate=0.05, max_burn=80)
        16
        >>> epochs_until_max(curve="exponential", rate=0.05, max_burn=80)
        32
    """

    def at_max(stale: int) -> bool:
        percent = burn_percent(stale, curve=curve, rate=rate, max_burn=max_burn)
        return bool(reaches(percent, max_burn))

    if at_max(0):
        return 0
    if rate == 0:
        return None
    high = 1
    while not at_max(high):
        high *= 2
        if high > _NEVER:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_max(middle) else (middle, high)
    return high


_NEVER = 2**40
"""More epochs than any network runs; a burn below its maximum by then never reaches it."""
