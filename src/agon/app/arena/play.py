"""Play matches between bots without a server: draws, panels and order as in an arena."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, Final, Protocol

from agon.app.arena.live.network.transport import BotReply
from agon.disciplines.arena.checks.plagiarism import are_copies
from agon.disciplines.arena.rounds.draws import shown_first, uniform
from agon.disciplines.arena.rounds.faults import Fault
from agon.disciplines.arena.rules import ArenaRules

PROTOCOL: Final = "agon-arena-1"


class Player(Protocol):
    """A bot or a judge that is asked for work; it may be used by several threads."""

    def ask(self, work: Mapping[str, Any], *, seconds: float) -> BotReply | Fault:
        """Return its reply, or why there is none."""


@dataclass(frozen=True, kw_only=True)
class LocalArena:
    """Matches between bots on this machine.

    Attributes:
        bots: the bots by name, at least two.
        judges: the judges by name; without any, no match has a winner.
        prompts: texts to draw from.
        seed: the seed of all draws; equal seeds ask equal work in the same order.
        seconds: the time limit of an answer and of a vote.
        now: the time of deadlines.
    """

    bots: Mapping[str, Player]
    judges: Mapping[str, Player]
    prompts: Sequence[str]
    seed: str
    seconds: float
    now: datetime

    def play(self, rounds: int) -> Iterator[dict[str, Any]]:
        """Yield every match as a JSON object, then the results of all bots.

        In each round every bot meets every other one. Both are asked at the same time.
        """
        results = {
            name: dict.fromkeys(("wins", "losses", "ties", "faults"), 0) for name in self.bots
        }
        with ThreadPoolExecutor(max_workers=max(2, len(self.judges))) as pool:
            for number in range(1, rounds + 1):
                pairs = combinations(self.bots, 2)
                for place, pair in enumerate(pairs, start=1):
                    match = self._play_match(f"r{number}-{place}", pair, pool)
                    _count(results, match)
                    yield match
        yield {"results": results}

    def _play_match(
        self, match: str, pair: tuple[str, str], pool: ThreadPoolExecutor
    ) -> dict[str, Any]:
        """Return one match: prompt, answers, votes, winner."""
        is_swapped = uniform(self.seed, match, "sides") < 0.5  # noqa: PLR2004 (even odds)
        names = dict(zip("ab", reversed(pair) if is_swapped else pair, strict=True))
        prompt = self.prompts[int(uniform(self.seed, match, "prompt") * len(self.prompts))]
        futures = {
            side: pool.submit(
                self._ask, self.bots[name], f"{match}-{side}", "answer", match, prompt
            )
            for side, name in names.items()
        }
        replies = {side: future.result() for side, future in futures.items()}
        body: dict[str, Any] = {"match": match, "prompt": prompt}
        body |= {side: {"bot": names[side], **_plain(replies[side])} for side in names}
        texts = {side: body[side]["text"] for side in names if "text" in body[side]}
        if len(texts) < len(names):
            return {**body, "kind": "forfeit", "winner": None}
        rules = ArenaRules()
        if are_copies(*texts.values(), threshold=rules.plagiarism_jaccard):
            return {**body, "kind": "skipped", "winner": None}
        votes = list(
            pool.map(lambda judge: self._vote(judge, match, prompt, texts), sorted(self.judges))
        )
        return {**body, "kind": "rated", "votes": votes, "winner": _consensus(votes)}

    def _vote(
        self, judge: str, match: str, prompt: str, texts: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the vote of a judge, with the order in which it saw the answers."""
        first = shown_first(self.seed, match, [judge])[judge]
        second = "b" if first == "a" else "a"
        answers = {"A": texts[first], "B": texts[second]}
        reply = self._ask(
            self.judges[judge], f"{match}-{judge}", "vote", match, prompt, answers=answers
        )
        vote: dict[str, Any] = {"judge": judge, "shown_first": first}
        if isinstance(reply, BotReply) and reply.vote not in answers:
            reply = Fault("bot", "invalid", "a vote is A or B")
        if isinstance(reply, Fault):
            return {**vote, **_plain(reply)}
        return {**vote, "vote": reply.vote, "side": first if reply.vote == "A" else second}

    def _ask(
        self,
        player: Player,
        name: str,
        kind: str,
        match: str,
        prompt: str,
        *,
        answers: Mapping[str, str] | None = None,
    ) -> BotReply | Fault:
        work: dict[str, Any] = {
            "id": f"{self.seed}-{name}",
            "kind": kind,
            "match": match,
            "prompt": prompt,
            "max_chars": ArenaRules().max_prompt_chars,
            "deadline": (self.now + timedelta(seconds=self.seconds)).isoformat(),
            "deadline_ms": round(self.seconds * 1000),
            "attempt": 1,
            "last_latency_ms": None,
            "protocol": PROTOCOL,
        }
        if answers is not None:
            work["answers"] = dict(answers)
        return player.ask(work, seconds=self.seconds)


def _plain(reply: BotReply | Fault) -> dict[str, Any]:
    """Return the answer of a bot, cut at the limit, or its fault, as plain values."""
    if isinstance(reply, Fault):
        return {"fault": {"owner": reply.owner, "code": reply.code, "detail": reply.detail}}
    text = reply.text or ""
    limit = ArenaRules().max_prompt_chars
    return {
        "text": text[:limit],
        "cut": len(text) > limit,
        "latency_ms": round(reply.latency_ms, 1),
    }


def _consensus(votes: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the side with most votes; ``tie`` without a single one, None without votes."""
    sides = [vote["side"] for vote in votes if "side" in vote]
    if not sides:
        return None
    difference = sides.count("a") - sides.count("b")
    return "a" if difference > 0 else "b" if difference < 0 else "tie"


def _count(results: Mapping[str, dict[str, int]], match: Mapping[str, Any]) -> None:
    """Add a match to the results of its bots."""
    for side, other in (("a", "b"), ("b", "a")):
        result = results[match[side]["bot"]]
        result["faults"] += "fault" in match[side]
        result["wins"] += match["winner"] == side
        result["losses"] += match["winner"] == other
        result["ties"] += match["winner"] == "tie"
