"""Begin a round: commit to its seed, then draw it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.arena.live.entrants.eligibility import absences
from agon.app.arena.live.entrants.people import new_people, record_people, shared_networks
from agon.app.arena.live.honeypots.bank import retire_missing
from agon.app.arena.live.matches import match_in_work
from agon.app.arena.live.missing import (
    Available,
    available_by,
    bars_to_round,
    lacks_of_round,
    no_round_text,
)
from agon.app.arena.live.names import next_name
from agon.app.arena.live.scored import arena_records, live_rules, newest_records
from agon.app.contests.ledgers.append import append
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.queue.jobs import round_job
from agon.app.queue.rounds import queue_next
from agon.app.service import Service
from agon.app.webhooks.secrets import NONCE_BYTES, decrypt, encrypt
from agon.disciplines.arena.checks.accounts import networks_of_owners
from agon.disciplines.arena.facts import bots_of
from agon.disciplines.arena.judges.pool import is_newcomer
from agon.disciplines.arena.rounds.commitment import commitment, drawing_seed
from agon.disciplines.arena.rounds.round import (
    METHOD,
    Judge,
    RoundInputs,
    draw_qualification,
    draw_round,
    entrants_of,
    judges_of,
    owners_of_qualified,
)
from agon.disciplines.arena.rounds.spread import History, PastRound, histories_of
from agon.disciplines.arena.rounds.weak_answers import draw_weak_bot
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, LiveBot, Presence, RoundKind
from agon.entities.contests import Contest
from agon.errors import Conflict
from agon.kernel.times import written_time
from agon.ledger.entry import Draft
from agon.store.session import Session

PRESENT: Final = timedelta(minutes=15)
"""How long a person counts as present after asking for work."""

_SEED_BYTES: Final = 16


def read_scores(service: Service, contest_id: str, *, has_model: bool) -> dict[str, Any]:
    """Return who can play and judge by the newest scores; the outcome of a job that begins a round.

    Raises:
        Conflict: the contest is not an arena.
    """
    now = service.clock()
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        live_rules(contest)
        bots = session.arena.bots(contest.no)
        present = session.arena.present(contest.no, since=now - PRESENT, until=now + PRESENT)
        withdrawn = session.members.withdrawn(contest.no)
    judging = _possible_judges(bots, present, withdrawn)
    bots = _without_withdrawn(bots, withdrawn)
    playing = [bot.id for bot in bots if bot.paused is None]
    with arena_records(service, contest) as (scored, records, seq):
        entrants = entrants_of(scored, playing)
        with service.store.read() as session:
            new = new_people(
                session, contest, scored, [judge for judge in present if judge.id in judging]
            )
        judges = judges_of(scored, judging, at=now, new=new)
        rules = scored.rules
        accounts = networks_of_owners(records) if rules.network_guard else {}
    owners = {bot.owner_id for bot in bots}
    asked_from = {judge.id: judge.network for judge in present}
    return {
        "entrants": [vars(entrant) for entrant in entrants],
        "judges": [vars(Judge(judge.id, judge.owner_id)) for judge in judges],
        "networks": shared_networks(accounts, asked_from, owners=owners, judges=judges)
        if rules.network_guard
        else {},
        "newcomers": [judge.id for judge in judges if is_newcomer(judge, rules=rules)],
        "people": {judge.id: asked_from.get(judge.id) for judge in judges if judge.is_person},
        "credibility": {judge.id: judge.credibility for judge in judges},
        "has_model": has_model,
        "at": written_time(now),
        "seq": seq,
    }


def _without_withdrawn(bots: Iterable[LiveBot], withdrawn: Collection[str]) -> list[LiveBot]:
    """Return the bots whose user and owner were not withdrawn."""
    return [bot for bot in bots if not bot.is_of(withdrawn)]


def _possible_judges(
    bots: Iterable[LiveBot], present: Iterable[Presence], withdrawn: Collection[str]
) -> set[str]:
    """Return the bots and the people present that could judge as far as no record shows it."""
    by_id = {bot.id: bot for bot in bots}
    asked = {*by_id, *(judge.id for judge in present)}
    return {name for name in asked if not absences(name, by_id.get(name), withdrawn=withdrawn)}


def commit_round(
    service: Service,
    session: Session,
    contest_id: str,
    scores: Mapping[str, Any],
    *,
    automatic: bool = False,
    by: str,
) -> Mapping[str, Any]:
    """Commit to the seed of the next round, and queue its draw; return the job's result.

    An automatic round that cannot begin is left out: one is being played, or there are no pairs.

    Raises:
        Conflict: a round is being played, the contest is final, or it has no prompts.
    """
    contest = session.contests.lock(contest_id)
    queue_next(service, session, contest)
    last = session.arena.rounds(contest.no, limit=1)
    issues = bars_to_round(session, contest, last) or lacks_of_round(
        session, contest, available_by(scores)
    )
    if issues:
        if automatic:
            return {"round": None, "cause": "; ".join(issues)}
        raise Conflict(no_round_text(issues))
    contest = record_people(service, session, contest, scores["people"])
    contest = retire_missing(service, session, contest)
    number, name = next_name(session, contest, "round")
    body = {
        "at": scores["at"],
        "seq": scores["seq"],
        "rules": live_rules(contest).model_dump(mode="json"),
        "credibility": scores["credibility"],
        "inputs": _inputs(session, contest, name, scores, last).as_json(),
    }
    return commit(service, session, contest, "round", number, body, by=by)


def commit(
    service: Service,
    session: Session,
    contest: Contest,
    kind: RoundKind,
    number: int,
    body: Mapping[str, Any],
    *,
    by: str,
) -> Mapping[str, Any]:
    """Append the commitment to a new seed, store it encrypted, and queue the draw."""
    seed, now = service.random(_SEED_BYTES).hex(), service.clock()
    name = body["inputs"]["name"]
    draft = Draft(
        kind="draw-committed",
        body={"round": name, "commitment": commitment(seed), "method": METHOD},
        at=now,
        by=by,
    )
    head = contest.head.hex()
    committed_seq = append(service, session, contest, [draft]).seq
    session.arena.save_round(
        ArenaRound(
            contest_no=contest.no,
            id=name,
            number=number,
            kind=kind,
            phase="committed",
            seed=encrypt(
                seed.encode(),
                server_key=service.network_key,
                webhook_id=f"{contest.id}/{name}",
                nonce=service.random(NONCE_BYTES),
            ),
            body={**body, "head": head, "by": by, "committed_seq": committed_seq},
            began_at=now,
        )
    )
    session.queue.add(round_job(contest, id=service.new_id(), round_id=name), now=now)
    return {"round": name}


def seed_of(service: Service, contest: Contest, arena_round: ArenaRound) -> str:
    """Decrypt the seed of a round, which stays secret until the round is settled."""
    name = f"{contest.id}/{arena_round.id}"
    return decrypt(arena_round.seed, server_key=service.network_key, webhook_id=name).decode()


def draw(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> ArenaRound:
    """Return a committed round with its draw, which follows from seed, head and inputs alone."""
    body, rules = dict(arena_round.body), ArenaRules(**arena_round.body["rules"])
    secret = seed_of(service, contest, arena_round)
    seed = drawing_seed(secret, body["head"])
    if arena_round.kind == "qualification":
        drawn = draw_qualification(body["inputs"], seed=seed, rules=rules)
        body["matches"] = [_qualification(session, contest, drawn["matches"][0])]
        return replace(arena_round, body={**body, "draw": drawn})
    inputs = RoundInputs.from_json(body["inputs"])
    drawn = draw_round(inputs, seed=seed, rules=rules)
    texts = {prompt.id: prompt.text for prompt in session.arena.prompts(contest.no)}
    body["draw"] = drawn
    body["matches"] = [
        {**_match(match, texts), **_weak(match, bot, secret)}
        for match in drawn["matches"]
        for bot in (draw_weak_bot(inputs, match, seed=seed, rules=rules),)
    ]
    _remember_prompts(session, contest, drawn["matches"], count=rules.prompts_unseen)
    return replace(arena_round, body=body)


def _qualification(session: Session, contest: Contest, drawn: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored of an attempt to qualify; the person's answer is there already."""
    answers = {answer.id: answer for answer in session.arena.human_answers(contest.no)}
    human = answers[drawn["human"]]
    drawn["prompt"] = human.prompt_id
    texts = {prompt.id: prompt.text for prompt in session.arena.prompts(contest.no)}
    return {**_match(drawn, texts), "answers": {"b": {"text": human.text}}}


