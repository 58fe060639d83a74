"""Settle a round: reveal its seed, record matches and votes, count forfeits."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from agon.app.access.permissions import SYSTEM
from agon.app.arena.live.beginning import seed_of
from agon.app.arena.live.entrants.bot_states import with_state
from agon.app.arena.live.entrants.bots import save_record
from agon.app.arena.live.entrants.owners import newest_row
from agon.app.arena.live.entrants.versions import mark_stated_versions
from agon.app.arena.live.honeypots.memory import remember_round
from agon.app.arena.live.matches import SIDES, matches_of, side_of
from agon.app.contests.ingest.records import RecordImporter
from agon.app.contests.ledgers.append import append
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.disciplines.arena.rounds.commitment import drawing_seed
from agon.disciplines.arena.rounds.round import METHOD
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import NOT_RECORDED, ArenaRound, LiveBot
from agon.entities.contests import Contest, Event
from agon.kernel.fingerprints import sha256
from agon.kernel.times import written_time
from agon.ledger.entry import Draft
from agon.store.session import Session

PAUSED: Final = "bot-paused"
"""The kind of the event by which the owner of a bot and organizers learn that it is paused."""

_FAULT_COLUMNS = ("bot", "owner", "code", "detail")


def settle(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> ArenaRound:
    """Append the draw, the outcome and the records of a round; return the settled round.

    All of it is stored in the session, and the state of the bots with it.
    """
    body, seed = dict(arena_round.body), seed_of(service, contest, arena_round)
    result = {
        "head": body["head"],
        "seq": body["seq"],
        "inputs": body["inputs"],
        **body["draw"],
    }
    drafts = [
        Draft(
            kind="draw-made",
            body={
                "purpose": f"round {arena_round.id}",
                "seed": seed,
                "method": METHOD,
                "inputs_sha256": sha256(body["inputs"]),
                "result": result,
            },
            at=service.clock(),
            by=body["by"],
        ),
        Draft(
            kind="round-settled",
            body={"round": arena_round.id, "outcome": outcome_of(arena_round)},
            at=service.clock(),
            by=body["by"],
        ),
    ]
    contest = append(service, session, contest, drafts)
    if arena_round.kind == "round":
        rows = _rows(session, contest, arena_round, drawing_seed(seed, body["head"]))
        if rows:
            RecordImporter(service, session, contest, SYSTEM, replace=False).run(rows)
        _count_forfeits(service, session, contest, arena_round)
        remember_round(session, contest, arena_round)
        body["again"] = [
            (drawn["bot_a"], drawn["bot_b"])
            for drawn, match in matches_of(arena_round)
            if match["outcome"] == "again"
        ]
    else:
        _settle_qualification(service, session, contest, arena_round)
    _count_audits(session, arena_round)
    mark_stated_versions(service, session, contest, arena_round)
    seq = session.contests.get(contest.id).seq
    return replace(arena_round, phase="settled", body=body, settled_seq=seq)


def outcome_of(arena_round: ArenaRound) -> dict[str, Any]:
    """Return the content of the entry ``round-settled``."""
    matches = []
    for drawn, match in matches_of(arena_round):
        stated: dict[str, Any] = {
            "match": drawn["match"],
            "outcome": match["outcome"] or result_of(drawn),
            "faults": [
                {"side": fault["side"], **{name: fault[name] for name in _FAULT_COLUMNS}}
                for fault in match["faults"]
            ],
            "replaced": match["replaced"],
            "cut": [side for side in SIDES if match["answers"].get(side, {}).get("cut")],
        }
        for name in (
            "exchanges",
            "audit_exchanges",
            "audit_missed",
            "honeypot_text",
            "unjudged",
            "undecided",
            "kept",
            "copies",
        ):
            if name in match:
                stated[name] = match[name]
        if arena_round.kind == "qualification":
            stated["votes"] = match["votes"]
            stated["picked"] = winner_of(match["votes"])
        matches.append(stated)
    outcome = {
        "kind": arena_round.kind,
        "waiting": arena_round.body["draw"]["waiting"],
        "degraded": arena_round.body.get("degraded", False),
        "matches": matches,
    }
    # "asked": the reserves that were asked, in this order, each with its match
    outcome |= {
        name: arena_round.body[name]
        for name in ("honeypot_lengths", "asked")
        if name in arena_round.body
    }
    return outcome


def result_of(drawn: Mapping[str, Any]) -> str:
    """Return the kind of a match that was judged."""
    if drawn["bot_b"] is None:
        return "qualification"
    return "rated" if drawn["honeypot_real"] is None else "honeypot"


def winner_of(votes: list[dict[str, Any]]) -> str:
    """Return the side with most votes; ``tie`` without a single most.

    Example:
        >>> winner_of([{"shown_first": "b", "vote": "A"}])
        'b'
    """
    counts = {"a": 0, "b": 0}
    for vote in votes:
        if vote["vote"] != "tie":
            counts[side_of(vote)] += 1
    if counts["a"] == counts["b"]:
        return "tie"
    return "a" if counts["a"] > counts["b"] else "b"


def _rows(
    session: Session, contest: Contest, arena_round: ArenaRound, seed: str
) -> list[tuple[str, dict[str, Any], None]]:
    """Return the records of a round: models that judged, matches, votes."""
    judges, matches, votes = [], [], []
    for drawn, match in matches_of(arena_round):
        if match["outcome"] in NOT_RECORDED:
            continue
        real, texts = drawn["honeypot_real"], match["answers"]
        honeypot = real is not None and match["outcome"] is None
        row: dict[str, Any] = {
            "id": drawn["match"],
            "played_at": arena_round.body["at"],
            "prompt_id": drawn["prompt"],
            "kind": "skipped" if match["outcome"] == "skipped" else result_of(drawn),
            "draw_seed": seed,
        }
        for side in SIDES:
            robotic = honeypot and side != real
            row[f"bot_{side}"] = None if robotic else drawn[f"bot_{side}"]
            if side in texts:
                row[f"response_{side}"] = texts[side]["text"]
        if honeypot:
            row["honeypot_real"] = real
        if match["outcome"] == "loss":
            # The bot that failed loses by rule; a loss counts like a match that was judged.
            row["kind"] = "rated"
            row["winner"] = "b" if match["faults"][0]["side"] == "a" else "a"
        if "audit" in match:
            row["audit_verdict"] = match["audit"]
        matches.append(row)
        for vote in match["votes"]:
            votes.append({"match_id": drawn["match"], **vote})
            if match["api"] and newest_row(session, contest, "judges", vote["judge_id"]) is None:
                judges.append({"id": vote["judge_id"], "kind": "api"})
    unique = {row["id"]: row for row in judges}
    tables = (("judges", list(unique.values())), ("matches", matches), ("votes", votes))
    return [(table, row, None) for table, rows in tables for row in rows]


def _count_audits(session: Session, arena_round: ArenaRound) -> None:
    """Add the audits of matches that models judged to the measurements of those models."""
    for _, match in matches_of(arena_round):
        if not match["api"] or match.get("audit") not in SIDES:
            continue
        for vote in match["votes"]:
            agrees = winner_of([vote]) == match["audit"]
            session.judging.add_count(vote["judge_id"], "audit", successes=int(agrees), trials=1)


def is_uncounted(match: Mapping[str, Any]) -> bool:
    """Return whether an attempt to qualify failed by the network or the service."""
    others = any(fault["owner"] != "bot" for fault in match["faults"])
    return match["outcome"] == "again" or others


def _settle_qualification(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> None:
    """Qualify a bot whose answer was picked; a failed judge or network is no attempt."""
    ((drawn, match),) = tuple(matches_of(arena_round))
    bot = session.arena.bot(contest.no, drawn["bot_a"])
    if is_uncounted(match):
        session.arena.save_bot(replace(bot, attempted_at=None))
    elif match["outcome"] is None and winner_of(match["votes"]) == "a":
        contest = session.contests.lock(contest.id)
        time = {"qualified_at": written_time(service.clock())}
        save_record(service, session, contest, bot, time, by=SYSTEM)


def _count_forfeits(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> None:
    """Count the forfeits of each bot in a row, and pause those with too many.

    The owner of a paused bot and the organizers get an event.
    """
    rules = ArenaRules(**arena_round.body["rules"])
    playing = {drawn[f"bot_{side}"] for drawn, _ in matches_of(arena_round) for side in SIDES} - {
        None
    }
    bots = session.arena.bots_named(contest.no, playing)
    for drawn, match in matches_of(arena_round):
        if match["outcome"] == "again":
            continue
        for side in SIDES:
            codes = [fault["code"] for fault in match["faults"] if fault["side"] == side]
            before = bots.get(drawn[f"bot_{side}"])
            if before is None:
                continue
            bot = replace(before, forfeits=before.forfeits + 1 if codes else 0)
            if bot.forfeits >= rules.forfeits_paused and bot.paused is None:
                bot = _pause(service, session, contest, bot, code=codes[0])
            if bot != before:
                session.arena.save_bot(bot)


def _pause(
    service: Service, session: Session, contest: Contest, bot: LiveBot, *, code: str
) -> LiveBot:
    cause = (
        f"{bot.forfeits} forfeits in a row, the last with {code}; "
        "repair the bot and set paused to false"
    )
    event = Event(
        no=0,
        contest_no=contest.no,
        seq=contest.seq,
        at=service.clock(),
        kind=PAUSED,
        body={"bot": bot.id, "name": bot.name, "forfeits": bot.forfeits, "cause": cause},
        staff=True,
        user=bot.user or bot.owner_id,
    )
    announce(service, session, event)
    return with_state(replace(bot, paused=cause), contest)
