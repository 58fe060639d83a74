"""Define how counts become points, and what is missing for more of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from agon.disciplines.community import formulas
from agon.disciplines.community.components.component import (
    MAX_NEAREST,
    Curve,
    ExplanationLine,
    Terms,
)
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.texts import PLACES, many, number, points_text
from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.explanations import NextStep
from agon.kernel.rounding import sufficient


@dataclass(frozen=True)
class Bonus(Curve):
    """Points once a count is reached.

    Attributes:
        earned: returns when each participant reached it, in microseconds since 1970 or
            ``NO_TIME``; None where no record has a time.
    """

    has_threshold: ClassVar[bool] = True
    earned: Callable[[Facts], IntArray] | None

    def points(self, amounts: npt.ArrayLike, terms: Terms) -> FloatArray:
        """Return the worth for an amount of at least the least one."""
        return formulas.bonus(amounts, least=int(terms.least), points=terms.worth)

    def text(self, line: ExplanationLine) -> str:
        """Return the count, the count needed and the points."""
        worth = number(line.worth)
        text = f"{line.count_text}; {int(line.threshold)} needed for {worth} points: {line.earned}"
        reason = line.component.unattainable(line.rules)
        return f"{text}; they cannot be earned: {reason}" if reason else text

    def step(self, line: ExplanationLine) -> NextStep | None:
        """Return how many more are needed, and which prompts are nearest."""
        component, evidence = line.component, line.evidence
        short = int(line.threshold - line.score.count)
        if short <= 0 or component.unattainable(line.rules):
            return None
        more = "more " if line.score.count else ""
        text = f"{short} {more}{component.further(short, line.rules)}"
        numbers = {"more": short, "points": line.worth}
        if component.progress is None:
            return NextStep(text, numbers)
        nearest = component.progress(evidence).nearest(evidence.facts)
        further = max(short - len(nearest), 0)
        if nearest:
            listed = ", ".join(
                f"{item['id']} ({item['have']} of {item['needed']})" for item in nearest
            )
            text += f"; nearest: {listed}"
            text += f" and {many(further, 'other prompt')}" if further else ""
        return NextStep(text, {**numbers, "nearest": nearest, "further": further})


@dataclass(frozen=True)
class Linear(Curve):
    """Points per unit.

    Attributes:
        sign: 1, or −1 for a penalty.
    """

    sign: Literal[1, -1] = 1

    def points(self, amounts: npt.ArrayLike, terms: Terms) -> FloatArray:
        """Return the worth, or minus it, per unit."""
        coefficient = self.sign * terms.worth
        return formulas.linear(amounts, coefficient=coefficient) + 0.0  # no negative zero

    def text(self, line: ExplanationLine) -> str:
        """Return the count, its worth by age where that differs, and the product."""
        score = line.score
        by_age = f", worth {number(score.amount)} by age," if score.amount != score.count else ""
        sign = "-" if self.sign < 0 else ""
        return f"{line.count_text}{by_age} × {sign}{number(line.worth)} = {line.earned}"

    def step(self, line: ExplanationLine) -> NextStep | None:
        """Return what one more unit adds; None for a penalty."""
        if self.sign < 0:
            return None
        ages = line.component.aged and line.rules.time_decay_half_life_days is not None
        text = f"1 more {line.component.further(1, line.rules)} adds {points_text(line.worth)}"
        return NextStep(text + (" at first" if ages else ""), {"more": 1, "points": line.worth})


@dataclass(frozen=True)
class Doubling(Linear):
    """Points per doubling of 1 + the other users of each quality prompt.

    Attributes:
        others: returns the number of other users of each prompt.
    """

    others: Callable[[Facts], IntArray] | None = None

    def step(self, line: ExplanationLine) -> NextStep | None:
        """Return what one more other user adds to the quality prompt with the fewest of them."""
        evidence, facts = line.evidence, line.evidence.facts
        own = evidence.prompts[facts.is_quality[evidence.prompts]]
        if self.others is None or not len(own):
            needed = line.rules.min_positive_feedbacks
            feedbacks = many(needed, "positive feedback")
            return NextStep(
                f"1 prompt with at least {feedbacks} in a benchmark on which 1 other user ran "
                f"responses adds {points_text(line.worth)}",
                # A prompt, its feedback, its place in a benchmark, and the other user's responses.
                {"more": needed + 3, "prompt": None, "others": 0, "points": line.worth},
            )
        others = self.others(facts)[own]
        index = int(own[np.argmin(others)])
        have, name = int(others.min()), facts.prompts.text[index].as_py()
        gain = float(np.diff(formulas.impact([have, have + 1]))[0]) * line.worth
        points = -sufficient(-gain, lambda value: value >= -gain, places=PLACES)
        return NextStep(
            f"1 more user who runs responses on a benchmark that holds {name} ({have} other "
            f"{'user' if have == 1 else 'users'} now) adds at least {points_text(points)}",
            {"more": 1, "prompt": name, "others": have, "points": points},
        )


@dataclass(frozen=True)
class HIndexSquare(Curve):
    """Points that grow with the square of the h-index: h² times the worth."""

    def points(self, amounts: npt.ArrayLike, terms: Terms) -> FloatArray:
        """Return h² × the worth."""
        return formulas.h_index_score(amounts, coefficient=terms.worth)

    def text(self, line: ExplanationLine) -> str:
        """Return the h-index, the prompts that reach it, and the points."""
        h = int(line.score.count)
        prompts = f"{many(h, 'prompt')} with at least {many(h, 'positive feedback')}"
        reached = f"h-index {h} ({prompts})" if h else "no prompt with a positive feedback"
        return f"{reached}: {h}² × {number(line.worth)} = {line.earned}"

    def step(self, line: ExplanationLine) -> NextStep | None:
        """Return the feedback and prompts the next h-index needs."""
        facts, h = line.evidence.facts, int(line.score.count) + 1
        best = line.evidence.best(h)
        have = facts.likes[best]
        short = np.flatnonzero(have < h)
        more, new = int((h - have[short]).sum()), h - len(best)
        names = facts.prompts.text
        nearest = [
            {"id": names[int(best[index])].as_py(), "have": int(have[index]), "needed": h}
            for index in short
        ]
        prompts = [f"{item['id']} ({item['have']} of {h})" for item in nearest]
        steps = []
        if more:
            further = ", …" if len(prompts) > MAX_NEAREST else ""
            feedback = many(more, "more positive feedback")
            steps.append(f"{feedback} on {', '.join(prompts[:MAX_NEAREST])}{further}")
        if new:
            feedback = many(h, "positive feedback")
            steps.append(f"{many(new, 'more prompt')} with at least {feedback}")
        points = (2 * h - 1) * line.worth
        return NextStep(
            f"for h-index {h}: {' and '.join(steps)}",
            {
                "more": more + new * (1 + h),
                "nearest": nearest,
                "further": new,
                "feedbacks": h,
                "points": points,
            },
        )


@dataclass(frozen=True)
class ReviewCorrelation(Curve):
    """Points per correlation from a least one on."""

    def points(self, amounts: npt.ArrayLike, terms: Terms) -> FloatArray:
        """Return r × the worth for a correlation of at least the least one."""
        return formulas.review_quality(amounts, least=terms.least, coefficient=terms.worth)

    def text(self, line: ExplanationLine) -> str:
        """Return the correlation, the least one needed, and the points."""
        needed, worth = number(line.threshold), number(line.worth)
        return f"{line.count_text}; from {needed} on, × {worth}: {line.earned}"

    def step(self, line: ExplanationLine) -> NextStep | None:
        """Return how much correlation is missing, and first how many prompts with reviews."""
        rules, evidence = line.rules, line.evidence
        least, have = max(line.threshold, 0.0), line.score.count
        rated = int(evidence.facts.correlations.reviewed[evidence.person])
        prompts = max(rules.min_reviewer_prompts - rated, 0)
        if not prompts and have >= least:
            return None
        short = sufficient(least - have, lambda more: have + more >= least, places=PLACES)
        steps = []
        if prompts:
            reviews = many(prompts_with_reviews(rules), "review")
            steps.append(f"feedback on {many(prompts, 'more prompt')} with at least {reviews}")
        if short > 0:
            steps.append(f"{number(short)} more correlation")
        numbers: dict[str, Any] = {"prompts": prompts, "correlation": short}
        return NextStep(" and ".join(steps), numbers | ({"more": prompts} if prompts else {}))


def prompts_with_reviews(rules: CommunityRules) -> int:
    """Return the reviews a prompt needs to be compared: the rule's, and at least two."""
    return max(rules.min_prompt_reviews, 2)
