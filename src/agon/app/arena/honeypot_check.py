"""Repeat which text stood on the robotic side of a live arena's honeypots."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agon.disciplines.arena.rounds.honeypots import draw_robotic_answer, draw_weak_answer
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.fingerprints import sha256


@dataclass(frozen=True)
class _Round:
    """A draw that was repeated: its honeypots by their matches, the seed, and the rules."""

    honeypots: Mapping[str, Mapping[str, Any]]
    seed: str
    rules: ArenaRules


class HoneypotCheck:
    """The draws of rounds that were read, the texts that follow from them, and past answers."""

    def __init__(self) -> None:
        self._rounds: dict[str, _Round] = {}
        self._shown: dict[str, set[str]] = {}
        self._answers: dict[str, str] = {}
        self._expected: dict[str, tuple[str, str]] = {}

    def add_round(
        self, name: str, matches: Iterable[Mapping[str, Any]], *, seed: str, rules: ArenaRules
    ) -> None:
        """Note a draw that was repeated."""
        honeypots = {
            match["match"]: match for match in matches if match["honeypot_real"] is not None
        }
        self._rounds[name] = _Round(honeypots, seed, rules)

    def round_differences(self, body: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is wrong with how the honeypots of a settled round were written.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the entry cannot be read.
        """
        of = self._rounds.get(body["round"])
        if of is None:
            return
        outcome = body["outcome"]
        for match in outcome["matches"]:
            # A honeypot that became void afterwards was shown, too.
            is_honeypot = match["outcome"] == "honeypot" or "honeypot_text" in match
            if is_honeypot and match["match"] in of.honeypots:
                lengths = outcome.get("honeypot_lengths", ())
                yield from self._honeypot_differences(of, match, lengths=lengths)

    def match_differences(self, row: Mapping[str, Any]) -> Iterator[str]:
        """Yield whether the recorded text of a honeypot is not the one that was drawn."""
        name = str(row["id"])
        for side in ("a", "b"):
            text = row.get(f"response_{side}")
            if text is not None and row["kind"] == "rated":
                self._answers[f"{name}/{side}"] = sha256(text)
        side, expected = self._expected.get(name, ("", ""))
        if expected and row["kind"] == "honeypot" and sha256(row[f"response_{side}"]) != expected:
            yield f"match {name}: the text of its honeypot is not the drawn one"

    def _honeypot_differences(
        self, of: _Round, match: Mapping[str, Any], *, lengths: Sequence[int]
    ) -> Iterator[str]:
        name, stated = match["match"], match.get("honeypot_text")
        if stated is None:
            yield f"match {name}: it is not stated what the text of its honeypot was drawn from"
            return
        drawn = of.honeypots[name]
        side = "b" if drawn["honeypot_real"] == "a" else "a"
        # Which reserves were asked is not stated, only who was replaced by one.
        audience = [*drawn["judges"], *(drawn["reserves"] if match["replaced"] else ())]
        answer = draw_weak_answer(of.seed, name, stated["weak"], share=of.rules.honeypot_weak_share)
        recorded = match.get("honeypot_answer", {}).get("answer")
        if recorded != answer:
            yield f"match {name}: its honeypot shows the answer {recorded}, drawn was {answer}"
        elif answer is not None:
            self._expect(name, side, self._answers.get(answer, "none"))
            self._show(audience, [answer])
        else:
            shown = [self._shown.get(judge, set()) for judge in drawn["judges"]]
            unknown = sorted(set(stated["seen"]).difference(*shown))
            if unknown:
                yield f"match {name}: its judges cannot have seen {unknown} in a honeypot before"
            robotic = draw_robotic_answer(
                of.seed,
                name,
                prompt=stated["prompt"],
                seen=stated["seen"],
                lengths=lengths,
                max_chars=of.rules.max_answer_chars,
            )
            if robotic is None:
                yield f"match {name}: its judges have seen all templates of honeypots"
            else:
                self._expect(name, side, sha256(robotic.text))
                self._show(audience, robotic.templates)

    def _expect(self, match: str, side: str, text_sha256: str) -> None:
        self._expected[match] = (side, text_sha256)

    def _show(self, judges: Iterable[str], templates: Iterable[str]) -> None:
        """Note that judges may have seen templates."""
        for judge in judges:
            self._shown.setdefault(judge, set()).update(templates)
