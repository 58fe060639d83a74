"""Explain Bradley–Terry ratings: what a bot took, and what decides its rank and tier."""

from collections.abc import Callable
from typing import Any

import numpy as np

from agon.disciplines.arena.boards import NO_MATCH
from agon.disciplines.arena.facts import Bots
from agon.disciplines.arena.ratings.deciding import (
    Deciding,
    RatedMatches,
    gap_and_error,
    is_apart,
)
from agon.disciplines.arena.ratings.strengths import Strengths
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part, scored_explanation, unscored_explanation
from agon.kernel.ratings.elo import expected_score
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.rounding import publish
from agon.kernel.text.captions import count_text
from agon.kernel.text.sentences import Piece, Sentence

_SHOWN = ("low", "high", "rank_low", "rank_high", "tier", "apart", "votes_needed")
_INFORMATIVE = 3  # pairs of opponents that are listed
_MATCHES = 20  # that are listed by id
_NAMED = 5  # of them in a sentence


def explain_strength(
    bot: int,
    *,
    board: Board,
    bots: Bots,
    strengths: Strengths,
    rules: ArenaRules,
    matches_of: Callable[[], RatedMatches | None] | None = None,
) -> Explanation:
    """Explain a Bradley–Terry rating: at it, points expected equal points taken.

    Args:
        bot: its number.
        board: the board.
        bots: all bots.
        strengths: the ratings.
        rules: the rules they were fitted under.
        matches_of: returns the rated matches, so that those that decide rank and tier are named;
            None: they are not at hand.
    """
    name = str(bots.ids[bot])
    mean = Part(
        "mean",
        rules.elo_start,
        {},
        {"elo_start": rules.elo_start, "center": rules.center},
        _reference_text(rules),
    )
    row = int(np.searchsorted(strengths.bots, bot))
    if row == len(strengths.bots) or strengths.bots[row] != bot:
        reason = strengths.unrated.get(bot)
        why = reason or NO_MATCH
        parts = (mean, _missing_strength(reason, rules))
        return unscored_explanation(board, name, why, parts)
    opponents = _opponents(row, bots, strengths, rules)
    board_row = board.row(name)
    score = float(strengths.score[row])
    strength = _strength_part(score, opponents, rules, played=board_row["matches"])
    context = {key: board_row[key] for key in _SHOWN}
    context["opponents"] = opponents
    rated = None if matches_of is None else matches_of()
    comparisons = _comparisons(row, bots, strengths, rules, rated)
    context["comparisons"] = comparisons
    return scored_explanation(
        board,
        board_row,
        (mean, strength),
        notes=(
            _interval_note(board_row, strengths, rules),
            *map(_comparison_text, comparisons),
            *strengths.notes,
        ),
        context=context,
    )


def _missing_strength(reason: str | None, rules: ArenaRules) -> Part:
    """Return the part of a bot without a rating: why it has none, and what would give it one."""
    text = "No match." if reason is None else f"It {reason}."
    step = _first(rules) if reason is None else reason.partition("rated after ")[2]
    return Part("strength", 0.0, {}, {}, text, missing=step)


def _strength_part(
    score: float, opponents: list[dict[str, Any]], rules: ArenaRules, *, played: int
) -> Part:
    """Return the distance to the mean: the points taken are those expected at this rating."""
    matches = sum(opponent["matches"] for opponent in opponents)
    points = sum(opponent["points"] for opponent in opponents)
    expected = publish(sum(opponent["expected"] for opponent in opponents))
    unrated = played - matches
    prior = rules.bradley_terry_regularisation
    return Part(
        "strength",
        publish(score - rules.elo_start),
        {
            "matches": matches,
            "unrated_matches": unrated,
            "opponents": len(opponents),
            "points": points,
            "expected": expected,
        },
        {"elo_scale": rules.elo_scale, "bradley_terry_regularisation": prior},
        f"Took {points:g} point{'' if points == 1 else 's'} in {count_text(matches, 'match')} "
        f"against {count_text(len(opponents), 'opponent')}; at {score:,.0f} it is expected to take "
        f"{expected:.4g}"
        + (f", pulled to the mean by {prior:g} tied matches." if prior else ".")
        + (f" {unrated} more with bots without a rating do not count here." if unrated else ""),
    )


