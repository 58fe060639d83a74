"""Repeat which text stood on the robotic side of a live arena's honeypots."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agon.app.arena.settled_rounds import SettledRound
from agon.disciplines.arena.rounds.bank import Bank, answer_sha256, draw_bank_answer
from agon.disciplines.arena.rounds.honeypot_memory import (
    HoneypotMemory,
    draw_unseen_answer,
    remember,
)
from agon.disciplines.arena.rounds.honeypots import RoboticAnswer
from agon.disciplines.arena.rounds.round import RoundInputs
from agon.disciplines.arena.rounds.weak_answers import draw_weak_bot, weak_name


class HoneypotHistory:
    """What judges saw in the rounds that were read.

    Attributes:
        recent: what each judge saw in its latest votes.
        unknown: judges of whom that is not known exactly, with the templates that they may have
            seen besides: ledgers of earlier versions do not state which reserves were asked.
    """

    def __init__(self) -> None:
        self.recent: dict[str, Sequence[str]] = {}
        self.unknown: dict[str, set[str]] = {}

    def add(
        self,
        settled: SettledRound,
        templates: Mapping[str, Sequence[str]],
        reserves: Mapping[str, Any],
    ) -> None:
        """Note a round.

        Args:
            settled: the round.
            templates: those of each honeypot that was shown, by match.
            reserves: the reserves that were asked, by match.
        """
        if settled.outcome["kind"] == "qualification":
            return
        matches = []
        for match in settled.outcome["matches"]:
            name, drawn = match["match"], settled.drawn.matches[match["match"]]
            voters, shown = settled.votes.get(name, []), templates.get(name, ())
            audience = [*drawn["judges"], *reserves[name]] if shown else []
            matches.append(([*voters, *audience], shown))
        self.recent |= remember(self.recent, matches)


class HoneypotCheck:
    """Repeats the honeypots of one round, in the order of its matches."""

    def __init__(
        self, settled: SettledRound, history: HoneypotHistory, memory: HoneypotMemory, bank: Bank
    ) -> None:
        self._of = settled
        self._history = history
        self._memory = memory
        self._bank = bank
        self.templates: dict[str, Sequence[str]] = {}
        """Templates of the honeypots that were read, by match."""

    def differences(self, drawn: Mapping[str, Any], match: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is wrong with the text of a honeypot, and note who knows it."""
        name, stated = drawn["match"], match.get("honeypot_text")
        if stated is None:
            yield f"match {name}: it is not stated what the text of its honeypot was drawn from"
            return
        side = "b" if drawn["honeypot_real"] == "a" else "a"
        text = self._of.texts.get(name, {}).get(side)
        weak = stated.get("weak") or {}
        yield from self._weak_differences(drawn, weak)
        if weak.get("use") == "shown":
            self._show(drawn, (weak_name(name),), author=weak["bot"])
            return
        expected = draw_bank_answer(
            self._of.drawn.seed,
            name,
            self._bank.open_answers(at=self._of.drawn.committed_at),
            prompt=drawn["prompt"],
        )
        bank = stated.get("bank") or {}
        if bank.get("sha256") != expected:
            yield (
                f"match {name}: its honeypot shows the answer {bank.get('sha256')} of the "
                f"contest, drawn was {expected}"
            )
        if bank:
            self._bank.use([bank["sha256"]])
            if text is not None and answer_sha256(text, salt=bank["salt"]) != bank["sha256"]:
                yield f"match {name}: the text of its honeypot does not have the hash in the ledger"
            return
        yield from self._seen_differences(drawn, stated)
        shown, _ = self._draw(name, stated, list(stated["seen"]))
        if text not in {None, shown.text}:
            yield f"match {name}: the text of its honeypot is not the drawn one"
        self._show(drawn, shown.templates)

    def _show(
        self, drawn: Mapping[str, Any], templates: Sequence[str], *, author: str | None = None
    ) -> None:
        """Note that a panel saw the templates of a honeypot, and that its author knows the text."""
        self.templates[drawn["match"]] = templates
        self._memory.show(drawn["judges"], templates)
        if author is not None:
            self._memory.show([author], templates)

    def _seen_differences(
        self, drawn: Mapping[str, Any], stated: Mapping[str, Any]
    ) -> Iterator[str]:
        """Yield whether other templates were left out than those that the panel had seen."""
        name, left_out = drawn["match"], list(stated["seen"])
        seen = self._memory.seen(drawn["judges"])
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

    def _weak_differences(self, drawn: Mapping[str, Any], weak: Mapping[str, Any]) -> Iterator[str]:
        """Yield whether another weak bot was asked besides than the drawn one.

        That it did not answer, or copied, is stated as a fault is; the text was never recorded.
        """
        name, draw = drawn["match"], self._of.drawn
        inputs = RoundInputs.from_json(draw.inputs)
        expected = draw_weak_bot(inputs, drawn, seed=draw.seed, rules=draw.rules)
        if weak.get("bot") != expected:
            yield f"match {name}: {weak.get('bot')} was asked besides, drawn was {expected}"
