"""Say what a house does for those who run contests, wherever it is.

:class:`agon.client.Client` keeps these promises over HTTP, :class:`agon.client.local.Local` beside
the database; both refuse with the same errors. What a method raises beyond what it says:
``Unauthenticated`` and ``Forbidden`` for who may not, ``NotFound`` for a contest that is not there
(or not to be seen), ``Unavailable`` for a house out of reach.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from agon.app.contests.lifecycle.creation import NewContest
from agon.client.upkeep import Access, Cases, Jobs, Webhooks
from agon.client.values import (
    ChangeTold,
    ContestTold,
    FindingsTold,
    HeadTold,
    JobTold,
    Page,
    ProblemTold,
    Published,
    RecordedTold,
    Step,
    SubmissionTold,
    SubmittedTold,
)
from agon.kernel.explanations import Explanation

__all__ = [
    "Access", "Boards", "Cases", "Changes", "Contests", "House", "Integrity", "Jobs", "Ledgers",
    "Problems", "Records", "Submissions", "Webhooks",
]  # fmt: skip


class Contests(Protocol):
    """Lead contests through their lives."""

    def create(self, new: NewContest) -> ContestTold:
        """Create a contest, a draft until it is opened.

        Raises:
            Conflict: the id is taken.
            NotFound, InvalidRule, Unreadable: discipline, edition, rules or words are not fit.
        """

    def next_season(self, contest: str, *, id: str) -> ContestTold:  # noqa: A002 (a contest's id is called id everywhere)
        """Create the next season: the same rules and boards, without records."""

    def list(
        self, *, discipline: str | None = None, series: str | None = None
    ) -> Iterator[ContestTold]:
        """Yield the contests the caller may see, in id order."""

    def get(self, contest: str) -> ContestTold:
        """Return a contest."""

    def open(self, contest: str) -> ContestTold:
        """Open a draft; Conflict when it is none."""

    def freeze(self, contest: str) -> ContestTold:
        """Show the public nothing later; Conflict when it is not open."""

    def unfreeze(self, contest: str, *, reason: str) -> ContestTold:
        """Let the public see again; Conflict when it is not frozen."""

    def finalise(self, contest: str, *, force: bool = False) -> ContestTold:
        """Make the result final; Conflict while something waits for a verdict, unless forced."""


class Records(Protocol):
    """Enter records."""

    def add(
        self,
        contest: str,
        chunks: Iterable[bytes],
        *,
        table: str | None = None,
        replace: bool = False,
        dry_run: bool = False,
    ) -> RecordedTold:
        """Enter records given as NDJSON; what is there already, just so, is not entered again.

        Args:
            contest: the contest.
            chunks: the bytes, cut anywhere: lines ``{"table", "row", "external_id"?}``.
            table: the table of all lines, which are then bare rows.
            replace: whether a record supersedes one with the same key.
            dry_run: look only; enter nothing.

        Raises:
            InvalidRecords: with everything that is wrong with them (over HTTP as Unreadable).
            Conflict: keys or external ids are there with other content; or the contest is final.
        """


class Problems(Protocol):
    """Pose the dojo's problems."""

    def list(self, contest: str) -> Iterator[ProblemTold]:
        """Yield problems in the order of their publication, without answers."""

    def get(self, contest: str, problem: str) -> ProblemTold:
        """Return a problem with its disclosed terms, and its answer once it is revealed."""

    def publish(self, contest: str, package: Mapping[str, Any]) -> tuple[str, JobTold]:
        """Have a setter go through its gate; return the problem's id and the job.

        Args:
            contest: a contest of the dojo.
            package: what ``problem.json`` says, and ``source``, the setter's program.

        Raises:
            Unfit: with everything that is wrong with the package (over HTTP as Unreadable).
            Conflict: the contest is final, or of another discipline.
        """

    def reveal(self, contest: str, problem: str) -> ContestTold:
        """Let everybody see source and terms; Conflict while it takes submissions."""


class Submissions(Protocol):
    """Send what is to be judged."""

    def send(
        self,
        contest: str,
        content: Mapping[str, Any],
        *,
        problem: str | None = None,
        user: str | None = None,
        external_id: str | None = None,
    ) -> SubmittedTold:
        """Send a program or an agent; a worker judges it.

        Args:
            contest: the contest.
            content: of the dojo ``source``, ``method_tag``, ``notes``; of the challenge
                ``miner_uid``, ``agent``, ``competition``.
            problem: of the dojo: the problem's id.
            user: whose it is; None: the token's user.
            external_id: the sender's own name for it; sent twice, it is one submission.

        Raises:
            Unreadable: the content is not what the discipline takes, or nobody is named.
            Conflict: contest or problem take no submissions.
        """

    def list(self, contest: str) -> Iterator[SubmissionTold]:
        """Yield submissions, oldest first: the staff's view all, others' their own."""

    def get(self, contest: str, submission: str) -> SubmissionTold:
        """Return a submission."""


