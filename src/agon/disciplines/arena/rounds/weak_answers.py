"""Find real answers of known weak bots that may stand on the robotic side of a honeypot."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from agon.disciplines.arena.plagiarism import text_similarity
from agon.disciplines.arena.rules import ArenaRules

PAST_ROUNDS: Final = 49
"""Number of the latest settled rounds whose answers may stand in a honeypot."""


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


class WeakAnswers:
    """Finds the answers of weak bots for the honeypots of one round.

    Args:
        inputs: the recorded inputs of the round's draw.
        rules: the distance of a weak bot, and which texts are copies.
    """

    def __init__(self, inputs: Mapping[str, Any], *, rules: ArenaRules) -> None:
        self._inputs = inputs
        self._rules = rules

    def usable(
        self,
        past: Iterable[PastAnswer],
        drawn: Mapping[str, Any],
        *,
        panel: Collection[str],
        seen: Collection[str],
        real_text: str,
    ) -> Iterator[PastAnswer]:
        """Yield the answers by much weaker bots, by none of an owner concerned.

        Args:
            past: earlier answers to the prompt of the match.
            drawn: the match as it was drawn.
            panel: its judges.
            seen: the honeypots that any of them saw.
            real_text: the real answer, of which it must be no copy.

        Source: spec arena live, A round, step 5.
        """
        both = {drawn["bot_a"], drawn["bot_b"]}
        owners = {
            *(self._owner(bot) for bot in both),
            *(self._owner_of_judge.get(judge) for judge in panel),
        } - {None}
        real = self._entrants[drawn[f"bot_{drawn['honeypot_real']}"]]
        highest = real["rating"] - self._rules.honeypot_weak_distance
        for answer in past:
            entrant = self._entrants.get(answer.bot)
            if (
                entrant is not None
                and entrant["rating"] <= highest
                and answer.bot not in both
                and entrant["owner_id"] not in owners
                and answer.name not in seen
                and not answer.judges & set(panel)
                and not text_similarity(
                    answer.text, real_text, threshold=self._rules.plagiarism_jaccard
                ).copied
            ):
                yield answer

    def _owner(self, bot: str | None) -> str | None:
        owner: str | None = self._entrants.get(bot, {}).get("owner_id")
        return owner

    @cached_property
    def _entrants(self) -> Mapping[str | None, Mapping[str, Any]]:
        return {each["id"]: each for each in self._inputs.get("entrants", ())}

    @cached_property
    def _owner_of_judge(self) -> Mapping[str, str | None]:
        return {each["id"]: each["owner_id"] for each in self._inputs["judges"]}
