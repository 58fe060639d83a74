"""Explain ratings and credibilities: every match and every event that moved them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from agon.disciplines.arena.boards import API_JUDGE, NEVER_PLAYED
from agon.disciplines.arena.facts import API, HONEYPOT, SKIPPED, Facts
from agon.disciplines.arena.formulas import Ints, expected_score, k_factor
from agon.disciplines.arena.history import (
    Credibilities,
    CredibilityEvent,
    Ratings,
    Results,
    games_of_version,
    verdict_of_votes,
)
from agon.disciplines.arena.judges.pool_part import pool_part
from agon.disciplines.arena.ratings.rating_history import RatingHistory
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation, Part, scored_explanation, unscored_explanation
from agon.kernel.findings import RecordRefs
from agon.kernel.rounding import publish
from agon.kernel.text.sentences import Piece, Sentence

DETAILED = 500
"""Number of the latest matches or events with a separate part; older ones share one."""

_SIDES = ("a", "b", "tie")


def explain_bot(
    bot: int,
    *,
    board: Board,
    facts: Facts,
    ratings: Ratings,
    history: RatingHistory,
    rules: ArenaRules,
) -> Explanation:
    """Explain a bot's rating: the start and each rated match with K, expectation and change."""
    name = str(facts.bots.ids[bot])
    played = history.played[history.opens[bot] : history.opens[bot + 1]]
    games = len(played)
    if not (games or facts.bots.qualified[bot]):
        missing = "qualify by being picked as more human than a human, or play a rated match"
        begun = _start(rules, missing=missing)
        return unscored_explanation(board, name, NEVER_PLAYED, (begun,))
    steps = _Steps(bot, facts, ratings, history, rules)
    split = max(0, games - DETAILED)
    parts = (
        _start(rules),
        *steps.earlier(played[:split]),
        *(steps.part(int(match), split + index) for index, match in enumerate(played[split:])),
        _standing(games, int(games_of_version(facts, ratings)[bot]), rules),
    )
    row = board.row(name)
    context = {key: row[key] for key in ("matches", "wins", "losses", "ties", "provisional")}
    return scored_explanation(board, row, parts, notes=_unrated_texts(bot, facts), context=context)


def _start(rules: ArenaRules, *, missing: str | None = None) -> Part:
    return Part(
        "start",
        rules.elo_start,
        {},
        {"elo_start": rules.elo_start},
        f"Every bot starts at {rules.elo_start:g}.",
        missing=missing,
        step={} if missing is None else {"more": 1},
    )


class _Steps:
    """Write the part of each rated match of one bot."""

    def __init__(
        self, bot: int, facts: Facts, ratings: Ratings, history: RatingHistory, rules: ArenaRules
    ) -> None:
        self.bot, self.facts, self.ratings, self.rules = bot, facts, ratings, rules
        self.history = history

    def points(self, match: int) -> tuple[float, float]:
        """Return the published rating before and after one match."""
        is_a = self.ratings.a[match] == self.bot
        before = (self.history.before_a if is_a else self.history.before_b)[match]
        change = (self.ratings.change_a if is_a else self.ratings.change_b)[match]
        return publish(float(before)), publish(float(before + change))

    def earlier(self, played: Ints) -> Iterator[Part]:
        """Sum up the matches that are too many to list."""
        if not len(played):
            return
        before, after = self.points(int(played[0]))[0], self.points(int(played[-1]))[1]
        names = self.facts.matches.names(self.ratings.match[played])
        yield Part(
            f"first {len(played)} matches",
            publish(after - before),
            {"matches": len(played), "rating_before": before, "rating_after": after},
            _elo_rules(self.rules),
            f"The first {len(played):,} rated matches moved the rating from {before:g} to "
            f"{after:g}.",
            records=(RecordRefs.of("matches", names),),
        )

    def part(self, match: int, games_before: int) -> Part:
        """Explain one match."""
        rules, ratings = self.rules, self.ratings
        is_a = ratings.a[match] == self.bot
        opponent_number = int((ratings.b if is_a else ratings.a)[match])
        pair = float(self.history.before_a[match]), float(self.history.before_b[match])
        own, opponent = pair if is_a else pair[::-1]
        of_a = float(ratings.score[match])
        score = of_a if is_a else 1.0 - of_a
        expected = expected_score(own, opponent, scale=rules.elo_scale)
        k = k_factor(
            games_before,
            k_new=rules.k_new,
            k_established=rules.k_established,
            games_established=rules.games_established,
        )
        before, after = self.points(match)
        change = publish(after - before)
        opposed = str(self.facts.bots.ids[opponent_number])
        verbs = {1.0: "Beat", 0.5: "Tied with", 0.0: "Lost to"}
        verb = verbs.get(score, f"Took {score:g} points against")
        name = self.facts.matches.names([int(ratings.match[match])])[0]
        rounded = ", rounded" if rules.round_changes else ""
        return Part(
            f"match {name}",
            change,
            {
                "opponent": opposed,
                "rating": publish(own),
                "opponent_rating": publish(opponent),
                "score": score,
                "expected": publish(expected),
                "k": k,
                "games_before": games_before,
                "rating_after": after,
            },
            _elo_rules(rules),
            Sentence.of(
                f"{verb} ",
                Piece.of(opposed),
                f" ({own:g} against {opponent:g}): "
                f"{k:g} × ({score:g} − {expected:.4f}){rounded} = {change:+g}.",
            ),
            records=(RecordRefs.of("matches", [name]),),
        )


