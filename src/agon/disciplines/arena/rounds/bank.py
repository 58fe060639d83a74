"""Draw the robotic side of a honeypot among the contest's own texts, each of which is shown once.

The ledger has a salted hash of each text before any draw from it; so a text can neither be guessed
before it is shown nor chosen after the seed is known.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agon.disciplines.arena.rounds.draws import lots
from agon.kernel.fingerprints import sha256


def answer_sha256(text: str, *, salt: str) -> str:
    """Return the hash of a text that the ledger has before the text is shown.

    Example:
        >>> answer_sha256("As requested.", salt="00")[:16]
        '57ed3fb9e38fd620'
        >>> answer_sha256("As requested.", salt="00") == answer_sha256("As requested.", salt="01")
        False
    """
    return sha256([salt, text])


def draw_bank_answer(
    seed: str, match: str, answers: Mapping[str, str | None], *, prompt: str | None
) -> str | None:
    """Draw an unused text of the contest's own for a honeypot; None: there is none.

    Texts to the prompt of the match precede those that fit any prompt.

    Args:
        seed: the seed of the draw.
        match: the match.
        answers: the prompt of each text by its hash; None: it fits any prompt.
        prompt: the prompt of the match.

    Source: issue 30, A bank of the contest's own.

    Example:
        >>> draw_bank_answer("s1", "m7", {"aa": None, "bb": "p1", "cc": "p2"}, prompt="p1")
        'bb'
        >>> draw_bank_answer("s1", "m7", {"bb": "p1"}, prompt="p2") is None
        True
    """
    own = [
        name
        for name, written_for in answers.items()
        if written_for is not None and written_for == prompt
    ]
    fitting = own or [name for name, written_for in answers.items() if written_for is None]
    return min(lots(seed, match, "honeypot-bank", fitting), default=(0, None))[1]


class Bank:
    """The contest's own texts by a ledger, read entry by entry."""

    def __init__(self) -> None:
        self._added: dict[str, tuple[int, str | None]] = {}
        self._retired: dict[str, int] = {}
        self._used: set[str] = set()

    def change(self, body: Mapping[str, Any], *, at: int) -> Iterator[str]:
        """Note the body of an entry ``honeypot-answers-changed``; yield what is wrong with it."""
        for answer in body["added"]:
            if answer["sha256"] in self._added:
                yield f"the honeypot answer {answer['sha256']} is added twice"
            self._added.setdefault(answer["sha256"], (at, answer["prompt_id"]))
        for name in body["retired"]:
            if name not in self._added:
                yield f"the honeypot answer {name} is retired and was not added"
            self._retired.setdefault(name, at)

    def open_answers(self, *, at: int) -> dict[str, str | None]:
        """Return the prompts of the texts that a round committed at a position may show."""
        return {
            name: prompt
            for name, (added, prompt) in self._added.items()
            if added < at and self._retired.get(name, at) >= at and name not in self._used
        }

    def use(self, names: Iterable[str]) -> None:
        """Note that honeypots showed some texts."""
        self._used.update(names)
