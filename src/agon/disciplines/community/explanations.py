"""Explain a score of each board, part by part, in words made from the rules."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from agon.disciplines.community import boards
from agon.disciplines.community.components import Component, ExplanationLine
from agon.disciplines.community.components.curves import prompts_with_reviews
from agon.disciplines.community.components.tables import AFFILIATION
from agon.disciplines.community.counts.difficulty import sota_version
from agon.disciplines.community.counts.reviews import pairs_of
from agon.disciplines.community.evidence import Evidence, prompt_refs
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.tally import Tally
from agon.disciplines.community.texts import PLACES, many, number
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part, scored_explanation, unscored_explanation
from agon.kernel.findings import RecordRefs
from agon.kernel.rounding import sufficient

ALGORITHM = "scores0002-v1"
"""The source document's version of the algorithm."""

_PROMPTS_SHOWN = 200
"""Maximum number of a contributor's prompts with a separate part."""


def user_score(tally: Tally, person: int, board: Board) -> Explanation:
    """Explain a user score: one part per component."""
    facts = tally.facts
    name = facts.people.text[person].as_py()
    row, evidence = board.row(name), Evidence(facts, person)
    parts = tuple(_component(tally, component, evidence) for component in tally.components)
    context = _versions(facts) | {
        key: row[key] for key in ("tier", "badges") if row.get(key) is not None
    }
    return scored_explanation(board, row, parts, context=context)


def contributor(tally: Tally, person: int, board: Board) -> Explanation:
    """Explain a contributor's score: affiliation, and a part per prompt."""
    facts, rules = tally.facts, tally.facts.rules
    name = facts.people.text[person].as_py()
    row, evidence = board.row(name), Evidence(facts, person)
    points = {key: values[person] for key, values in boards.contributor_points(facts).items()}
    affiliated = int(facts.affiliated[person])
    bonus = rules.contributor_affiliation_bonus
    parts = [
        Part(
            "affiliation",
            float(points["affiliation"]),
            {"affiliation": affiliated},
            {"contributor_affiliation_bonus": bonus},
            f"{'an' if affiliated else 'no'} affiliation; one gives {number(bonus)} points",
            threshold=1,
            missing=None if affiliated else "1 confirmed affiliation",
            records=AFFILIATION.count.evidence(evidence),
            step={} if affiliated else {"more": 1, "points": bonus},
        ),
        *_prompt_parts(facts, evidence),
    ]
    return scored_explanation(board, row, parts, context=_versions(facts))


def reviewer(tally: Tally, person: int, board: Board) -> Explanation:
    """Explain a reviewer's correlation, or why there is none."""
    facts, rules = tally.facts, tally.facts.rules
    name = facts.people.text[person].as_py()
    row, own, others = pairs_of(facts.feedback, rules)
    mine = np.flatnonzero(facts.feedback.user[row] == person)
    used = {
        "min_prompt_reviews": rules.min_prompt_reviews,
        "min_reviewer_prompts": rules.min_reviewer_prompts,
        "self_feedback": rules.self_feedback,
    }
    records = (prompt_refs(facts, facts.feedback.prompt[row[mine]]),)
    count = _reviews_part(len(mine), used, rules, records)
    if len(mine) < rules.min_reviewer_prompts:
        reason = boards.too_few_reviews(len(mine), rules)
        return unscored_explanation(board, name, reason, (count,), context=_versions(facts))
    shown = board.row(name)
    means = {
        "own_mean": float(own[mine].mean()),
        "others_mean": math.fsum(sorted(others[mine])) / len(mine),
    }
    correlation = Part(
        "correlation",
        float(facts.correlations.r[person]),
        {"reviewed_prompts": len(mine), **means},
        {**used, **_bands(facts)},
        f"Pearson's r of the own ±1 and the mean ±1 of the other reviewers over {len(mine)} "
        f"prompts is {number(shown['score'])}: {shown['band']}",
        threshold=_band_ends(facts).get(shown["band"]),
        missing=_next_band(facts, shown["score"]),
        records=records,
    )
    context = _versions(facts) | {"band": shown["band"]}
    return scored_explanation(board, shown, (count, correlation), context=context)


def _reviews_part(
    rated: int, used: dict[str, Any], rules: CommunityRules, records: tuple[RecordRefs, ...]
) -> Part:
    """Explain how many prompts a reviewer rated, and how many are missing to be ranked."""
    needed, reviews = rules.min_reviewer_prompts, prompts_with_reviews(rules)
    short = max(needed - rated, 0)
    more = f"{many(short, 'more prompt')} with at least {many(reviews, 'review')}"
    return Part(
        "reviewed_prompts",
        0.0,
        {"reviewed_prompts": rated},
        used,
        f"rated {many(rated, 'prompt')} with at least {many(reviews, 'review')}; "
        f"{needed} needed to be ranked",
        threshold=needed,
        missing=more if short else None,
        records=records if rated else (),
        step={"more": short, "prompts": short, "reviews": reviews} if short else {},
    )


