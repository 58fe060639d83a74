"""Write the robotic side of honeypots: a weak bot's answer, a text of the contest, a template."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from agon.app.arena.live.honeypots.bank import unused_answers
from agon.app.arena.live.honeypots.memory import memory_of
from agon.app.arena.live.matches import matches_of
from agon.disciplines.arena.checks.plagiarism import are_copies
from agon.disciplines.arena.rounds.bank import draw_bank_answer
from agon.disciplines.arena.rounds.honeypot_memory import draw_unseen_answer
from agon.disciplines.arena.rounds.honeypots import RoboticAnswer
from agon.disciplines.arena.rounds.weak_answers import weak_name
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, HoneypotAnswer
from agon.entities.contests import Contest
from agon.store.session import Session

PAST_ROUNDS: Final = 50
"""Number of the latest rounds in which a weak bot's answer is looked up before it is shown."""


class HoneypotTexts:
    """Writes the robotic sides of a round's honeypots; no judge sees a text a second time."""

    def __init__(self, session: Session, contest: Contest, arena_round: ArenaRound) -> None:
        self._session = session
        self._contest = contest
        self._memory = memory_of(session, contest, arena_round)
        self._committed_seq: int = arena_round.body["committed_seq"]

    def add(
        self,
        match: dict[str, Any],
        drawn: Mapping[str, Any],
        *,
        weak_answer: str | None,
        others: Iterable[str],
        seed: str,
        lengths: Sequence[int],
        rules: ArenaRules,
    ) -> None:
        """Replace the answer on the robotic side of a honeypot.

        ``honeypot_text`` has what the choice of the text follows from, with the seed: replay
        repeats it.

        Args:
            match: the match, which is changed.
            drawn: the match as it was drawn.
            weak_answer: what the weak bot answered that was asked besides; None: nothing.
            others: the other answers of this round to the same prompt.
            seed: the seed of the draws.
            lengths: lengths of ordinary answers.
            rules: the rules of the round.
        """
        real = drawn["honeypot_real"]
        stated: dict[str, Any] = {"prompt": match["text"]}
        robotic = None
        if "weak" in match:
            known = [match["answers"][real]["text"], *others]
            use = self._use_of(weak_answer, known, drawn, rules=rules)
            stated["weak"] = {"bot": match["weak"]["bot"], "use": use}
            if use == "shown" and weak_answer is not None:
                robotic = RoboticAnswer((weak_name(drawn["match"]),), weak_answer)
                self._memory.show([match["weak"]["bot"]], robotic.templates)  # its author
        if robotic is None:
            robotic = self._bank_answer(stated, drawn, seed=seed)
        if robotic is None:
            robotic, stated["seen"] = draw_unseen_answer(
                seed,
                drawn["match"],
                prompt=match["text"],
                seen=self._memory.seen(match["panel"]),
                lengths=lengths,
                max_chars=rules.max_answer_chars,
            )
        match["honeypot_text"] = stated
        side = "b" if real == "a" else "a"
        match["answers"][side] = {"text": robotic.text, "templates": list(robotic.templates)}
        self._memory.show(match["panel"], robotic.templates)

    def _bank_answer(
        self, stated: dict[str, Any], drawn: Mapping[str, Any], *, seed: str
    ) -> RoboticAnswer | None:
        """Draw and use up a text of the contest's own, and state which; None: there is none."""
        prompts = {name: answer.prompt_id for name, answer in self._bank.items()}
        name = draw_bank_answer(seed, drawn["match"], prompts, prompt=drawn["prompt"])
        if name is None:
            return None
        answer = self._bank.pop(name)
        used = replace(answer, match=drawn["match"])
        self._session.arena.save_honeypot_answers(self._contest.no, [used])
        stated["bank"] = {"sha256": name, "salt": answer.salt}
        return RoboticAnswer((), answer.text)

    @cached_property
    def _bank(self) -> dict[str, HoneypotAnswer]:
        return unused_answers(self._session, self._contest, committed_seq=self._committed_seq)

    def _use_of(
        self,
        answer: str | None,
        known: Sequence[str],
        drawn: Mapping[str, Any],
        *,
        rules: ArenaRules,
    ) -> str:
        """Return whether a weak bot's answer is shown: it may be none, or a copy of another."""
        if answer is None:
            return "fault"
        copied = (
            are_copies(answer, text, threshold=rules.plagiarism_jaccard)
            for text in (*known, *self._published.get(drawn["prompt"], ()))
        )
        return "copy" if any(copied) else "shown"

    @cached_property
    def _published(self) -> Mapping[str, Sequence[str]]:
        """The answers of the last settled rounds, by prompt."""
        texts: dict[str, list[str]] = {}
        for past_round in self._session.arena.rounds(self._contest.no, limit=PAST_ROUNDS):
            for drawn, match in matches_of(past_round) if past_round.phase == "settled" else ():
                answers = (answer["text"] for answer in match["answers"].values())
                texts.setdefault(drawn["prompt"], []).extend(answers)
        return texts
