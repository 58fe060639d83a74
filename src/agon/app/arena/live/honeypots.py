"""Write the robotic side of honeypots: a template, or the real answer of a known weak bot."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from agon.app.arena.live.matches import SIDES, matches_of
from agon.app.arena.live.memory import Memory
from agon.disciplines.arena.plagiarism import text_similarity
from agon.disciplines.arena.rounds.honeypots import (
    RoboticAnswer,
    draw_robotic_answer,
    draw_weak_answer,
)
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound
from agon.entities.contests import Contest
from agon.store.session import Session

PAST_ROUNDS: Final = 50
"""Number of settled rounds whose answers may stand in a honeypot."""


@dataclass(frozen=True, kw_only=True)
class PastAnswer:
    """An answer to a prompt in a settled match.

    Attributes:
        name: ``r3-1/a``: the match and the side.
        bot: who answered.
        text: the answer.
        judges: who saw it.
    """

    name: str
    bot: str
    text: str
    judges: frozenset[str]


class HoneypotTexts:
    """Writes the robotic sides of a round's honeypots; no judge sees a text a second time."""

    def __init__(self, session: Session, contest: Contest, of: ArenaRound) -> None:
        self._session = session
        self._contest = contest
        self._memory = Memory(session, contest, of)
        inputs = of.body["inputs"]
        self._entrants = {each["id"]: each for each in inputs.get("entrants", ())}
        self._owner_of_judge = {each["id"]: each["owner_id"] for each in inputs["judges"]}

    def add(
        self,
        match: dict[str, Any],
        drawn: Mapping[str, Any],
        *,
        seed: str,
        lengths: Sequence[int],
        rules: ArenaRules,
    ) -> None:
        """Replace the answer on the robotic side of a honeypot.

        ``honeypot_text`` has what the choice of the text follows from, with the seed: replay
        repeats it.
        """
        seen = self._memory.seen(match["panel"])
        side = "b" if drawn["honeypot_real"] == "a" else "a"
        weak = {each.name: each for each in self._weak_answers(match, drawn, seen, rules)}
        drawn_from = {"prompt": match["text"], "weak": sorted(weak)}
        name = draw_weak_answer(seed, drawn["match"], sorted(weak), share=rules.honeypot_weak_share)
        if name is not None:
            match["honeypot_answer"] = {"answer": name, "bot": weak[name].bot}
            robotic = RoboticAnswer((name,), weak[name].text)
        else:
            robotic, unusable = _template(
                match, drawn, seen, seed=seed, lengths=lengths, rules=rules
            )
            drawn_from["seen"] = unusable
        match["honeypot_text"] = drawn_from
        match["answers"][side] = {"text": robotic.text, "templates": list(robotic.templates)}
        self._memory.show(match["panel"], robotic.templates)

    def _weak_answers(
        self,
        match: Mapping[str, Any],
        drawn: Mapping[str, Any],
        seen: Sequence[str],
        rules: ArenaRules,
    ) -> Iterator[PastAnswer]:
        """Yield the answers of much weaker bots to the prompt, by none of an owner concerned."""
        if not rules.honeypot_weak_share:
            return
        real = drawn["honeypot_real"]
        owners = {
            self._owner(drawn["bot_a"]),
            self._owner(drawn["bot_b"]),
            *(self._owner_of_judge.get(judge) for judge in match["panel"]),
        } - {None}
        highest = self._entrants[drawn[f"bot_{real}"]]["rating"] - rules.honeypot_weak_distance
        for past in self._past_answers.get(drawn["prompt"], ()):
            entrant = self._entrants.get(past.bot)
            if (
                entrant is not None
                and entrant["rating"] <= highest
                and past.bot not in {drawn["bot_a"], drawn["bot_b"]}
                and entrant["owner_id"] not in owners
                and past.name not in seen
                and not past.judges & set(match["panel"])
                and not text_similarity(
                    past.text, match["answers"][real]["text"], threshold=rules.plagiarism_jaccard
                ).copied
            ):
                yield past

    def _owner(self, bot: str | None) -> str | None:
        owner: str | None = self._entrants.get(bot, {}).get("owner_id")
        return owner

    @cached_property
    def _past_answers(self) -> Mapping[str, Sequence[PastAnswer]]:
        """The answers of rated matches of the last rounds, by prompt."""
        answers: dict[str, list[PastAnswer]] = {}
        for of in self._session.arena.rounds(self._contest.no, limit=PAST_ROUNDS):
            if of.phase != "settled":
                continue
            for drawn, match in matches_of(of):
                if match["outcome"] is not None or drawn["honeypot_real"] is not None:
                    continue
                judges = frozenset(vote["judge_id"] for vote in match["votes"])
                answers.setdefault(drawn["prompt"], []).extend(
                    PastAnswer(
                        name=f"{drawn['match']}/{side}",
                        bot=drawn[f"bot_{side}"],
                        text=match["answers"][side]["text"],
                        judges=judges,
                    )
                    for side in SIDES
                )
        return answers


def _template(
    match: Mapping[str, Any],
    drawn: Mapping[str, Any],
    seen: Sequence[str],
    *,
    seed: str,
    lengths: Sequence[int],
    rules: ArenaRules,
) -> tuple[RoboticAnswer, Sequence[str]]:
    """Return an answer of a template that is none of those seen, and those.

    Where the panel saw all, the ones seen longest ago may be used.
    """
    while True:
        robotic = draw_robotic_answer(
            seed,
            drawn["match"],
            prompt=match["text"],
            seen=seen,
            lengths=lengths,
            max_chars=rules.max_answer_chars,
        )
        if robotic is not None:
            return robotic, sorted(set(seen))
        if not seen:
            raise RuntimeError("there is no template of a robotic answer")
        seen = seen[len(seen) // 4 + 1 :]
