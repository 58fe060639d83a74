"""The pages of registered bots: the list, and one with what its owner can do."""

from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from agon.api.models.bots import BotCreate, BotUpdate
from agon.api.models.contests import Contest
from agon.app.access.permissions import permits
from agon.app.arena.live.entrants.eligibility import asked_of_people
from agon.entities.arena import STATED
from agon.errors import AgonError, NotFound
from agon.kernel.text.bidi import isolated_text
from agon.web import addresses
from agon.web.page import Redirect, SitePage, Visit, error_texts
from agon.web.pages.live.arena import arena

_ABOUT: Final = tuple(name for name in STATED if name != "version")
_BOTS: Final = 500


def bots(visit: Visit) -> SitePage:
    """Return the registered bots, and the form that registers the visitor's."""
    return _bots_page(visit)


def register(visit: Visit) -> SitePage:
    """Register the visitor's bot; the page shows the secret of its endpoint, only now."""
    contest, _ = arena(visit)
    try:
        created = visit.api.bots.register(
            contest.id,
            BotCreate(
                name=visit.form.get("name", "").strip(),
                endpoint=visit.form.get("endpoint", "").strip() or None,
                version=visit.form.get("version", "").strip(),
                judges="judges" in visit.form,
                **_about(visit),
            ),
        )
    except (AgonError, ValidationError) as error:
        return _bots_page(visit, error=error, status=422)
    return _bot_page(visit, created.id, secret=created.secret, notice="The bot is registered.")


def bot(visit: Visit) -> SitePage:
    """Return a bot: status, version, latency, faults; for its owner also what can be changed."""
    return _bot_page(visit, visit.path["id"])


def change(visit: Visit) -> SitePage | Redirect:
    """Do what the owner chose: replace the secret, pause, go on, a new version, or qualify."""
    (contest, _), bot_id, api = arena(visit), visit.path["id"], visit.api.bots
    action = visit.form.get("action", "")
    try:
        if action == "rotate":
            secret = api.rotate_secret(contest.id, bot_id).secret
            return _bot_page(visit, bot_id, secret=secret, notice="The secret is replaced.")
        if action == "qualify":
            api.qualify(contest.id, bot_id)
            notice = (
                "The attempt to qualify has begun; a panel compares its answer with a person's."
            )
            return _bot_page(visit, bot_id, notice=notice)
        api.update(contest.id, bot_id, _update(action, visit))
    except (AgonError, ValidationError) as error:
        return _bot_page(visit, bot_id, error=error, status=422)
    return Redirect(address=addresses.bot(contest.id, bot_id))


def _update(action: str, visit: Visit) -> BotUpdate:
    if action in {"pause", "resume"}:
        return BotUpdate(paused=action == "pause")
    if action == "judges":
        return BotUpdate(judges=visit.form.get("judges") == "yes")
    if action == "about":
        return BotUpdate.model_validate(_about(visit))
    return BotUpdate(version=visit.form.get("version", "").strip())


def _about(visit: Visit) -> dict[str, str]:
    """Return what a form states of a bot; a field that is empty states nothing."""
    return {name: visit.form.get(name, "").strip() for name in _ABOUT}


def _bots_page(visit: Visit, *, error: Exception | None = None, status: int = 200) -> SitePage:
    contest, _ = arena(visit)
    bots = list(islice(visit.api.bots.list(contest.id), _BOTS))
    rows = _rows(visit, contest) if bots else {}
    bots.sort(key=lambda bot: (bot.id not in rows, rows.get(bot.id, {}).get("rank", 0)))
    return SitePage(
        template="bots.html",
        title=f"Bots · {contest.title}",
        values={
            "contest": contest,
            "bots": bots,
            "stated": [
                name for name in ("version", *STATED) if any(getattr(bot, name) for bot in bots)
            ],
            "rows": rows,
            "due": None if contest.is_over else visit.api.rounds.next(contest.id),
            "may_register": visit.caller.user is not None
            and permits(visit.caller, "bot.manage", contest=contest),
            "errors": error_texts(error),
            "form": visit.form,
            "about": _about(visit),
        },
        data=addresses.api("contests", contest.id, "bots"),
        status=status,
    )


def _rows(visit: Visit, contest: Contest) -> dict[str, dict[str, Any]]:
    """Return the first rows of the default board by id; none if it is not published yet."""
    try:
        page = visit.api.boards.page(contest.id, limit=_BOTS)
    except NotFound:
        return {}
    return {row["id"]: row for row in page.rows}


def _bot_page(
    visit: Visit,
    bot_id: str,
    *,
    secret: str | None = None,
    notice: str | None = None,
    error: Exception | None = None,
    status: int = 200,
) -> SitePage:
    contest, _ = arena(visit)
    shown: Any = visit.api.bots.get(contest.id, bot_id)
    is_own = shown.forfeits is not None and permits(visit.caller, "bot.manage", contest=contest)
    return SitePage(
        template="bot.html",
        title=f"{isolated_text(shown.name)} · {contest.title}",
        values={
            "contest": contest,
            "bot": shown,
            "is_own": is_own,
            "people": asked_of_people(contest.edition, contest.overrides),
            "eligibility": visit.api.bots.eligibility(contest.id, bot_id) if is_own else None,
            "attempt": visit.api.bots.qualification(contest.id, bot_id) if is_own else None,
            "faults": visit.api.bots.faults(contest.id, bot_id).items,
            "secret": secret,
            "notice": notice,
            "errors": error_texts(error),
            "about": _about(visit)
            if error and visit.form.get("action") == "about"
            else {name: getattr(shown, name) for name in _ABOUT},
        },
        data=addresses.api("contests", contest.id, "bots", bot_id),
        status=status,
    )