def _match(drawn: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return what is stored of a match while it is played."""
    return {
        "match": drawn["match"],
        "text": texts[drawn["prompt"]],
        "answers": {},
        "faults": [],
        "panel": list(drawn["judges"]),
        "api": drawn["api"],
        "votes": [],
        "replaced": [],
        "outcome": None,
    }


def _weak(drawn: Mapping[str, Any], bot: str | None, secret: str) -> dict[str, Any]:
    """Return what is stored of the weak bot that is asked besides for a honeypot, if one is."""
    if bot is None:
        return {}
    return {"weak": {"bot": bot, "named": match_in_work(secret, drawn["match"], bot)}}


def missing_for_round(service: Service, view: View) -> tuple[str, ...]:
    """Return everything that is missing for the next round, in the order in which to get it.

    Empty: a round can begin now, or a freeze hides whether. What a worker misses when it begins the
    round is by the same list; only the model is known from this process's settings. The contest is
    scored only where the answer depends on scores: pages and programs ask after every entry.

    Raises:
        Conflict: the contest is not an arena.
    """
    if last_readable_seq(view) is not None:
        return ()
    with service.store.read() as session:
        contest = session.contests.get(view.contest.id)
        live_rules(contest)
        if bars := bars_to_round(session, contest, session.arena.rounds(contest.no, limit=1)):
            return bars
        bots = session.arena.bots(contest.no)
        now = service.clock()
        present = session.arena.present(contest.no, since=now - PRESENT, until=now + PRESENT)
        withdrawn = session.members.withdrawn(contest.no)
    if service.has_model_judge or not _possible_judges(bots, present, withdrawn):
        playing = {bot.id for bot in _without_withdrawn(bots, withdrawn) if bot.paused is None}
        with newest_records(service, contest) as records:
            ready = owners_of_qualified(bots_of(records), playing)
        available = Available(ready, judges=0, newcomers=0, has_model=service.has_model_judge)
    else:
        available = available_by(read_scores(service, contest.id, has_model=False))
    with service.store.read() as session:
        return lacks_of_round(session, contest, available)


def require_round(service: Service, view: View) -> None:
    """Raise unless a round can begin now.

    Raises:
        Conflict: with everything that is missing.
    """
    if issues := missing_for_round(service, view):
        raise Conflict(no_round_text(issues))


def _inputs(
    session: Session,
    contest: Contest,
    name: str,
    scores: Mapping[str, Any],
    last: Iterable[ArenaRound],
) -> RoundInputs:
    bots = {bot.id: bot for bot in session.arena.bots(contest.no)}
    before: Mapping[str, Any] = next((newest.body for newest in last), {})
    value = {
        "name": name,
        "at": scores["at"],
        "entrants": scores["entrants"],
        "judges": scores["judges"],
        "prompts": [
            prompt.id for prompt in session.arena.prompts(contest.no) if not prompt.retired
        ],
        "recent_prompts": {
            entrant["id"]: bots[entrant["id"]].recent_prompts
            for entrant in scores["entrants"]
            if entrant["id"] in bots
        },
        "histories": {},
        "again": before.get("again", []),
        "networks": scores["networks"],
        "newcomers": scores["newcomers"],
    }
    return replace(RoundInputs.from_json(value), histories=_histories(before))


def _histories(before: Mapping[str, Any]) -> dict[str, History]:
    """Return the past rounds of each bot: those before the last round, and the last round."""
    if not before:
        return {}
    drawn = before["draw"]
    past = PastRound(
        [(match["bot_a"], match["bot_b"]) for match in drawn["matches"]], drawn["waiting"]
    )
    return histories_of([past], since=RoundInputs.from_json(before["inputs"]).histories)


def _remember_prompts(
    session: Session, contest: Contest, matches: Iterable[Mapping[str, Any]], *, count: int
) -> None:
    """Store the last prompts of the bots that play."""
    prompts = {
        match[side]: match["prompt"]
        for match in matches
        for side in ("bot_a", "bot_b")
        if match[side] is not None
    }
    bots = session.arena.bots_named(contest.no, prompts)
    recent = {
        name: (*bot.recent_prompts, prompts[name])[-count:] if count else ()
        for name, bot in bots.items()
    }
    session.arena.set_recent_prompts(contest.no, recent)