class Boards(Protocol):
    """Read published boards. ``board`` None is the default one; ``as_of`` a position or a time."""

    def list(self, contest: str) -> list[Published]:
        """Return the newest state of every board, the default one first."""

    def page(
        self,
        contest: str,
        board: str | None = None,
        *,
        as_of: str | None = None,
        cursor: str | None = None,
        around: str | None = None,
        limit: int = 50,
        unscored: bool = False,
    ) -> Page:
        """Return a page of a board, or (``unscored``) of those without a score.

        Raises:
            NotFound: there is no such board, id or state of it.
            Unreadable: the cursor, the limit (1 to 500) or ``as_of`` cannot be read.
        """

    def search(
        self,
        contest: str,
        begins: str,
        *,
        board: str | None = None,
        as_of: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page:
        """Return the rows of those whose ids begin with a text, in id order.

        Raises:
            NotFound: there is no such board, or no such state of it.
            Unreadable: the text, the cursor, the limit (1 to 500) or ``as_of`` cannot be read.
        """

    def proof(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> dict[str, Any]:
        """Return what proves a line of a board to anybody."""

    def explain(
        self, contest: str, participant: str, *, board: str | None = None, as_of: str | None = None
    ) -> Explanation:
        """Explain a score."""

    def history(
        self, contest: str, participant: str, *, board: str | None = None
    ) -> Iterator[Step]:
        """Yield somebody's steps on a board, oldest first."""


class Changes(Protocol):
    """Change what a contest says, seen before it counts."""

    def propose(
        self, contest: str, *, kind: str, params: Mapping[str, Any], reason: str
    ) -> ChangeTold:
        """Propose a change set of kind rules, void, adjustment or rejudge."""

    def tried(self, contest: str, change: str) -> ChangeTold:
        """Return a change set after its dry run, which is waited for.

        Raises:
            Conflict: the dry run failed, with the cause (beside the database the error itself).
            Unavailable: it takes too long; ask again.
        """

    def get(self, contest: str, change: str) -> ChangeTold:
        """Return a change set."""

    def list(self, contest: str) -> Iterator[ChangeTold]:
        """Yield a contest's change sets, oldest first."""

    def apply(self, contest: str, change: str) -> ChangeTold:
        """Apply a change set that was tried; Conflict when the ledger has grown since."""

    def cancel(self, contest: str, change: str) -> ChangeTold:
        """Drop a change set that was not applied."""

    def roll_back(self, contest: str, change: str, *, reason: str) -> ChangeTold:
        """Take the effect from an applied change set."""


class Integrity(Protocol):
    """Show what integrity checks found."""

    def findings(self, contest: str) -> FindingsTold:
        """Return the findings of the last look."""

    def look(self, contest: str) -> FindingsTold:
        """Look through the newest records, which is waited for, and return what is found.

        Raises:
            NotScorable: the records cannot be scored (over HTTP as Unavailable, with the reason).
        """


class Ledgers(Protocol):
    """Carry ledgers out and in."""

    def head(self, contest: str) -> HeadTold:
        """Return the signed head of the newest position that may be seen."""

    def export(self, contest: str, folder: Path) -> None:
        """Write a contest's whole ledger as a new directory; Conflict when it is there."""

    def take_in(self, folder: Path, *, id: str | None = None) -> ContestTold:  # noqa: A002 (a contest's id is called id everywhere)
        """Take in a ledger's directory, all of it or nothing.

        Raises:
            InvalidEntry: with everything that is wrong with it (over HTTP as Unreadable).
            Conflict: it is another contest than ``id``, or one that is here and differs.
        """


class House(Protocol):
    """Give all that a house does."""

    @property
    def contests(self) -> Contests:
        """Contests."""

    @property
    def records(self) -> Records:
        """Records."""

    @property
    def problems(self) -> Problems:
        """The dojo's problems."""

    @property
    def submissions(self) -> Submissions:
        """What is to be judged."""

    @property
    def boards(self) -> Boards:
        """Published boards."""

    @property
    def changes(self) -> Changes:
        """Change sets."""

    @property
    def integrity(self) -> Integrity:
        """Findings."""

    @property
    def cases(self) -> Cases:
        """Findings and disputes that somebody looks into."""

    @property
    def ledgers(self) -> Ledgers:
        """Ledgers."""

    @property
    def access(self) -> Access:
        """Users and tokens."""

    @property
    def jobs(self) -> Jobs:
        """Jobs and the queue."""

    @property
    def webhooks(self) -> Webhooks:
        """Where events are sent."""

    def close(self) -> None:
        """Let go of the database or the connections."""
