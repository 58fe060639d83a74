"""Check who judged in a live arena, and the texts of its honeypots, which follow from that.

Which reserve replaces a judge, and which text a honeypot shows, depends on what judges saw in all
rounds before; so the rounds of a ledger are repeated in order.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agon.app.arena.honeypot_audit import HoneypotCheck, HoneypotHistory
from agon.app.arena.settled_rounds import DrawnRound, SettledRound
from agon.disciplines.arena.rounds.bank import Bank
from agon.disciplines.arena.rounds.honeypot_memory import HoneypotMemory

_JUDGED: Final = ("rated", "honeypot", "qualification")
"""Outcomes of matches that were judged."""


class PanelCheck:
    """The history of judges, and the round whose records are being read.

    Attributes:
        bank: the contest's own texts for honeypots.
    """

    def __init__(self) -> None:
        self.bank = Bank()
        self._history = HoneypotHistory()
        self._states_asked = False
        self._of: SettledRound | None = None

    def settle(self, drawn: DrawnRound, outcome: Mapping[str, Any], *, at: int) -> None:
        """Begin to read the records of a settled round; the one before is finished."""
        self._of = SettledRound(drawn=drawn, outcome=outcome, at=at)
        for match in outcome["matches"] if outcome["kind"] == "qualification" else ():
            self._of.votes[match["match"]] = [vote["judge_id"] for vote in match["votes"]]

    def add_record(self, table: str, row: Mapping[str, Any]) -> None:
        """Note the first record of a match, or the record of a vote, of the settled round."""
        name = str(row["id" if table == "matches" else "match_id"])
        if self._of is None or name not in self._of.drawn.matches:
            return
        if table == "matches":
            texts = {side: row.get(f"response_{side}") for side in ("a", "b")}
            self._of.texts.setdefault(name, texts)
        else:
            self._of.votes.setdefault(name, []).append(str(row["judge_id"]))

    def finish(self) -> Iterator[tuple[int, str]]:
        """Yield position and text of all that is wrong with the round, whose records were read."""
        settled, self._of = self._of, None
        if settled is None:
            return
        try:
            for difference in _differences(
                settled, self._history, self.bank, must_state=self._states_asked
            ):
                yield settled.at, difference
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            name = settled.drawn.inputs["name"]
            yield settled.at, f"round {name}: its matches cannot be repeated ({error!r})"
        self._states_asked |= "asked" in settled.outcome


def _differences(
    settled: SettledRound, history: HoneypotHistory, bank: Bank, *, must_state: bool
) -> Iterator[str]:
    """Yield what is wrong with a round, and add it to the history.

    Honeypots were written in the order of the matches, and then judges were replaced.
    """
    memory = HoneypotMemory(history.recent)
    honeypots = HoneypotCheck(settled, history, memory, bank)
    matches = [
        (settled.drawn.matches[match["match"]], match) for match in settled.outcome["matches"]
    ]
    for drawn, match in matches:
        # A honeypot that became void afterwards was shown, too.
        if match["outcome"] == "honeypot" or "honeypot_text" in match:
            yield from honeypots.differences(drawn, match)
    substitutes: dict[str, list[str]] = {name: [] for name in settled.drawn.matches}
    for name, judge in settled.outcome.get("asked", ()):
        templates, reserves = (
            honeypots.templates.get(name, ()),
            settled.drawn.matches[name]["reserves"],
        )
        waiting = [each for each in reserves if each not in substitutes[name]]
        expected = memory.next_reserve(waiting, templates) if waiting else None
        if judge != expected and not (templates and history.unknown.keys() & set(waiting)):
            yield f"match {name}: {judge} was asked as a reserve, the next was {expected}"
        substitutes[name].append(judge)
        memory.show([judge], templates)
    must_state |= "asked" in settled.outcome
    for drawn, match in matches:
        name = drawn["match"]
        yield from _panel_differences(
            drawn,
            match,
            substitutes=substitutes[name],
            voted=settled.votes.get(name, []),
            must_state=must_state,
        )
    _note_unknown(settled, history, honeypots.templates, substitutes)
    history.add(settled, honeypots.templates, substitutes)


def _panel_differences(
    drawn: Mapping[str, Any],
    match: Mapping[str, Any],
    *,
    substitutes: Sequence[str],
    voted: Sequence[str],
    must_state: bool,
) -> Iterator[str]:
    """Yield whether others voted than the drawn judges and the reserves that replaced them."""
    name, replaced = drawn["match"], [each["judge"] for each in match["replaced"]]
    if replaced and drawn["reserves"] and not substitutes:
        if must_state:
            yield f"match {name}: it is not stated which reserves were asked"
    elif len(replaced) > len(substitutes):
        if set(substitutes) != set(drawn["reserves"]):
            yield (
                f"match {name}: {len(replaced)} judges failed, "
                f"{len(substitutes)} reserves were asked"
            )
    elif not drawn["api"] and match["outcome"] in _JUDGED:
        panel = sorted({*drawn["judges"], *substitutes}.difference(replaced))
        if sorted(voted) != panel:
            yield f"match {name}: {sorted(voted)} voted, its panel was {panel}"


def _note_unknown(
    settled: SettledRound,
    history: HoneypotHistory,
    templates: Mapping[str, Sequence[str]],
    substitutes: Mapping[str, Sequence[str]],
) -> None:
    """Note the judges of whom a ledger of an earlier version does not show what they saw."""
    for match in settled.outcome["matches"]:
        name = match["match"]
        if match["replaced"] and not substitutes[name]:
            for judge in settled.drawn.matches[name]["reserves"] if name in templates else ():
                history.unknown.setdefault(judge, set()).update(templates[name])
    # Earlier versions named attempts to qualify as rounds, and remembered votes on them, too.
    if settled.outcome["kind"] == "qualification" and settled.drawn.inputs["name"].startswith("r"):
        for judge in (each for voted in settled.votes.values() for each in voted):
            history.unknown.setdefault(judge, set())