def _first(rules: ArenaRules) -> str:
    """Return what a bot without matches needs for a finite rating."""
    if rules.bradley_terry_regularisation > 0:
        return "one rated match"
    return "one rated tie, or a rated win and a rated loss, against a bot with a rating"


def _opponents(
    row: int, bots: Bots, strengths: Strengths, rules: ArenaRules
) -> list[dict[str, Any]]:
    """Return a bot's opponents with the number of matches, actual and expected points."""
    counts = strengths.counts
    listed = []
    model = strengths.model
    for side, opponent, score, of_first in (
        (counts.i, counts.j, counts.wins_i, True),
        (counts.j, counts.i, counts.wins_j, False),
    ):
        for pair in np.flatnonzero(side == row).tolist():
            other = int(opponent[pair])
            chance = expected_score(
                float(strengths.score[row]),
                float(strengths.score[other]),
                scale=rules.elo_scale,
            )
            matches = int(counts.matches[pair])
            listed.append(
                {
                    "opponent": str(bots.ids[int(strengths.bots[other])]),
                    "matches": matches,
                    "points": float(score[pair]),
                    "expected": publish(
                        float(counts.weights[pair]) * chance
                        if model is None
                        else float(model.expected[pair])
                        if of_first
                        else float(counts.weights[pair] - model.expected[pair])
                    ),
                }
            )
    return sorted(listed, key=lambda item: (-item["matches"], item["opponent"]))


def _interval_note(row: dict[str, Any], strengths: Strengths, rules: ArenaRules) -> str:
    note = (
        f"{100 * rules.confidence:.4g} % interval ({rules.interval}): {_range_text(row)}; "
        f"{_ranks_text(row)}, tier {row['tier']}"
    )
    intervals = strengths.intervals
    if intervals.separated:
        note += (
            f"; {intervals.separated} of {intervals.refits} resamples had no finite optimum and "
            f"were fitted with {intervals.separated_regularization:g} tied matches against the mean"
        )
    return note


def _range_text(row: dict[str, Any]) -> str:
    if row["low"] is None and row["high"] is None:
        return "no interval"
    if row["high"] is None:
        return f"≥ {row['low']:,.0f}, as it never lost a point"
    if row["low"] is None:
        return f"≤ {row['high']:,.0f}, as it never won a point"
    return f"{row['low']:,.0f} to {row['high']:,.0f}"


