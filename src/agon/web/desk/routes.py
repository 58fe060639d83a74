"""The routes of the desks."""

from typing import Final

from agon.web.desk import (
    access,
    arena,
    cases,
    changes,
    contests,
    epochs,
    finality,
    jobs,
    overview,
    people,
    problems,
    rules,
    uploads,
)
from agon.web.page import View

_DESK: Final = "/c/{contest}/desk"

PAGES: Final[tuple[tuple[str, View], ...]] = (
    ("/desk", contests.contests),
    ("/desk/queue", jobs.queue),
    ("/desk/queue/{id}", jobs.job),
    ("/desk/tokens", access.tokens),
    ("/desk/users", access.users),
    ("/desk/audit", access.audit),
    (_DESK, overview.overview),
    (f"{_DESK}/finalize", finality.final_step),
    (f"{_DESK}/void", finality.void_step),
    (f"{_DESK}/records", uploads.records),
    (f"{_DESK}/findings", cases.findings),
    (f"{_DESK}/findings/{{number}}", cases.finding),
    (f"{_DESK}/cases", cases.cases),
    (f"{_DESK}/cases/{{id}}", cases.case),
    (f"{_DESK}/changes", changes.changes),
    (f"{_DESK}/changes/{{id}}", changes.change),
    (f"{_DESK}/rules", rules.rules),
    (f"{_DESK}/problems", problems.problems),
    (f"{_DESK}/problems/{{id}}/reveal", problems.reveal_step),
    (f"{_DESK}/rounds", arena.rounds),
    (f"{_DESK}/bots", arena.bots),
    (f"{_DESK}/epochs", epochs.epochs),
    (f"{_DESK}/people", people.people),
    (f"{_DESK}/jobs", jobs.contest_jobs),
    (f"{_DESK}/jobs/{{id}}", jobs.contest_job),
)
"""Every page of the desks: its address and what reads its content."""

FORMS: Final[tuple[tuple[str, View, str | None], ...]] = (
    ("/desk", contests.create, "contest.create"),
    ("/desk/queue", jobs.set_queue, "queue.manage"),
    ("/desk/queue/{id}/{action}", jobs.act_on_job, "job.manage"),
    ("/desk/tokens", access.create_token, "token.manage"),
    ("/desk/tokens/{id}/revoke", access.revoke_token, "token.manage"),
    ("/desk/users", access.create_user, "user.manage"),
    ("/desk/users/{id}/{action}", access.change_user, "user.manage"),
    (f"{_DESK}/open", overview.open_contest, "contest.manage"),
    (f"{_DESK}/freeze", overview.freeze, "contest.manage"),
    (f"{_DESK}/unfreeze", overview.unfreeze, "contest.manage"),
    (f"{_DESK}/finalize", finality.finalize, "contest.manage"),
    (f"{_DESK}/unfinalize", finality.unfinalize, "contest.manage"),
    (f"{_DESK}/void", finality.void, "contest.manage"),
    (f"{_DESK}/restore", finality.restore, "contest.manage"),
    (f"{_DESK}/details", overview.edit, "contest.manage"),
    (f"{_DESK}/records", uploads.add_records, "records.add"),
    (f"{_DESK}/findings", cases.scan, "case.manage"),
    (f"{_DESK}/findings/{{number}}", cases.open_from_finding, "case.manage"),
    (f"{_DESK}/cases", cases.open_case, "case.manage"),
    (f"{_DESK}/cases/{{id}}/{{step}}", cases.add_step, "case.manage"),
    (f"{_DESK}/changes", changes.propose, "change.manage"),
    (f"{_DESK}/changes/{{id}}/{{action}}", changes.act_on, "change.manage"),
    (f"{_DESK}/rules", rules.change, "change.manage"),
    (f"{_DESK}/problems", problems.publish, "problem.manage"),
    (f"{_DESK}/problems/{{id}}/reveal", problems.reveal, "problem.manage"),
    (f"{_DESK}/rounds", arena.draw, "match.draw"),
    (f"{_DESK}/prompts", arena.add_prompts, "prompt.manage"),
    (f"{_DESK}/bots/{{id}}/{{action}}", arena.set_bot, "bot.manage"),
    (f"{_DESK}/people", people.invite, "invitation.manage"),
    (f"{_DESK}/people/all", people.invite_all, "invitation.manage"),
    (f"{_DESK}/people/members/{{action}}", people.change, "invitation.manage"),
    (f"{_DESK}/people/{{id}}/revoke", people.revoke, "invitation.manage"),
    (f"{_DESK}/people/requests/{{id}}/{{action}}", people.decide, "invitation.manage"),
    (f"{_DESK}/jobs/{{id}}/{{action}}", jobs.act_on_contest_job, "job.manage"),
)
"""Every form of the desks: its address, what it does, and the permission it needs."""

PASSWORD_FORMS: Final = (access.create_user, access.change_user)
"""The forms whose fields can have a password."""
