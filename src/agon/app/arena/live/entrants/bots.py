"""Register the bots of an arena, change them, and state what keeps one from judging."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

import orjson

from agon.app.access.permissions import View, permits
from agon.app.arena.live.entrants.bot_ids import new_bot_id
from agon.app.arena.live.entrants.bot_states import state_at, with_state
from agon.app.arena.live.entrants.eligibility import NOT_QUALIFIED, judge_obstacles
from agon.app.arena.live.entrants.owners import newest_row, owner_rows
from agon.app.arena.live.entrants.versions import mark_version
from agon.app.arena.live.scored import live_rules, scored_arena
from agon.app.contests.ingest.openness import require_not_withdrawn
from agon.app.contests.ingest.records import RecordImporter
from agon.app.contests.ledgers.append import table_of
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.queue.rounds import queue_next
from agon.app.service import Service
from agon.app.webhooks.secrets import NONCE_BYTES, decrypt, encrypt
from agon.app.webhooks.signatures import SECRET_BYTES, format_secret
from agon.entities.access import Caller
from agon.entities.arena import STATED, BotDescription, LiveBot
from agon.entities.contests import Contest
from agon.errors import Conflict, Forbidden, NotFound, Unavailable, Unreadable
from agon.kernel.times import parse_time, written_time
from agon.ledger.keys import record_key
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

OLD_SECRET_VALID: Final = timedelta(days=1)
"""How long the secret before a rotation signs too."""


@dataclass(frozen=True, kw_only=True)
class BotChanges:
    """Changes of a bot; None leaves a field as it is."""

    endpoint: str | None = None
    paused: bool | None = None
    judges: bool | None = None
    version: str | None = None
    author: str | None = None
    license: str | None = None
    link: str | None = None


def register(
    service: Service,
    contest_id: str,
    *,
    name: str,
    endpoint: str | None = None,
    described: BotDescription | None = None,
    judges: bool = False,
    owner: str | None = None,
    by: Caller,
) -> tuple[LiveBot, str | None]:
    """Register a bot; return it with the secret of its endpoint, which is never shown again.

    Args:
        service: the service.
        contest_id: the contest.
        name: the bot's name.
        endpoint: where it answers; None: it asks for work.
        described: what its owner states of it; None: nothing.
        judges: whether it wants to judge.
        owner: id of its owner in the table ``owners``; None: the caller.
        by: the caller; only organizers name an owner.

    Raises:
        NotFound: there is no such contest, or no such owner.
        Forbidden: a participant named an owner.
        Conflict: the owner has as many bots as the rule ``bots_per_owner`` allows, or the contest
            is final or not an arena, or organizers withdrew the caller.
        Unreadable: the endpoint did not repeat the nonce of a ping, or there is no owner.
        Unavailable: the server has no key to encrypt the secret with.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
    owner_id = _owner_of_new(contest, owner, by=by)
    secret = None if endpoint is None else _new_secret(service, endpoint)
    now = service.clock()
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_not_over(contest)
        require_not_withdrawn(session, contest, by)
        bot_id = new_bot_id(service, session, contest, name)
        _require_fewer_bots(session, contest, owner_id)
        new = LiveBot(
            contest_no=contest.no,
            id=bot_id,
            user=by.user if owner is None or owner == by.user else None,
            owner_id=owner_id,
            name=name,
            registered_at=now,
            version_at=now,
            endpoint=endpoint,
            secret=None if secret is None else _encrypt_secret(service, bot_id, secret),
            **vars(described or BotDescription()),
            judges=judges,
        )
        bot = with_state(new, contest)
        _add_rows(service, session, contest, bot, by=by)
        session.arena.save_bot(bot)
        queue_next(service, session, contest)
    return bot, None if secret is None else format_secret(secret)


def _add_rows(
    service: Service,
    session: Session,
    contest: Contest,
    bot: LiveBot,
    *,
    by: Caller,
) -> None:
    """Add a new bot to the records, with its owner if that is new."""
    row = _row(bot)
    # Bots qualify at once where the rules do not require it.
    if not live_rules(contest).qualification_required:
        row["qualified_at"] = written_time(bot.registered_at)
    is_own = by.user == bot.owner_id
    network = by.network if is_own else None
    owners = owner_rows(session, contest, bot.owner_id, network=network, is_own=is_own)
    RecordImporter(service, session, contest, by, replace=True).run([*owners, ("bots", row, None)])


def _new_secret(service: Service, endpoint: str) -> bytes:
    """Return the secret of an endpoint, which answers a ping that is signed with it."""
    secret = service.random(SECRET_BYTES)
    _check(service, endpoint, secret)
    return secret