def _elo_rules(rules: ArenaRules) -> dict[str, float | int | bool]:
    names = ("k_new", "k_established", "games_established", "elo_scale", "round_changes")
    return {name: getattr(rules, name) for name in names}


def _standing(games: int, of_version: int, rules: ArenaRules) -> Part:
    """Return how far the rating is from no longer being provisional.

    Args:
        games: number of rated matches.
        of_version: number of those since the bot's newest version.
        rules: the rules.
    """
    needed = rules.provisional_matches
    missing = needed - of_version
    new = of_version != games
    return Part(
        "standing",
        0.0,
        {"matches": games, **({"matches_of_version": of_version} if new else {})},
        {"provisional_matches": needed},
        f"{of_version} rated {_matches(of_version)}{' since the newest version' if new else ''}: "
        + (f"provisional until {needed}." if missing > 0 else f"established from {needed} on."),
        threshold=needed,
        missing=f"{missing} more rated {_matches(missing)}" if missing > 0 else None,
        step={"more": missing} if missing > 0 else {},
    )


def _matches(count: int) -> str:
    return "match" if count == 1 else "matches"


def _unrated_texts(bot: int, facts: Facts) -> tuple[str, ...]:
    """Return which matches of a bot changed no rating, and why."""
    matches = facts.matches
    own = (matches.bot_a == bot) | (matches.bot_b == bot)
    notes = []
    for kind, text in ((HONEYPOT, "honeypots test judges"), (SKIPPED, "skipped matches count not")):
        count = int(np.count_nonzero(own & (matches.kind == kind)))
        if count:
            notes.append(f"{text}: {count} of this bot's matches moved no rating")
    return tuple(notes)


def explain_judge(
    judge: int,
    *,
    board: Board,
    facts: Facts,
    games: Ints,
    results: Results,
    credibilities: Credibilities,
    rules: ArenaRules,
) -> Explanation:
    """Explain a judge's credibility: the start, each event and the effect of the floor."""
    name = str(facts.judges.ids[judge])
    if facts.judges.kind[judge] == API:
        return unscored_explanation(board, name, API_JUDGE)
    events = _Events(judge, facts, results, credibilities, rules)
    parts = (
        Part(
            "start",
            rules.credibility_start,
            {},
            {"credibility_start": rules.credibility_start},
            f"Every judge starts at {rules.credibility_start}.",
        ),
        *events.parts(),
        pool_part(judge, facts, games, credibilities, rules),
    )
    row = board.row(name)
    context = {key: row[key] for key in row if key not in {"rank", "id", "score"}}
    return scored_explanation(board, row, parts, notes=events.notes(), context=context)