def explain_combined(tally: Tally, person: int, board: Board) -> Explanation:
    """Explain a row of the combined board, which is ordered by the user score."""
    facts = tally.facts
    name = facts.people.text[person].as_py()
    row = board.row(name)
    parts = []
    for key, score in row["components"].items():
        rank, percentile = row["ranks"][key], row["percentiles"][key]
        stands = f"no score on board {key}: " + boards.too_few_reviews(
            int(facts.correlations.reviewed[person]), facts.rules
        )
        if score is not None:
            stands = f"{number(score)} on board {key}: rank {rank}, percentile {number(percentile)}"
        parts.append(
            Part(
                key,
                score if key == "user-score" else 0.0,
                {"rank": rank, "percentile": percentile} if score is not None else {},
                {"specialisation_margin": facts.rules.specialisation_margin},
                stands,
            )
        )
    return scored_explanation(
        board,
        row,
        parts,
        notes=("The user score orders this board; explain each board for its own parts.",),
        context=_versions(facts) | {"specialises": row["specialises"]},
    )


def _component(tally: Tally, component: Component, evidence: Evidence) -> Part:
    """Explain one component; all of it follows from the component's row."""
    rules, score = tally.facts.rules, tally.score(component, evidence.person)
    line = ExplanationLine(component, score, evidence)
    inputs: dict[str, Any] = {"count": score.count}
    if score.amount != score.count:
        inputs["weight"] = score.amount
    has_threshold = component.least is not None or component.curve.has_threshold
    step = component.curve.step(line)
    return Part(
        component.name,
        score.points,
        inputs,
        component.rules_in_force(rules),
        component.curve.text(line),
        threshold=component.threshold(rules) if has_threshold else None,
        missing=step.text if step else None,
        records=component.count.evidence(evidence),
        step=step.numbers if step else {},
    )


def _prompt_parts(facts: Facts, evidence: Evidence) -> Iterator[Part]:
    """Return a part per prompt that moved the score, largest first, the rest together."""
    rules = facts.rules
    least = rules.min_prompt_reviews
    used = {"min_prompt_reviews": least, "self_feedback": rules.self_feedback}
    quality = boards.prompt_quality(facts)
    mine = evidence.prompts
    order = np.lexsort((mine, -np.abs(quality[mine])))
    moving = mine[order][quality[mine][order] != 0]
    names = facts.prompts.text
    for index in moving[:_PROMPTS_SHOWN].tolist():
        positive, reviews = int(facts.positives[index]), int(facts.reviews[index])
        name = names[index].as_py()
        yield Part(
            f"prompt {name}",
            float(quality[index]),
            {"positive": positive, "negative": reviews - positive, "reviews": reviews},
            used,
            f"{positive} positive and {reviews - positive} negative of {reviews} reviews: "
            f"quality {number(float(quality[index]))}",
            threshold=least,
            records=(RecordRefs.of("prompts", [name]),),
        )
    rest = moving[_PROMPTS_SHOWN:]
    if len(rest):
        yield Part(
            "other prompts",
            math.fsum(quality[rest]),
            {"prompts": len(rest)},
            used,
            f"{len(rest)} further prompts together",
            records=(prompt_refs(facts, rest),),
        )
    still = mine[quality[mine] == 0]
    few = still[facts.reviews[still] < least]
    if len(still):
        yield Part(
            "prompts without effect",
            0.0,
            {"prompts": len(still), "too_few_reviews": len(few)},
            used,
            f"{len(still)} prompts have no effect: {len(few)} have fewer than {least} reviews, "
            f"{len(still) - len(few)} have as many negative as positive ones",
            threshold=least,
            missing=f"at least {many(least, 'review')} each" if len(few) else None,
            records=(prompt_refs(facts, still),),
            step={
                "more": int(least - facts.reviews[few].max()),
                "prompts": facts.prompts.text.take(pa.array(few)).to_pylist(),
                "reviews": least,
            }
            if len(few)
            else {},
        )


def _versions(facts: Facts) -> dict[str, Any]:
    return {"algorithm": ALGORITHM, "sota_models": sota_version(facts.rules)}


def _bands(facts: Facts) -> dict[str, float]:
    return {f"reviewer_{name}": value for name, value in _band_ends(facts).items()}


def _band_ends(facts: Facts) -> dict[str, float]:
    rules = facts.rules
    return {
        "excellent": rules.reviewer_excellent,
        "good": rules.reviewer_good,
        "fair": rules.reviewer_fair,
    }


def _next_band(facts: Facts, r: float) -> str | None:
    above = [(value, name) for name, value in _band_ends(facts).items() if value > r]
    if not above:
        return None
    value, name = min(above)
    more = sufficient(value - r, lambda more: r + more >= value, places=PLACES)
    return f"{number(more)} more correlation for {name}"
