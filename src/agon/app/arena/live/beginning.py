"""Begin a round: commit to its seed, then draw it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.arena.live.entrants.eligibility import absences
from agon.app.arena.live.entrants.people import new_people, record_people, shared_networks
from agon.app.arena.live.honeypots.bank import retire_missing
from agon.app.arena.live.matches import match_in_work
from agon.app.arena.live.names import next_name, played_elsewhere
from agon.app.arena.live.schedule import queue_next
from agon.app.arena.live.scored import arena_records, live_rules
from agon.app.contests.ledgers.append import append
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.queue.jobs import round_job
from agon.app.service import Service
from agon.app.webhooks.secrets import NONCE_BYTES, decrypt, encrypt
from agon.disciplines.arena.checks.accounts import networks_of_owners
from agon.disciplines.arena.pool import is_newcomer
from agon.disciplines.arena.rounds.commitment import commitment, drawing_seed
from agon.disciplines.arena.rounds.round import (
    METHOD,
    Judge,
    RoundInputs,
    draw_qualification,
    draw_round,
    entrants_of,
    judges_of,
)
from agon.disciplines.arena.rounds.spread import History, PastRound, histories_of
from agon.disciplines.arena.rounds.weak_answers import draw_weak_bot
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, LiveBot, RoundKind
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
        present = session.arena.present(contest.no, since=now - PRESENT)
        by_id, withdrawn = {bot.id: bot for bot in bots}, session.members.withdrawn(contest.no)
    asked = {*by_id, *(judge.id for judge in present)}
    judging = {name for name in asked if not absences(name, by_id.get(name), withdrawn=withdrawn)}
    bots = [bot for bot in bots if not withdrawn & {bot.user, bot.owner_id}]
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
    issues = _issues(session, contest, last, scores)
    if issues:
        if automatic:
            return {"round": None, "cause": "; ".join(issues)}
        raise Conflict(_no_round(issues))
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


def seed_of(service: Service, contest: Contest, of: ArenaRound) -> str:
    """Return the seed of a round."""
    name = f"{contest.id}/{of.id}"
    return decrypt(of.seed, server_key=service.network_key, webhook_id=name).decode()


def draw(service: Service, session: Session, contest: Contest, of: ArenaRound) -> ArenaRound:
    """Return a committed round with its draw, which follows from seed, head and inputs alone."""
    body, rules = dict(of.body), ArenaRules(**of.body["rules"])
    secret = seed_of(service, contest, of)
    seed = drawing_seed(secret, body["head"])
    if of.kind == "qualification":
        drawn = draw_qualification(body["inputs"], seed=seed, rules=rules)
        body["matches"] = [_qualification(session, contest, drawn["matches"][0])]
        return replace(of, body={**body, "draw": drawn})
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
    return replace(of, body=body)


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
    round is by the same list; only the model is known from this process's settings.

    Raises:
        Conflict: the contest is not an arena.
    """
    if last_readable_seq(view) is not None:
        return ()
    scores = read_scores(service, view.contest.id, has_model=service.has_model_judge)
    with service.store.read() as session:
        contest = session.contests.get(view.contest.id)
        return _issues(session, contest, session.arena.rounds(contest.no, limit=1), scores)


def require_round(service: Service, view: View) -> None:
    """Raise unless a round can begin now.

    Raises:
        Conflict: with everything that is missing.
    """
    if issues := missing_for_round(service, view):
        raise Conflict(_no_round(issues))


def _no_round(issues: Iterable[str]) -> str:
    return f"no round can begin: {'; '.join(issues)}"


def _issues(
    session: Session,
    contest: Contest,
    last: list[ArenaRound],
    scores: Mapping[str, Any],
) -> tuple[str, ...]:
    """Return why no round can begin: what ends all rounds alone, or all that is missing."""
    if contest.state == "final":
        return (f"contest {contest.id} is final; no more rounds are drawn",)
    elsewhere = played_elsewhere(session, contest)
    if elsewhere is not None:
        return (elsewhere,)
    if last and last[0].phase != "settled":
        return (f"round {last[0].id} is being played; wait until it is settled",)
    rules, bots = live_rules(contest), session.arena.bots(contest.no)
    checks = (_missing_bots(bots, scores, rules), _missing_prompts(session, contest),
              _missing_judges(scores, rules))  # fmt: skip
    return tuple(issue for issue in checks if issue is not None)


def _missing_bots(
    bots: Sequence[LiveBot], scores: Mapping[str, Any], rules: ArenaRules
) -> str | None:
    owners = {entrant["owner_id"] or entrant["id"] for entrant in scores["entrants"]}
    if len(owners) >= 2:  # noqa: PLR2004 - a match has two bots
        return None
    ready = {entrant["id"] for entrant in scores["entrants"]}
    paused = [bot.id for bot in bots if bot.paused is not None]
    waiting = [bot.id for bot in bots if bot.paused is None and bot.id not in ready]
    what = "qualified bots" if rules.qualification_required else "bots"
    steps = ["register bots" if len({bot.owner_id for bot in bots}) < 2 else ""]  # noqa: PLR2004 - as above
    if waiting:
        steps.append(f"let these qualify: {_some(waiting)}")
    if paused:
        steps.append(f"end the pause of {_some(paused)}")
    remedy = "; ".join(filter(None, steps)) or "register a bot of another owner"
    return f"{what} of two owners are needed, there are those of {len(owners)}; {remedy}"


def _some(names: Sequence[str], *, most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _missing_prompts(session: Session, contest: Contest) -> str | None:
    if any(not prompt.retired for prompt in session.arena.prompts(contest.no)):
        return None
    return f"there are no prompts; add some with agon arena prompts {contest.id} FILE"


def _missing_judges(scores: Mapping[str, Any], rules: ArenaRules) -> str | None:
    needed, newcomers = rules.judges_per_match, len(scores["newcomers"])
    can_judge = len(scores["judges"]) - max(0, newcomers - rules.newcomers_per_panel)
    if can_judge >= needed or scores["has_model"]:
        return None
    judges = "judge" if needed == 1 else "judges"
    return (
        f"a match needs {needed} {judges}, {can_judge} can judge now, and no model is configured; "
        "let people open the page Vote (or ask for work), let bots that judge qualify, or "
        "configure [arena.judge]"
    )


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
