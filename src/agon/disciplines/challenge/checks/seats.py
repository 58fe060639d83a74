"""Check who is paid: changed and shared seats, the burn, votes without stake, small weights."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from agon.disciplines.challenge.bittensor import left_out_of_payload, left_out_text
from agon.disciplines.challenge.boards import weights_board
from agon.disciplines.challenge.consensus import Reports
from agon.disciplines.challenge.facts import Facts, Seats
from agon.disciplines.challenge.outcome import Outcome, outcome_of
from agon.disciplines.challenge.reasons import number
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.rounding import publish
from agon.kernel.text.captions import count_text
from agon.records import Records

_NAMED = 5
"""Maximum number of submissions or uids that a message names."""

_NO_SEATS = Seats(*(np.zeros(0, dtype=np.int64),) * 3)


def changed_seats(outcome: Outcome | None) -> Iterator[Finding]:
    """Report uids whose hotkey changed, with what they would be paid for all that they submitted.

    The comparison takes the uid for the miner, as records without hotkeys do.
    """
    if outcome is None or not len(outcome.network.facts.seats.epochs):
        return
    facts = outcome.network.facts
    former = _formerly_of(outcome)
    if not former:
        return
    paid = _weights(outcome)
    by_uid = _weights(outcome_of(_without_seats(facts), outcome.network.rules))
    for uid, submissions in sorted(former.items()):
        names = [facts.submissions.ids[index] for index in submissions]
        owners = {int(facts.submissions.owners[index]) for index in submissions}
        keys = sorted(facts.submissions.owner_name(owner) for owner in owners)
        now, then = paid.get(uid, 0.0), by_uid.get(uid, 0.0)
        yield Finding(
            "seat-changed-hands",
            Severity.WARNING if abs(then - now) > publish(0.5e-6) else Severity.INFO,
            (str(uid),),
            "weight by uid alone",
            publish(then),
            publish(now),
            None,
            f"uid {uid} is no longer that of {', '.join(keys)}: by uid alone it would get "
            f"{number(then)} for what they submitted; it gets {number(now)}",
            (RecordRefs.of("submissions", names),),
        )


def _formerly_of(outcome: Outcome) -> dict[int, list[int]]:
    """Return by uid the submissions of hotkeys that held it and hold it no more.

    Such a hotkey has left the network, or moved to another uid.
    """
    facts, uids = outcome.network.facts, outcome.consensus.uids
    held = facts.seats.epochs <= outcome.epoch
    seats = np.column_stack([facts.seats.uids[held], facts.seats.hotkeys[held]])
    former: dict[int, list[int]] = {}
    for uid, hotkey in np.unique(seats[seats[:, 0] >= 0], axis=0).tolist():
        left = np.flatnonzero((facts.submissions.hotkeys == hotkey) & (uids != uid)).tolist()
        if left:
            former[uid] = sorted(former.get(uid, []) + left)
    return former


def _without_seats(facts: Facts) -> Facts:
    """Return the facts in which the uid is the miner."""
    alone = np.full(len(facts.submissions), -1, dtype=np.int64)
    submissions = replace(facts.submissions, hotkeys=alone, hotkey_names=[])
    return replace(facts, submissions=submissions, seats=_NO_SEATS)


def _weights(outcome: Outcome) -> dict[int, float]:
    """Return the weight of each uid on the board."""
    return {int(row["id"]): float(row["weight"]) for row in weights_board(outcome).rows()}


def shared_uids(records: Records) -> Iterator[Finding]:
    """Report uids for which several hotkeys submitted, where no registrations say whose they are.

    A uid is the seat of one hotkey at a time; without registrations it is taken for the miner.
    """
    if records.sql("SELECT 1 FROM registrations LIMIT 1").num_rows:
        return
    rows = records.sql(
        "SELECT miner_uid AS uid, miner_hotkey::VARCHAR AS hotkey, id::VARCHAR AS id "
        "FROM submissions WHERE miner_hotkey::VARCHAR <> '' ORDER BY uid, hotkey, id"
    ).to_pylist()
    for uid, group in groupby(rows, key=itemgetter("uid")):
        own = list(group)
        keys = list(dict.fromkeys(row["hotkey"] for row in own))
        if len(keys) == 1:
            continue
        more = f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else ""
        yield Finding(
            "shared-uid",
            Severity.WARNING,
            (str(uid),),
            "hotkeys of one uid",
            float(len(keys)),
            1.0,
            None,
            f"uid {uid} has submissions of several hotkeys, {', '.join(keys[:_NAMED])}{more}, and "
            "no registrations say which of them holds it when: it is paid for the best of all; "
            "give the table registrations",
            (RecordRefs.of("submissions", [row["id"] for row in own]),),
        )


def burn_to_miner(outcome: Outcome | None) -> Iterator[Finding]:
    """Report that the uid of the burn has scores of its own: a miner is paid what burns."""
    if outcome is None or not outcome.allocation.own > 0:
        return
    uid, allocation = outcome.network.rules.burn_uid, outcome.allocation
    names = [
        outcome.submissions.ids[index]
        for index in outcome.of_miner.get(uid, ())
        if outcome.consensus.scored[index]
    ]
    yield Finding(
        "burn-to-miner",
        Severity.WARNING,
        (str(uid),),
        "weight of the burn's uid",
        publish(allocation.burn),
        publish(allocation.own),
        None,
        f"uid {uid} gets what burns (burn_uid), and is a miner: it gets "
        f"{number(allocation.burn)}, of which its scores earned {number(allocation.own)}; name the "
        "uid of the subnet's owner",
        (RecordRefs.of("submissions", names),),
    )


def votes_without_stake(
    facts: Facts, reports: Reports, outcome: Outcome | None
) -> Iterator[Finding]:
    """Report validators without stake whose evaluations would change, or changed, a score.

    Where no validator has stake, nothing has a score (``outcome`` is None), and all are named.
    """
    if outcome is None:
        if len(facts.evaluations.epochs):
            yield _no_stake(facts, reports)
        return
    rules = outcome.network.rules
    idle = np.flatnonzero(reports.registered & (reports.stakes == 0))
    evaluated = np.isin(facts.evaluations.validators, idle)
    evaluated &= facts.evaluations.epochs <= outcome.epoch
    voters = np.unique(facts.evaluations.validators[evaluated]).tolist()
    if not voters:
        return
    counts = not rules.zero_stake_counts
    other = outcome_of(facts, rules.override({"zero_stake_counts": counts, "epoch": outcome.epoch}))
    moved = np.flatnonzero(
        (other.consensus.status != outcome.consensus.status)
        | (np.abs(other.consensus.scores - outcome.consensus.scores) > publish(0.5e-6))
    )
    if not len(moved):
        return
    names = [facts.submissions.ids[index] for index in moved.tolist()]
    people = [facts.validators[index] for index in voters]
    verb = "would change" if counts else "changed"
    yield Finding(
        "zero-stake",
        Severity.WARNING,
        tuple(people),
        "scores that differ",
        float(len(moved)),
        0.0,
        None,
        f"{count_text(len(people), 'validator')} without stake at epoch {outcome.epoch} reported; "
        f"to count them {verb} the score of {', '.join(names[:_NAMED])}"
        f"{f' and {len(names) - _NAMED:,} more' if len(names) > _NAMED else ''} "
        "(zero_stake_counts)",
        (RecordRefs.of("validators", people), RecordRefs.of("submissions", names)),
    )


def dust(outcome: Outcome | None) -> Iterator[Finding]:
    """Report uids whose weight is above 0 and too small for the payload, which leaves them out."""
    if outcome is None:
        return
    lost = left_out_of_payload(weights_board(outcome))
    if not lost:
        return
    yield Finding(
        "dust",
        Severity.INFO,
        tuple(str(uid) for uid in lost),
        "weights that become 0",
        float(len(lost)),
        0.0,
        None,
        left_out_text(lost),
    )


def _no_stake(facts: Facts, reports: Reports) -> Finding:
    """Return the finding that no validator has stake at the epoch that is scored."""
    return Finding(
        "zero-stake",
        Severity.WARNING,
        tuple(facts.validators),
        "validators with stake",
        0.0,
        1.0,
        None,
        f"no validator has stake at epoch {reports.epoch}, so nothing has a score; give one a "
        "stake above 0 at or before that epoch",
        (RecordRefs.of("validators", facts.validators),),
    )


def carried_tops(outcome: Outcome | None) -> Iterator[Finding]:
    """Report top scores of agents that have no score any more, and that have to be beaten still."""
    if outcome is None:
        return
    network, allocation = outcome.network, outcome.allocation
    for competition, state in zip(network.facts.competitions, allocation.states, strict=True):
        top = state.top_holder
        if top is None or top.score == 0:
            continue
        submission = top.submission
        has_seat = bool(outcome.consensus.uids[submission] >= 0)
        if outcome.consensus.scored[submission] and has_seat:
            continue
        name = network.facts.submissions.ids[submission]
        own = (
            network.facts.submissions.competitions
            == network.facts.submissions.competitions[submission]
        )
        left = own & (outcome.consensus.uids >= 0)
        best = float(outcome.consensus.scores[left].max(initial=0.0))
        why = "which has no score now" if has_seat else "whose hotkey holds no uid now"
        yield Finding(
            "carried-top",
            Severity.INFO,
            (competition.id,),
            "top score",
            publish(top.score),
            publish(best),
            None,
            f"the top score of {competition.id}, {number(top.score)}, is that of {name} in epoch "
            f"{top.epoch}, {why}; the best that is left is {number(best)}, and the top has to be "
            "beaten still",
            (RecordRefs.of("submissions", [name]),),
        )