class _Events:
    """Write the parts of one judge's events."""

    def __init__(
        self,
        judge: int,
        facts: Facts,
        results: Results,
        credibilities: Credibilities,
        rules: ArenaRules,
    ) -> None:
        own = slice(credibilities.opens[judge], credibilities.opens[judge + 1])
        self.name = str(facts.judges.ids[judge])
        self.facts, self.results, self.rules = facts, results, rules
        self.judge, self.credibilities = judge, credibilities
        self.kind = credibilities.kind[own].tolist()
        self.match = credibilities.match[own].tolist()
        self.change = credibilities.change[own].tolist()
        self.after = credibilities.after[own].tolist()
        self.before = [rules.credibility_start, *self.after[:-1]]
        votes = slice(facts.votes.opens[judge], facts.votes.opens[judge + 1])
        sides = facts.votes.side[votes].tolist()
        match = facts.votes.match[votes].tolist()
        self.side = dict(zip(match, sides, strict=True))
        verdicts = verdict_of_votes(facts, results, rules)[votes].tolist()
        self.verdict = dict(zip(match, verdicts, strict=True))

    def parts(self) -> Iterator[Part]:
        """Write one part per event, and one for the floor where it held; old events share one."""
        split = max(0, len(self.kind) - DETAILED)
        if split:
            end = self.after[split - 1]
            yield Part(
                f"first {split} events",
                end - self.rules.credibility_start,
                {"events": split, "credibility_after": end},
                self._limits(),
                f"The first {split:,} events moved the credibility to {end}.",
                records=(self._votes(*self._matches_of(range(split))),),
            )
        for index in range(split, len(self.kind)):
            yield self._event(index)
            held = self.after[index] - self.before[index] - self.change[index]
            if held and self.kind[index] != CredibilityEvent.REINSTATED:
                yield self._limit(index, held)

    def _limits(self) -> dict[str, int]:
        """Return the rules that limit credibility."""
        ceiling = self.rules.credibility_ceiling
        limits = {"credibility_floor": self.rules.credibility_floor}
        return limits if ceiling is None else limits | {"credibility_ceiling": ceiling}

    def _matches_of(self, places: range) -> list[str]:
        voted = [
            self.match[index] for index in places if self.kind[index] != CredibilityEvent.REINSTATED
        ]
        return self.facts.matches.names(voted)

    def _votes(self, *matches: str) -> RecordRefs:
        return RecordRefs.of("votes", [f"{match}/{self.name}" for match in matches])

    def _event(self, at: int) -> Part:
        kind, change = CredibilityEvent(self.kind[at]), self.change[at]
        if kind is CredibilityEvent.REINSTATED:
            return self._reinstatement_part(at)
        place = self.match[at]
        match = self.facts.matches.names([place])[0]
        verdict = _SIDES[self.results.panel[place]]
        vote = _SIDES[self.side[place]]
        for_a, for_b, for_tie = self.facts.matches.counts[place].tolist()
        inputs = {"vote": vote, "votes_a": for_a, "votes_b": for_b, "votes_tie": for_tie}
        if kind is CredibilityEvent.AUDITED:
            audit = _SIDES[self.facts.matches.audit[place]]
            inputs |= {"consensus": verdict, "audit": audit}
            rule, label = "credibility_audit", "audit of match"
            text = f"The audit said {audit}, the consensus {verdict}; so had this vote."
        elif kind is CredibilityEvent.FOOLED:
            rule, label = "credibility_honeypot", "honeypot"
            text = f"Voted for the robotic side {vote} of a honeypot."
        else:
            label = "match"
            agreed = kind is CredibilityEvent.AGREED
            rule = "credibility_agree" if agreed else "credibility_disagree"
            text = self._comparison(place, inputs, agreed=agreed)
        return Part(
            f"{label} {match}",
            change,
            {**inputs, "credibility_before": self.before[at]},
            {rule: getattr(self.rules, rule)},
            text,
            records=(self._votes(match), RecordRefs.of("matches", [match])),
        )

    def _comparison(self, place: int, inputs: dict[str, Any], *, agreed: bool) -> str:
        """State what a vote is compared with; add that to the inputs."""
        others = self.rules.credibility_consensus == "others"
        counts = self.facts.matches.counts[place].tolist()
        counts[self.side[place]] -= others
        inputs["consensus"] = verdict = _SIDES[self.verdict[place]]
        names = ("votes_a", "votes_b", "votes_tie")
        inputs |= dict(zip(names, counts, strict=True))
        for_a, for_b, for_tie = counts
        tally = f"{for_a} : {for_b}" + (f", {for_tie} for a tie" if for_tie else "")
        whose = " of the other judges" if others else ""
        stance = "with" if agreed else "against"
        return f"Voted {inputs['vote']} {stance} the consensus{whose} {verdict} ({tally})."

    def _reinstatement_part(self, at: int) -> Part:
        reason = self.facts.reinstatements.reasons[self.match[at]]
        level = self.rules.credibility_active
        return Part(
            "reinstatement",
            self.after[at] - self.before[at],
            {"credibility_before": self.before[at], "reason": reason},
            {"credibility_active": level},
            f"An operator let the judge back in with at least {level}: {reason}",
        )

    def _limit(self, at: int, held: int) -> Part:
        """Return the part of the floor, or of the ceiling, where it held."""
        name = "floor" if held > 0 else "ceiling"
        limit: int = getattr(self.rules, f"credibility_{name}")
        would_be = self.before[at] + self.change[at]
        verb = "fall below" if held > 0 else "rise above"
        return Part(
            name,
            held,
            {f"without_{name}": would_be},
            {f"credibility_{name}": limit},
            f"Credibility does not {verb} {limit}: {would_be} becomes {self.after[at]}.",
            threshold=limit,
        )

    def notes(self) -> tuple[str, ...]:
        """Return since when the judge is out of the pool, or None."""
        level = self.rules.credibility_active
        fell = self.credibilities.deactivation_of(self.judge, level=level)
        if fell is None:
            return ()
        match = self.facts.matches.names([int(self.credibilities.match[fell])])[0]
        return (f"fell below {level} in match {match}: out of the pool until reinstated",)
