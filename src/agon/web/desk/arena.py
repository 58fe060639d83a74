"""Rounds and bots of an arena."""

import io
from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from agon.api.models.bots import BotUpdate
from agon.app.arena.live.honeypots.bank import HONEYPOT_ANSWERS
from agon.app.arena.live.prompts import HUMAN_ANSWERS, PROMPTS
from agon.app.contests.ingest.uploads import read_table, stored_upload
from agon.errors import AgonError, NotFound, Unreadable
from agon.web import addresses
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import act, contest_page, listing
from agon.web.desk.uploads import ACCEPTED
from agon.web.page import Redirect, SitePage, Visit, error_texts
from agon.web.rendering import counted_text, words

_PAUSES: Final[Mapping[str, bool]] = {"pause": True, "resume": False}
_LEAVE_OUT: Final = "remove the column"


def rounds(visit: Visit) -> SitePage:
    """Return the rounds, newest first, and the button that begins one."""
    return _rounds_page(visit)


def draw(visit: Visit) -> SitePage | Redirect:
    """Begin the next round."""
    contest = visit.contest()
    return act(
        lambda: visit.api.submissions.draw_round(contest.id),
        following=lambda job: addresses.desk(contest.id, "jobs", job.id),
        otherwise=lambda error: _rounds_page(visit, error=error),
    )


def add_prompts(visit: Visit) -> SitePage:
    """Add the rows of an uploaded file to a private table; all or none."""
    contest, api = visit.contest(), visit.api.prompts
    kind = visit.form.get("kind", "")
    adders = {
        PROMPTS.name: (PROMPTS, api.add),
        HUMAN_ANSWERS.name: (HUMAN_ANSWERS, api.add_human_answers),
        HONEYPOT_ANSWERS.name: (HONEYPOT_ANSWERS, api.add_honeypot_answers),
    }
    try:
        if kind not in adders:
            raise Unreadable(f"kind: expected one of {', '.join(adders)}, got {kind[:80]!r}")
        table, add = adders[kind]
        name, file = visit.files.get("file", ("", io.BytesIO()))
        with (
            stored_upload(table.name, name, file) as path,
            read_table(table, path, option=_LEAVE_OUT) as upload,
        ):
            upload.require_valid()
            saved, notes = add(contest.id, upload.lines(bare=True)).saved, upload.notes
    except (AgonError, ValidationError) as error:
        return _rounds_page(visit, wrong=FormErrors(fields={"file": error_texts(error)}))
    verb = "was" if saved == 1 else "were"
    done = f"{counted_text(saved, words(kind).removesuffix('s'))} {verb} added or replaced."
    return _rounds_page(visit, done=" ".join([done, *(f"{_sentence(note)}." for note in notes)]))


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]


def bots(visit: Visit) -> SitePage:
    """Return the bots with their faults."""
    return _bots_page(visit)


def set_bot(visit: Visit) -> SitePage | Redirect:
    """Pause a bot, or let it take part again."""
    contest, action = visit.contest(), visit.path["action"]
    if action not in _PAUSES:
        raise NotFound(f"a bot has no action {action!r}; use pause or resume")
    update = BotUpdate(paused=_PAUSES[action])
    return act(
        lambda: visit.api.bots.update(contest.id, visit.path["id"], update),
        following=addresses.desk(contest.id, "bots"),
        otherwise=lambda error: _bots_page(visit, error=error),
    )


def _rounds_page(
    visit: Visit,
    *,
    error: Exception | None = None,
    wrong: FormErrors | None = None,
    done: str = "",
) -> SitePage:
    contest = visit.contest()
    return contest_page(
        visit, contest, "rounds",
        {
            "rounds": listing(visit, visit.api.rounds.list(contest.id)),
            "due": None if contest.is_over else visit.api.rounds.next(contest.id),
            "protections": visit.api.rounds.protections(contest.id).items,
            "bank": visit.api.prompts.honeypot_bank(contest.id),
            "accept": ACCEPTED,
            "done": done,
        },
        error=wrong or error, data=addresses.api("contests", contest.id, "rounds"),
    )  # fmt: skip


def _bots_page(visit: Visit, *, error: Exception | None = None) -> SitePage:
    contest = visit.contest()
    return contest_page(
        visit, contest, "bots", {"bots": listing(visit, visit.api.bots.list(contest.id))},
        error=error, data=addresses.api("contests", contest.id, "bots"),
    )  # fmt: skip
