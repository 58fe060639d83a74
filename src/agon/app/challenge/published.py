"""The epochs of a published challenge: burn, forecast, and the weights of one epoch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from agon.app.access.permissions import View
from agon.app.analysis.score import Result
from agon.app.contests.ledgers.positions import snapshot_at
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.boards import Epoch, EpochBurn, Epochs, MinerShares
from agon.entities.contests import Snapshot
from agon.errors import NotFound
from agon.kernel.rounding import publish

_MINERS: Final = 6
"""Maximum number of miners whose shares are listed; charts have as many colors."""

MAX_EPOCHS: Final = 300
"""Maximum number of epochs listed: the last ones."""


def epochs(service: Service, view: View, *, as_of: str | None = None) -> Epochs:
    """Return where the emission of each epoch went, and the forecast.

    Raises:
        NotFound: the contest has no epochs, or nothing was published yet.
        NotScorable: no stake is registered.
    """
    from agon.app.challenge.epochs import forecast, outcome_of, span
    from agon.disciplines.challenge.weights import allocations

    with _result(service, view, as_of) as (snapshot, result):
        shown = span(result)
        network = outcome_of(result).network
        listed = list(allocations(network, shown[-MAX_EPOCHS:]))
        miners, others = _miners(network, [allocation.weights for allocation in listed])
        return Epochs(
            seq=snapshot.seq,
            at=snapshot.at,
            first=shown[0],
            last=shown[-1],
            items=tuple(map(_burn, listed)),
            miners=miners,
            others=others,
            forecast=forecast(result).to_dict(),
        )


def epoch(service: Service, view: View, number: int, *, as_of: str | None = None) -> Epoch:
    """Return an epoch with its boards and its payload.

    Raises:
        NotFound: there is no such epoch, or nothing was published yet.
        NotScorable: no stake is registered at that epoch.
    """
    from agon.app.challenge.epochs import outcome_of, payload_of, span

    with _result(service, view, as_of) as (snapshot, result):
        known = span(result)
        if number not in known:
            raise NotFound(f"there is no epoch {number}; the contest has {known[0]} to {known[-1]}")
        rules = result.rules.override({"epoch": number})
        scored = result.discipline.score(result.records, rules)
        epoch_result = replace(result, rules=rules, scored=scored)
        weights, validators, competitions = (
            tuple(epoch_result.board(name).rows())
            for name in ("weights", "validators", "competitions")
        )
        return Epoch(
            seq=snapshot.seq,
            at=snapshot.at,
            first=known[0],
            last=known[-1],
            burn=_burn(outcome_of(epoch_result).allocation),
            weights=weights,
            validators=validators,
            competitions=competitions,
            payload=payload_of(epoch_result).to_dict(),
            hotkeys={str(uid): hotkey for uid, hotkey in outcome_of(epoch_result).hotkeys.items()},
        )


@contextmanager
def _result(service: Service, view: View, as_of: str | None) -> Iterator[tuple[Snapshot, Result]]:
    if discipline(view.contest.discipline).epochs is None:
        raise NotFound(
            f"{view.contest.id} is a {view.contest.discipline} contest, which has no epochs"
        )
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, None, as_of)
    with service.replicas.current(service.store, view.contest) as live:
        result = live.result(at=snapshot.seq)
        result.board()  # raises if it cannot be scored
        yield snapshot, replace(result, scored=getattr(result.scored, "scored", result.scored))


def _miners(network: Any, weights: Sequence[Any]) -> tuple[tuple[MinerShares, ...], int]:
    """Return the miners with the largest sums of weights, and the number of others with any.

    Args:
        network: the miners, and which hotkeys held their uids.
        weights: of each epoch an array with one for each uid.
    """
    sums = [
        (sum(float(each[index]) for each in weights), index) for index in range(len(network.uids))
    ]
    paid = sorted((-total, index) for total, index in sums if total > 0)
    hotkeys = network.facts.last_hotkeys()
    miners = tuple(
        MinerShares(
            uid=str(network.uids[index]),
            hotkey=hotkeys.get(int(network.uids[index])),
            shares=tuple(publish(float(each[index]), places=12) for each in weights),
        )
        for _, index in paid[:_MINERS]
    )
    return miners, len(paid) - len(miners)


def _burn(allocation: Any) -> EpochBurn:
    """Return where the emission of an allocation went, on the grid of the boards."""
    shares = {
        "paid": allocation.weights.sum(),
        "decay": allocation.burned.sum(),
        "unassigned": allocation.unassigned,
        "own": allocation.own + allocation.unregistered,
        "cap": allocation.excess,
    }
    published = {name: publish(float(share), places=12) for name, share in shares.items()}
    burn = min(1.0, sum(published[name] for name in ("decay", "unassigned", "own", "cap")))
    return EpochBurn(epoch=int(allocation.epoch), burn=burn, **published)