def _ranks_text(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return f"rank {low}" if low == high else f"ranks {low} to {high}"


def _comparisons(
    row: int, bots: Bots, strengths: Strengths, rules: ArenaRules, rated: RatedMatches | None
) -> list[dict[str, Any]]:
    """Compare a bot with those that decide its rank and tier: the neighbors and the tier's head.

    ``pairs`` are those whose matches say most about the difference: with m = V (e_i − e_j), a pair
    (a, b) has the share n p (1 − p) (m_a − m_b)² of the information. ``order_matches`` are the
    fewest matches without which the two bots change places, ``tier_matches`` those without which
    they are not apart.
    """
    made = strengths.separation
    order = made.order.tolist()
    index = order.index(row)
    tiers = made.tier[made.order]
    heads = [order[int(np.argmax(tiers == tier))] for tier in (made.tier[row], made.tier[row] - 1)]
    others: dict[int, list[str]] = {}
    for place, other in (
        ("the bot before", order[index - 1] if index else row),
        ("the next bot", order[index + 1] if index + 1 < len(order) else row),
        ("the head of its tier", heads[0]),
        ("the head of the tier before", heads[1] if made.tier[row] > 1 else row),
    ):
        if other != row:
            others.setdefault(other, []).append(place)
    elo = rules.elo_scale / np.log(10.0)
    listed = []
    for other, places in others.items():
        upper, lower = sorted((row, other), key=order.index)
        gap, error = gap_and_error(strengths, upper, lower)
        apart = is_apart(strengths, upper, lower)
        order_matches = tier_matches = None
        if rated is not None and abs(order.index(upper) - order.index(lower)) == 1:
            order_matches = rated.of_order(strengths, upper, lower)
        if rated is not None and apart and other == heads[1]:
            tier_matches = rated.of_distance(strengths, upper, lower)
        listed.append(
            {
                "place": " and ".join(places),
                "bot": _name(other, bots, strengths),
                "gap": publish(elo * gap),
                "margin": publish(elo * made.critical * error) if np.isfinite(error) else None,
                "apart": apart,
                "pairs": _informative_pairs(upper, lower, bots, strengths),
                "is_above": other == lower,
                "order_matches": _match_list(order_matches, rated, bots, strengths),
                "tier_matches": _match_list(tier_matches, rated, bots, strengths),
            }
        )
    return listed


def _informative_pairs(
    first: int, second: int, bots: Bots, strengths: Strengths
) -> list[dict[str, Any]]:
    """Return the pairs whose matches say most about the difference of two bots."""
    counts, theta = strengths.counts, strengths.intervals.strength
    if (
        strengths.intervals.covariance.connected[first]
        != (strengths.intervals.covariance.connected[second])
    ):
        return []
    matrix = strengths.intervals.covariance.estimates[-1]
    moved = matrix[:, first] - matrix[:, second]
    wins = logistic(theta[counts.i] - theta[counts.j])
    information = counts.weights * wins * (1.0 - wins) * (moved[counts.i] - moved[counts.j]) ** 2
    total = float(information.sum())
    most = np.argsort(-information, kind="stable")[:_INFORMATIVE]
    return [
        {
            "bots": [_name(int(side[pair]), bots, strengths) for side in (counts.i, counts.j)],
            "matches": float(counts.matches[pair]),
            "share": publish(float(information[pair]) / total),
        }
        for pair in most.tolist()
        if total > 0
    ]


def _comparison_text(compared: dict[str, Any]) -> Sentence:
    other = Piece.of(compared["bot"])
    neighbor = Sentence.of(other, f", {compared['place']}")
    if compared["margin"] is None:
        return Sentence.of("nothing compares it with ", neighbor)
    apart = "apart from " if compared["apart"] else "not apart from "
    gap = f": the gap is {compared['gap']:,.0f} ± {compared['margin']:,.0f}"
    pairs = Sentence.joined(
        ", ",
        (
            Sentence.of(
                _both(pair),
                f" ({count_text(round(pair['matches']), 'match')}, {pair['share']:.0%})",
            )
            for pair in compared["pairs"]
        ),
    )
    parts = [Sentence.of(apart, neighbor, gap, *([", known mostly from ", pairs] if pairs else []))]
    above, below = ("it", other) if compared["is_above"] else (other, "it")
    if compared["order_matches"] is not None:
        decisive = _matches_text(compared["order_matches"])
        parts.append(Sentence.of("without ", decisive, " ", below, " would be before ", above))
    if compared["tier_matches"] is not None:
        decisive = _matches_text(compared["tier_matches"])
        parts.append(Sentence.of("without ", decisive, " the two would not be apart"))
    return Sentence.joined("; ", parts)


def _both(pair: dict[str, Any]) -> Sentence:
    return Sentence.joined(" against ", map(Piece.of, pair["bots"]))


def _match_list(
    made: Deciding | None, rated: RatedMatches | None, bots: Bots, strengths: Strengths
) -> dict[str, Any] | None:
    """Return the number of matches, the pairs that most are of, and the ids of the first."""
    if made is None or rated is None:
        return None
    return {
        "number": len(made.matches),
        "pairs": [
            {"bots": [_name(row, bots, strengths) for row in (first, second)], "matches": number}
            for first, second, number in made.pairs
        ],
        "ids": rated.names(np.array(made.matches[:_MATCHES], dtype=np.int64)),
    }


def _matches_text(listed: dict[str, Any]) -> Sentence:
    number, ids = listed["number"], listed["ids"][:_NAMED]
    pairs = Sentence.joined(
        ", ",
        (Sentence.of(f"{pair['matches']:,} of ", _both(pair)) for pair in listed["pairs"]),
    )
    more = ", …" if number > len(ids) else ""
    return Sentence.of(f"{count_text(number, 'match')} (", pairs, f": {', '.join(ids)}{more})")


def _name(row: int, bots: Bots, strengths: Strengths) -> str:
    return str(bots.ids[int(strengths.bots[row])])


def _reference_text(rules: ArenaRules) -> str:
    start = f"{rules.elo_start:g}"
    if rules.center == "mean":
        return f"The ratings of all bots have mean {start}."
    if rules.center == "weighted":
        return f"The ratings of all bots, weighted by their matches, have mean {start}."
    return Sentence.of("The rating of ", Piece.of(rules.center), f" is {start}.")
