"""Remember which honeypots judges saw in their latest votes, and choose what they may see next."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from agon.disciplines.arena.rounds.honeypots import (
    MEMORY_VOTES,
    RoboticAnswer,
    draw_robotic_answer,
)

_BETWEEN: Final = "|"
"""Separates the templates of one honeypot; an ordinary vote is remembered as an empty text."""

Recent = Mapping[str, Sequence[str]]
"""What each judge saw in its latest votes in settled rounds, oldest first."""


class HoneypotMemory:
    """What judges saw: in their latest votes, and in the round that is played."""

    def __init__(self, recent: Recent) -> None:
        self._before = recent
        self._recent: dict[str, list[str]] = {}

    def seen(self, judges: Iterable[str]) -> list[str]:
        """Return the templates that any of some judges saw, those seen longest ago first."""
        votes = [self._votes(judge)[::-1] for judge in judges]
        latest_first = [vote for places in zip_longest(*votes, fillvalue="") for vote in places]
        return [name for vote in latest_first[::-1] for name in vote.split(_BETWEEN) if name]

    def show(self, judges: Iterable[str], templates: Sequence[str]) -> None:
        """Note that some judges of this round see a honeypot with these templates."""
        for judge in judges if templates else ():
            self._votes(judge).append(_BETWEEN.join(templates))

    def next_reserve(self, reserves: Sequence[str], templates: Collection[str]) -> str:
        """Return the reserve that is asked next: the first who saw none of a honeypot's templates.

        If all saw some, and where no honeypot is judged, it is the first of all.
        """
        unseen = (each for each in reserves if not set(templates) & set(self.seen([each])))
        return next(unseen, reserves[0])

    def _votes(self, judge: str) -> list[str]:
        if judge not in self._recent:
            self._recent[judge] = list(self._before.get(judge, ()))
        return self._recent[judge]


def remember(
    recent: Recent, matches: Iterable[tuple[Iterable[str], Sequence[str]]]
) -> dict[str, tuple[str, ...]]:
    """Return the honeypots in the latest votes of a settled round's judges, this round included.

    Args:
        recent: what they saw before it.
        matches: who saw each match, and the templates of its honeypot; none: an ordinary match.

    Example:
        >>> remember({"j1": ("wiki",)}, [(["j1", "j2"], ()), (["j2"], ["list", "cutoff"])])
        {'j1': ('wiki', ''), 'j2': ('', 'list|cutoff')}
    """
    saw: dict[str, list[str]] = {}
    for judges, templates in matches:
        for judge in dict.fromkeys(judges):
            saw.setdefault(judge, []).append(_BETWEEN.join(templates))
    return {judge: (*recent.get(judge, ()), *names)[-MEMORY_VOTES:] for judge, names in saw.items()}


def draw_unseen_answer(
    seed: str,
    match: str,
    *,
    prompt: str,
    seen: Sequence[str],
    lengths: Sequence[int],
    max_chars: int,
) -> tuple[RoboticAnswer, list[str]]:
    """Draw an answer of a template that is none of those seen; return it, and those, sorted.

    Where the panel saw all, the ones seen longest ago may be used.

    Args:
        seed: the seed of the draw.
        match: the match.
        prompt: the prompt that both answers are to.
        seen: the templates that the panel saw, those seen longest ago first.
        lengths: lengths of ordinary answers.
        max_chars: the greatest length.
    """
    while True:
        robotic = draw_robotic_answer(
            seed, match, prompt=prompt, seen=seen, lengths=lengths, max_chars=max_chars
        )
        if robotic is not None:
            return robotic, sorted(set(seen))
        if not seen:
            raise RuntimeError("there is no template of a robotic answer")
        seen = seen[len(seen) // 4 + 1 :]
