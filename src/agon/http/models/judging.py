"""Name the forms of submissions, problems, matches, findings, cases and change sets."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agon.http.models.base import Asked, PlainObject, PlainText, Reason, Told
from agon.http.models.jobs import JobTold

Text = Annotated[PlainText, StringConstraints(min_length=1, max_length=10_000)]
Id = Annotated[PlainText, StringConstraints(min_length=1, max_length=200)]


class SubmissionAsked(Asked):
    """Send a program or an agent."""

    user: Id | None = Field(default=None, description="Whose it is; null: the token's user.")
    problem: Id | None = Field(default=None, description="Of the dojo: the problem's id.")
    content: PlainObject = Field(
        description="Dojo: source, method_tag, notes. Challenge: miner_uid, agent, competition."
    )
    external_id: Annotated[PlainText, StringConstraints(min_length=1, max_length=500)] | None = (
        Field(default=None, description="Your own name for it: sent twice, it is one submission.")
    )


class SubmissionTold(Told):
    """Tell of a submission and what became of it."""

    id: str
    seq: int | None = Field(description="Position of its entry; for the staff alone.")
    at: datetime
    user: str
    problem: str | None
    content: dict[str, Any]
    records: list[dict[str, Any]] = Field(description="Its verdict, as far as you may see.")


class SubmittedTold(Told):
    """Tell that a submission was taken, and what is to be done."""

    id: str
    seq: int | None = Field(description="Position of its entry; for the staff alone.")
    jobs: list[JobTold]


class SubmissionPage(Told):
    """Hold a page of submissions, oldest first."""

    items: list[SubmissionTold]
    next: str | None


class TermTold(Told):
    """Tell one term of a sequence; as text, since it can have any number of digits."""

    n: int
    a: str


class ProblemTold(Told):
    """Tell of a problem: what solvers work from, and once it is revealed the answer."""

    id: str = Field(description="P_hash: SHA-256 of the setter's canonical source.")
    title: str
    interface: str | None
    N_check: int = Field(description="How many terms a solver has to give.")
    setter_user_id: str | None
    freeze_started_at: datetime | None = Field(description="From when on it takes nothing.")
    disclosed: list[TermTold] = Field(description="a_1, a_3, …, a_99.")
    revealed: bool
    source: str | None = Field(default=None, description="The setter, once it is revealed.")
    terms: list[str] | None = Field(default=None, description="All, once it is revealed.")


class ProblemPage(Told):
    """Hold a page of problems in the order of their publication, without answers."""

    items: list[ProblemTold]
    next: str | None


class ProblemAsked(Asked):
    """Have a setter's problem go through its gate."""

    package: PlainObject = Field(description="What problem.json says, and source: the setter.")


class ProblemQueued(Told):
    """Tell a problem's id and the job that runs it through its gate."""

    id: str
    job: JobTold


class VoteAsked(Asked):
    """Give a vote."""

    row: PlainObject = Field(description="A row of the table votes.")
    external_id: Annotated[PlainText, StringConstraints(min_length=1, max_length=500)] | None = None


class FindingsTold(Told):
    """Hold what the last look found, gravest first."""

    seq: int = Field(description="Position of the ledger that was looked at; 0: never.")
    items: list[dict[str, Any]]


class CaseAsked(Asked):
    """Open a case."""

    text: Text = Field(description="Why.")
    title: Annotated[PlainText, StringConstraints(min_length=1, max_length=200)] | None = None
    subjects: list[Id] = Field(default=[], max_length=1000)
    finding: int | None = Field(default=None, ge=0, le=1 << 31, description="Its place, from 0.")


class NoteAsked(Asked):
    """Add a text to a case."""

    text: Text


class DecisionAsked(Asked):
    """Decide a case."""

    decision: Annotated[PlainText, StringConstraints(min_length=1, max_length=200)]
    reason: Text
    change: Annotated[PlainText, StringConstraints(max_length=100)] | None = Field(
        default=None, description="The change set by which it takes effect."
    )


class CaseTold(Told):
    """Tell of a case with all its steps."""

    id: str
    state: Literal["open", "decided", "appealed", "closed"]
    title: str
    subjects: tuple[str, ...]
    finding: dict[str, Any] | None
    steps: list[dict[str, Any]]
    opened_at: datetime


class CasePage(Told):
    """Hold a page of cases, oldest first."""

    items: list[CaseTold]
    next: str | None


class ChangeAsked(Asked):
    """Propose a change set."""

    kind: Literal["rules", "void", "rejudge", "adjustment"]
    params: PlainObject
    reason: Reason


class ApplyAsked(Asked):
    """Apply a change set."""

    reason: Reason | None = Field(default=None, description="null: as proposed.")
    even_if_moved: bool = Field(
        default=False, description="Although the ledger has grown since the dry run."
    )


class ChangeTold(Told):
    """Tell of a change set, with what its dry run found."""

    id: str
    kind: Literal["rules", "void", "rejudge", "adjustment"]
    params: dict[str, Any]
    reason: str
    state: Literal["proposed", "applied", "cancelled", "rolled-back"]
    proposed_by: str
    proposed_at: datetime
    report: dict[str, Any] | None
    dry_run_at: int | None
    applied_at: int | None
    rolled_back_at: int | None
    failed: str | None = Field(
        default=None, description="Why its dry run failed, if it did; told of a single one alone."
    )


class ChangePage(Told):
    """Hold a page of change sets, oldest first."""

    items: list[ChangeTold]
    next: str | None
