"""Submissions, and problems of the dojo."""

from datetime import datetime
from typing import Any

from pydantic import Field

from agon.api.models.base import ExternalId, JsonObject, RecordId, Request, Resource
from agon.api.models.jobs import Job
from agon.entities import ledgers, trials


class SubmissionCreate(Request):
    """A program or an agent."""

    user: RecordId | None = Field(
        default=None, description="The participant; null: the token's user."
    )
    problem: RecordId | None = Field(default=None, description="Dojo: the problem's id.")
    content: JsonObject = Field(
        description="Dojo: source, method_tag, notes. Challenge: miner_uid, agent, competition."
    )
    external_id: ExternalId | None = Field(
        default=None, description="The sender's own id; sent twice, it is one submission."
    )


class Submission(Resource, ledgers.SubmissionView):
    """A submission and its verdict."""


class Trial(Resource, trials.Trial):
    """A trial of a submitted agent on one task."""


class TrialRun(Resource, trials.TrialRun):
    """The run of a submitted agent."""

    trials: tuple[Trial, ...] = Field(description="The trials by task.")


class VisibleRun(Resource, trials.VisibleRun):
    """A run that the caller may see."""


class TrajectoryStep(Resource, trials.TrajectoryStep):
    """One step of an agent."""


class PrintedText(Resource, trials.PrintedText):
    """What was printed."""


class TrialPart(Resource, trials.TrialPart):
    """A trial as a whole, or one of the steps that its task has."""

    steps: tuple[TrajectoryStep, ...] = Field(description="The steps of the agent.")
    printed: tuple[PrintedText, ...] = Field(description="What agent and tests printed.")


class TrialDetails(Resource, trials.TrialDetails):
    """What happened in a trial of a submitted agent."""

    parts: tuple[TrialPart, ...] = Field(
        description="The trial as a whole, and the steps of its task, if it has steps."
    )


class SubmissionReceipt(Resource):
    """An accepted submission and the jobs that judge it."""

    id: str
    seq: int | None = Field(description="Position of its entry; for organizers only.")
    jobs: tuple[Job, ...]


class Term(Resource):
    """A term of a sequence."""

    n: int = Field(description="Its index; the first term has the problem's first_index.")
    a: str = Field(description="A text, because it can have any number of digits.")


class Problem(Resource):
    """A problem of the dojo; with its source and all terms once it is revealed."""

    id: str = Field(description="P_hash: SHA-256 of the setter's canonical source.")
    slug: str | None = Field(default=None, description="Its short name, accepted as its id is.")
    title: str
    interface: str | None
    N_check: int = Field(description="Number of terms a solver has to compute.")
    first_index: int = Field(
        description="Index of the first term: a program gives a_first_index, …."
    )
    setter_user_id: str | None
    freeze_started_at: datetime | None = Field(description="Since when it takes no submissions.")
    disclosed: tuple[Term, ...] = Field(description="The first fifty terms of odd index.")
    revealed: bool
    feedback: str | None = Field(
        description="What is disclosed of a verdict before the freeze: gate or terms."
    )
    max_submissions: int | None = Field(
        description="Maximum number of submissions of a user: every verdict reveals something of "
        "the hidden terms."
    )
    submissions: int | None = Field(
        description="Number of the caller's submissions that count; null for callers without a "
        "user."
    )
    extended_until: datetime | None = Field(
        default=None,
        description="Until when it takes the caller's submissions, where organizers gave the "
        "caller extra time beyond the freeze.",
    )
    takes_submissions: bool = Field(
        description="Whether it takes submissions of the caller now, by its freeze and the "
        "caller's extra time; the contest's own times hold as well."
    )
    judging: dict[str, Any] | None = Field(
        default=None,
        description="What a program may import and use: Python's version, allowed_modules, "
        "sympy and sympy_missing, refused_names, limits, policy; null in lists.",
    )
    source: str | None = Field(default=None, description="The setter, once it is revealed.")
    terms: tuple[str, ...] | None = Field(
        default=None, description="All terms from a_first_index on, once it is revealed."
    )


class ProblemCreate(Request):
    """A problem to validate and publish."""

    package: JsonObject = Field(
        description="The fields of problem.json, and source: the setter's program.",
        json_schema_extra={
            "required": ["source"],
            "properties": {"source": {"type": "string", "minLength": 1}},
        },
    )


class ProblemReceipt(Resource):
    """The id of a new problem and the job that validates it."""

    id: str
    job: Job