def _owner_of_new(contest: Contest, owner: str | None, *, by: Caller) -> str:
    """Return the owner of a new bot of a contest that is not over: the one named, or the caller."""
    if owner not in {None, by.user} and not permits(by, "contest.manage", contest=contest):
        raise Forbidden("only organizers register a bot for another owner; leave owner out")
    owner_id = owner or by.user
    if owner_id is None:
        raise Unreadable("the bot has no owner; set owner (or --owner) to a user or a known owner")
    require_not_over(contest)
    return owner_id


def _require_fewer_bots(session: Session, contest: Contest, owner_id: str) -> None:
    """Raise if an owner has as many bots as the rule ``bots_per_owner`` allows."""
    most = live_rules(contest).bots_per_owner
    own = [bot for bot in session.arena.bots(contest.no) if bot.owner_id == owner_id]
    if len(own) >= most:
        raise Conflict(
            f"{owner_id} has as many bots as the rule bots_per_owner allows ({most}); change the "
            f"bot {own[0].id} instead"
        )


def change(
    service: Service, contest_id: str, bot_id: str, changes: BotChanges, *, by: Caller
) -> tuple[LiveBot, str | None]:
    """Change a bot; return it, with a new secret if it had no endpoint before.

    A new version makes its rating provisional again. Taking a pause back forgets its forfeits.

    Raises:
        NotFound: there is no such bot, or it is not the caller's.
        Unreadable: the endpoint did not repeat the nonce of a ping.
        Conflict: its version or its role would change in a final contest.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        bot = own_bot(session, contest, bot_id, by=by)
    secret = None
    if changes.endpoint is not None:
        secret = service.random(SECRET_BYTES) if bot.secret is None else None
        _check(service, changes.endpoint, secret or secrets_of(service, bot)[0])
    now = service.clock()
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        bot = before = own_bot(session, contest, bot_id, by=by)
        if changes.version is not None or changes.judges is not None:
            require_not_over(contest)
        if changes.endpoint is not None:
            bot = replace(bot, endpoint=changes.endpoint)
        if secret is not None:
            bot = replace(bot, secret=_encrypt_secret(service, bot.id, secret))
        if changes.version is not None and changes.version != bot.version:
            bot = mark_version(service, session, contest, bot, changes.version, since=now, by=by)
        if changes.paused is not None:
            bot = replace(bot, paused="by its owner" if changes.paused else None, forfeits=0)
        if changes.judges is not None:
            bot = replace(bot, judges=changes.judges)
        about = {name: getattr(changes, name) for name in STATED if name != "version"}
        bot = replace(bot, **{name: text for name, text in about.items() if text is not None})
        session.arena.save_bot(with_state(bot, contest))
        if bot.judges != before.judges:
            contest = session.contests.lock(contest_id)
            save_record(service, session, contest, bot, {"is_judge": bot.judges}, by=by)
    return bot, None if secret is None else format_secret(secret)


def rotate_secret(
    service: Service, contest_id: str, bot_id: str, *, by: Caller
) -> tuple[LiveBot, str]:
    """Replace a bot's secret; requests are signed with both for a day.

    Raises:
        NotFound: there is no such bot, or it is not the caller's.
        Conflict: it has no endpoint.
    """
    secret, now = service.random(SECRET_BYTES), service.clock()
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        bot = own_bot(session, contest, bot_id, by=by)
        if bot.endpoint is None:
            raise Conflict(f"the bot {bot_id} has no endpoint, so nothing is signed; give it one")
        bot = replace(
            bot,
            secret=_encrypt_secret(service, bot.id, secret),
            old_secret=bot.secret,
            old_secret_until=now + OLD_SECRET_VALID,
        )
        session.arena.save_bot(bot)
    return bot, format_secret(secret)


def bots(
    service: Service,
    view: View,
    *,
    named: Collection[str] = (),
    after: str | None = None,
    limit: int = 100,
    by: Caller,
) -> list[LiveBot]:
    """Return a contest's bots in the order of their ids, those after an id; of all, or some ids.

    Of a frozen contest the public sees those registered before, and owners their own.

    Raises:
        Conflict: the contest is of another discipline.
    """
    live_rules(view.contest)
    visible: list[LiveBot] = []
    last = after or ""
    with service.store.read() as session:
        if named:
            some = session.arena.bots_named(view.contest.no, named).values()
            found = sorted((bot for bot in some if bot.id > last), key=lambda bot: bot.id)
            return [bot for bot in found if _is_visible(bot, view, by)][:limit]
        while page := session.arena.bots(view.contest.no, after=last, limit=limit):
            visible += [bot for bot in page if _is_visible(bot, view, by)]
            last = page[-1].id
            if len(visible) >= limit or len(page) < limit:
                break
    return visible[:limit]


def bot(service: Service, view: View, bot_id: str, *, by: Caller) -> LiveBot:
    """Return a bot.

    Raises:
        NotFound: there is no such bot, or it was registered after the freeze.
    """
    with service.store.read() as session:
        registered = session.arena.bot(view.contest.no, bot_id)
    if not _is_visible(registered, view, by):
        raise NotFound(f"the contest has no bot {bot_id!r}; list its bots")
    return registered


def _is_visible(registered: LiveBot, view: View, by: Caller) -> bool:
    return (
        is_own(registered, view.contest, by)
        or state_at(registered, last_readable_seq(view)) is not None
    )


def qualification_times(
    service: Service, view: View, registered: Sequence[LiveBot], *, by: Caller
) -> dict[str, datetime]:
    """Return when each of some bots qualified; those that have not are left out.

    Of a frozen contest the public sees who had qualified before, and owners their own bots.
    """
    own = {bot.id for bot in registered if is_own(bot, view.contest, by)}
    table = table_of(view.contest.discipline, "bots")
    times: dict[str, datetime] = {}
    with service.store.read() as session:
        for until, visible in ((None, True), (last_readable_seq(view), False)):
            keys = [
                record_key(table, {"id": bot.id})
                for bot in registered
                if (bot.id in own) is visible
            ]
            existing = session.entries.existing(
                view.contest.no, records=[key for key in keys if key is not None], until=until
            )
            for entry in existing.values():
                row = orjson.loads(entry.line)["body"]["row"]
                time = parse_time(row.get("qualified_at"))
                if time is not None:
                    times[row["id"]] = time
    return times


def is_own(registered: LiveBot, contest: Contest, by: Caller) -> bool:
    """Return whether a caller may see and change all of a bot: its owner, and organizers."""
    return permits(by, "contest.manage", contest=contest) or (
        by.user is not None and by.user in {registered.user, registered.owner_id}
    )


def own_bot(session: Session, contest: Contest, bot_id: str, *, by: Caller) -> LiveBot:
    """Return a bot that the caller may change.

    Raises:
        NotFound: there is no such bot, or it is not the caller's.
    """
    registered = session.arena.bot(contest.no, bot_id)
    if not is_own(registered, contest, by):
        raise NotFound(f"you have no bot {bot_id!r} in {contest.id}; list its bots")
    return registered


def eligibility(service: Service, view: View, bot_id: str, *, by: Caller) -> tuple[str, ...]:
    """Return what keeps a bot from judging, in the words of the rules; empty: it may judge.

    Of a frozen contest an owner sees what the scores were at the freeze.

    Raises:
        NotFound: there is no such bot, or it is not the caller's.
    """
    contest = view.contest
    with service.store.read() as session:
        own_bot(session, contest, bot_id, by=by)
    with (
        scored_arena(service, contest, at=last_readable_seq(view)) as (scored, _),
        service.store.read() as session,
    ):
        answer = judge_obstacles(session, contest, bot_id, scored=scored, at=service.clock())
    return (NOT_QUALIFIED,) if answer is None else answer


def secrets_of(service: Service, registered: LiveBot) -> tuple[bytes, ...]:
    """Return the secrets that sign requests to a bot, the newest first."""
    sealed = [registered.secret]
    until = registered.old_secret_until
    if until is not None and service.clock() < until:
        sealed.append(registered.old_secret)
    return tuple(
        decrypt(secret, server_key=service.network_key, webhook_id=registered.id)
        for secret in sealed
        if secret is not None
    )


def save_record(
    service: Service,
    session: Session,
    contest: Contest,
    registered: LiveBot,
    columns: Mapping[str, Any],
    *,
    by: Caller,
) -> None:
    """Replace the record of a bot by one with some other columns; the contest is locked."""
    row = {**_stored_row(session, contest, registered), **columns}
    RecordImporter(service, session, contest, by, replace=True).run([("bots", row, None)])


def _check(service: Service, endpoint: str, secret: bytes) -> None:
    if not service.network_key:
        raise Unavailable("this server has no key to encrypt secrets with; set server_key_file")
    if service.check_endpoint is None:
        raise Unavailable("this server sends nothing to bots; register the bot without an endpoint")
    service.check_endpoint(endpoint, secret)


def _encrypt_secret(service: Service, bot_id: str, secret: bytes) -> bytes:
    nonce = service.random(NONCE_BYTES)
    return encrypt(secret, server_key=service.network_key, webhook_id=bot_id, nonce=nonce)


def _row(registered: LiveBot) -> dict[str, Any]:
    return {
        "id": registered.id,
        "owner_id": registered.owner_id,
        "name": registered.name,
        "is_judge": registered.judges,
    }


def _stored_row(session: Session, contest: Contest, registered: LiveBot) -> dict[str, Any]:
    row = newest_row(session, contest, "bots", registered.id)
    return _row(registered) if row is None else row
