"""Write the robotic side of honeypots: a template, or the real answer of a known weak bot."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from agon.app.arena.live.matches import SIDES, matches_of
from agon.app.arena.live.memory import memory_of
from agon.disciplines.arena.rounds.honeypot_memory import draw_unseen_answer
from agon.disciplines.arena.rounds.honeypots import RoboticAnswer, draw_weak_answer
from agon.disciplines.arena.rounds.weak_answers import PAST_ROUNDS, PastAnswer, WeakAnswers
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound
from agon.entities.contests import Contest
from agon.store.session import Session


class HoneypotTexts:
    """Writes the robotic sides of a round's honeypots; no judge sees a text a second time."""

    def __init__(self, session: Session, contest: Contest, of: ArenaRound) -> None:
        self._session = session
        self._contest = contest
        self._memory = memory_of(session, contest, of)
        self._inputs = of.body["inputs"]

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
        panel, real = match["panel"], drawn["honeypot_real"]
        seen = self._memory.seen(panel)
        weak: dict[str, PastAnswer] = {}
        if rules.honeypot_weak_share:
            usable = WeakAnswers(self._inputs, rules=rules).usable(
                self._past_answers.get(drawn["prompt"], ()),
                drawn,
                panel=panel,
                seen=seen,
                real_text=match["answers"][real]["text"],
            )
            weak = {each.name: each for each in usable}
        drawn_from = {"prompt": match["text"], "weak": sorted(weak)}
        name = draw_weak_answer(seed, drawn["match"], sorted(weak), share=rules.honeypot_weak_share)
        if name is not None:
            match["honeypot_answer"] = {"answer": name, "bot": weak[name].bot}
            robotic = RoboticAnswer((name,), weak[name].text)
        else:
            robotic, drawn_from["seen"] = draw_unseen_answer(
                seed,
                drawn["match"],
                prompt=match["text"],
                seen=seen,
                lengths=lengths,
                max_chars=rules.max_answer_chars,
            )
        match["honeypot_text"] = drawn_from
        side = "b" if real == "a" else "a"
        match["answers"][side] = {"text": robotic.text, "templates": list(robotic.templates)}
        self._memory.show(panel, robotic.templates)

    @cached_property
    def _past_answers(self) -> Mapping[str, Sequence[PastAnswer]]:
        """The answers of rated matches of the last rounds, by prompt."""
        answers: dict[str, list[PastAnswer]] = {}
        rounds = self._session.arena.rounds(self._contest.no, limit=PAST_ROUNDS + 1)
        for of in rounds:  # the one that is played is among them
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
