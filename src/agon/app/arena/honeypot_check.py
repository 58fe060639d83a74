"""Repeat which text stood on the robotic side of a live arena's honeypots."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agon.app.arena.settled_rounds import SettledRound
from agon.disciplines.arena.rounds.honeypot_memory import (
    HoneypotMemory,
    draw_unseen_answer,
    remember,
)
from agon.disciplines.arena.rounds.honeypots import RoboticAnswer, draw_weak_answer
from agon.disciplines.arena.rounds.weak_answers import PAST_ROUNDS, PastAnswer, WeakAnswers


class HoneypotHistory:
    """What judges saw in the rounds that were read, and the answers that honeypots may show.

    Attributes:
        recent: what each judge saw in its latest votes.
        unknown: judges of whom that is not known exactly, with the templates that they may have
            seen besides: ledgers of earlier versions do not state which reserves were asked.
    """

    def __init__(self) -> None:
        self.recent: dict[str, Sequence[str]] = {}
        self.unknown: dict[str, set[str]] = {}
        self._past = deque[dict[str, list[PastAnswer]]](maxlen=PAST_ROUNDS)

    def answers(self, prompt: str) -> list[PastAnswer]:
        """Return the answers to a prompt in rated matches of the last rounds."""
        return [each for answers in self._past for each in answers.get(prompt, ())]

    def add(
        self, of: SettledRound, templates: Mapping[str, Sequence[str]], reserves: Mapping[str, Any]
    ) -> None:
        """Note a round.

        Args:
            of: the round.
            templates: those of each honeypot that was shown, by match.
            reserves: the reserves that were asked, by match.
        """
        if of.outcome["kind"] == "qualification":
            return
        matches, answers = [], dict[str, list[PastAnswer]]()
        for match in of.outcome["matches"]:
            name, drawn = match["match"], of.drawn.matches[match["match"]]
            voters, shown = of.votes.get(name, []), templates.get(name, ())
            audience = [*drawn["judges"], *reserves[name]] if shown else []
            matches.append(([*voters, *audience], shown))
            texts = of.texts.get(name, {}) if match["outcome"] == "rated" else {}
            answers.setdefault(drawn["prompt"], []).extend(
                PastAnswer(
                    name=f"{name}/{side}",
                    bot=drawn[f"bot_{side}"],
                    text=text,
                    judges=frozenset(voters),
                )
                for side, text in texts.items()
                if text is not None
            )
        self.recent |= remember(self.recent, matches)
        self._past.append(answers)


class HoneypotCheck:
    """Repeats the honeypots of one round, in the order of its matches."""

    def __init__(self, of: SettledRound, history: HoneypotHistory, memory: HoneypotMemory) -> None:
        self._of = of
        self._history = history
        self._memory = memory
        self._weak = WeakAnswers(of.drawn.inputs, rules=of.drawn.rules)
        self.templates: dict[str, Sequence[str]] = {}
        """Templates of the honeypots that were read, by match."""

    def differences(self, drawn: Mapping[str, Any], match: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is wrong with the text of a honeypot, and note that its panel saw it."""
        name, panel, stated = drawn["match"], drawn["judges"], match.get("honeypot_text")
        if stated is None:
            yield f"match {name}: it is not stated what the text of its honeypot was drawn from"
            return
        seen = self._memory.seen(panel)
        share = self._of.drawn.rules.honeypot_weak_share
        yield from self._weak_differences(drawn, stated, seen)
        expected = draw_weak_answer(self._of.drawn.seed, name, stated["weak"], share=share)
        recorded = match.get("honeypot_answer", {}).get("answer")
        if recorded != expected:
            yield f"match {name}: its honeypot shows the answer {recorded}, drawn was {expected}"
            return
        if recorded is None:
            yield from self._seen_differences(drawn, stated, seen)
            shown, _ = self._draw(name, stated, list(stated["seen"]))
        else:
            texts = {each.name: each.text for each in self._history.answers(drawn["prompt"])}
            shown = RoboticAnswer((recorded,), texts.get(recorded, ""))
        side = "b" if drawn["honeypot_real"] == "a" else "a"
        text = self._of.texts.get(name, {}).get(side)
        if text not in {None, shown.text}:
            yield f"match {name}: the text of its honeypot is not the drawn one"
        self.templates[name] = shown.templates
        self._memory.show(panel, shown.templates)

    def _seen_differences(
        self, drawn: Mapping[str, Any], stated: Mapping[str, Any], seen: Sequence[str]
    ) -> Iterator[str]:
        """Yield whether other templates were left out than those that the panel had seen."""
        name, left_out = drawn["match"], list(stated["seen"])
        unknown = [
            self._history.unknown[each] for each in drawn["judges"] if each in self._history.unknown
        ]
        if unknown:
            wrong = sorted(set(left_out).difference(seen, *unknown))
            if wrong:
                yield f"match {name}: its judges cannot have seen {wrong} in a honeypot before"
            return
        _, expected = self._draw(name, stated, seen)
        if left_out != expected:
            yield f"match {name}: its judges had seen {expected}, stated is {left_out}"

    def _draw(
        self, name: str, stated: Mapping[str, Any], seen: Sequence[str]
    ) -> tuple[RoboticAnswer, list[str]]:
        return draw_unseen_answer(
            self._of.drawn.seed,
            name,
            prompt=stated["prompt"],
            seen=seen,
            lengths=self._of.outcome.get("honeypot_lengths", ()),
            max_chars=self._of.drawn.rules.max_answer_chars,
        )

    def _weak_differences(
        self, drawn: Mapping[str, Any], stated: Mapping[str, Any], seen: Sequence[str]
    ) -> Iterator[str]:
        """Yield whether other answers of weak bots could have been drawn than stated."""
        name, usable = drawn["match"], list[str]()
        if self._of.drawn.rules.honeypot_weak_share:
            real_text = self._of.texts.get(name, {}).get(drawn["honeypot_real"])
            if real_text is None or self._history.unknown.keys() & set(drawn["judges"]):
                return  # a void match has no recorded answers
            answers = self._weak.usable(
                self._history.answers(drawn["prompt"]),
                drawn,
                panel=drawn["judges"],
                seen=seen,
                real_text=real_text,
            )
            usable = sorted(each.name for each in answers)
        if list(stated["weak"]) != usable:
            yield (
                f"match {name}: its honeypot could have shown the answers {usable}, stated is "
                f"{list(stated['weak'])}"
            )
