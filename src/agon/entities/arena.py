"""What the service stores about a live arena, as plain values."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final, Literal

RoundPhase = Literal["committed", "answering", "voting", "judging", "settling", "settled"]
"""What a round does now; ``judging`` is done by models, votes of others are cast before."""

RoundKind = Literal["round", "qualification"]

WorkKind = Literal["answer", "vote"]

PrivateTable = Literal["prompts", "human_answers", "honeypot_answers"]
"""The tables of an arena that only organizers write and no one reads over the API."""


@dataclass(frozen=True, kw_only=True)
class BotDescription:
    """What an owner states of a bot; an empty text states nothing.

    Attributes:
        version: its version.
        author: who made it.
        license: the license that it is under.
        link: a web address where it is described.
    """

    version: str = ""
    author: str = ""
    license: str = ""
    link: str = ""


STATED: Final = tuple(each.name for each in fields(BotDescription))
"""What an owner states of a bot besides its name: version, author, license, link."""


@dataclass(frozen=True, kw_only=True)
class LiveBot(BotDescription):
    """A registered bot.

    Attributes:
        user: the user who registered it; None: an organizer did for an owner without a user.
        owner_id: its owner in the table ``owners``.
        endpoint: where it answers; None: it asks for work.
        secret: signs requests; encrypted with the server's key.
        old_secret: the secret before, which signs too until ``old_secret_until``.
        version_at: since when it has its version.
        judges: whether it votes.
        paused: why it takes part in no round; None: it does.
        forfeits: number of forfeits since its last answer.
        attempted_at: its last attempt to qualify.
        latency_ms: the time its last answer took.
        recent_prompts: ids of the last prompts it was asked, oldest first.
        recent_templates: templates of the last honeypots it judged, oldest first.
        states: what the public sees of it, each from a position ``seq`` of the ledger on.
    """

    contest_no: int
    id: str
    user: str | None
    owner_id: str
    name: str
    registered_at: datetime
    version_at: datetime
    endpoint: str | None = None
    secret: bytes | None = field(default=None, repr=False)
    old_secret: bytes | None = field(default=None, repr=False)
    old_secret_until: datetime | None = None
    judges: bool = False
    paused: str | None = None
    forfeits: int = 0
    attempted_at: datetime | None = None
    latency_ms: float | None = None
    recent_prompts: tuple[str, ...] = ()
    recent_templates: tuple[str, ...] = ()
    states: tuple[Mapping[str, Any], ...] = ()

    def is_of(self, people: Collection[str]) -> bool:
        """Return whether its user or its owner is one of some people."""
        return self.user in people or self.owner_id in people


@dataclass(frozen=True, kw_only=True)
class Presence:
    """A person or another judge that asked for work.

    Attributes:
        id: who asked.
        network: keyed hash of the network of the last request; None: unknown.
        as_judge: whether the token had the role judge.
    """

    id: str
    network: str | None = None
    as_judge: bool = False


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt; a retired one is not drawn any more."""

    id: str
    text: str
    retired: bool = False


@dataclass(frozen=True, kw_only=True)
class HumanAnswer:
    """A person's answer to a prompt, for the qualification of bots."""

    id: str
    prompt_id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class HoneypotAnswer:
    """A robotic answer of the contest's own, shown in one honeypot at most.

    Attributes:
        id: names it for the organizers.
        text: the answer.
        prompt_id: the prompt that it answers; None: it fits all.
        salt: what is hashed with the text, so that no one can guess the text from its hash.
        sha256: the hash that the ledger has of it.
        seq: the ledger position of that hash.
        retired_seq: the position from which it is not drawn any more; None: it may be.
        match: the match whose honeypot shows it; None: it was never shown.
    """

    id: str
    text: str
    prompt_id: str | None = None
    salt: str = field(repr=False)
    sha256: str
    seq: int
    retired_seq: int | None = None
    match: str | None = None

    @property
    def is_unused(self) -> bool:
        """Return whether no honeypot shows it and it was not retired."""
        return self.match is None and self.retired_seq is None


NOT_RECORDED = frozenset({"void", "again"})
"""Outcomes of matches that get no record: no judge voted, or they are played again."""


@dataclass(frozen=True, kw_only=True)
class ArenaRound:
    """A round, or an attempt to qualify, which is a round of one match with a person's answer.

    Attributes:
        id: ``r12``.
        number: the number in the id; rounds and attempts to qualify share one sequence.
        kind: which of both.
        phase: what happens now.
        seed: the seed of all draws, encrypted with the server's key.
        body: what was drawn and what happened, as JSON.
        began_at: when its seed was committed.
        settled_seq: the ledger position at which it was settled.
    """

    contest_no: int
    id: str
    number: int
    kind: RoundKind
    phase: RoundPhase
    seed: bytes = field(repr=False)
    body: Mapping[str, Any]
    began_at: datetime
    settled_seq: int | None = None

    @property
    def summary(self) -> Mapping[str, Any]:
        """What the list of rounds shows, as JSON; it is stored apart from the body.

        ``bot`` is who tries to qualify; ``besides`` are the matches that the work of weak bots
        names, which no count of missing answers may show. Votes are counted as if each match had
        its whole panel, so that their number does not show which matches have none. ``can_fall``:
        the votes of this round can take a judge out of the pool before it has voted on all.
        """
        draw, matches = self.body.get("draw", {}), self.body.get("matches", ())
        panel = self.body.get("rules", {}).get("judges_per_match", 0)
        return {
            "committed_seq": self.body.get("committed_seq"),
            "bot": self.body.get("inputs", {}).get("bot"),
            "pairs": [(match["bot_a"], match["bot_b"]) for match in draw.get("matches", ())],
            "waiting": draw.get("waiting", ()),
            "waits_for": self.body.get("waits_for"),
            "can_fall": self.body.get("can_fall", False),
            "degraded": self.body.get("degraded"),
            "besides": [match["weak"]["named"] for match in matches if "weak" in match],
            "void": sum(match.get("outcome") in NOT_RECORDED for match in matches),
            "missing_votes": sum(panel - len(match["votes"]) for match in matches),
            "judges": len(self.body.get("inputs", {}).get("judges", ())),
            "audits": sum("audit" in match or "audit_missed" in match for match in matches),
            "missed_audits": Counter(
                match["audit_missed"] for match in matches if "audit_missed" in match
            ),
            "unjudged": sum("unjudged" in match for match in matches),
            "built_in": sum("seen" in match.get("honeypot_text", {}) for match in matches),
        }


@dataclass(frozen=True, kw_only=True)
class RoundState:
    """A round without its body, as the list of rounds shows it.

    Attributes:
        summary: see :attr:`ArenaRound.summary`.
    """

    id: str
    number: int
    kind: RoundKind
    phase: RoundPhase
    began_at: datetime
    settled_seq: int | None
    summary: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one bot or one judge has to do in a match.

    Attributes:
        id: cannot be guessed.
        assignee: the bot or the judge.
        pushed: whether it is sent to an endpoint; otherwise the assignee asks for it.
        body: what the assignee gets.
        result: ``text``, ``vote`` or ``fault``; None: not handed in.
        handed_in: the body that handed it in.
        latency_ms: the time it took; None where it was not pushed.
    """

    id: str
    contest_no: int
    round: str
    match: str
    kind: WorkKind
    assignee: str
    pushed: bool
    body: Mapping[str, Any]
    deadline: datetime
    created_at: datetime
    result: Mapping[str, Any] | None = None
    result_at: datetime | None = None
    handed_in: str | None = None
    latency_ms: float | None = None
